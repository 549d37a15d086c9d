import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type QuerySeriesResponse, StatsService } from "@svc/gen/stats";
import { keepPreviousData } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useNow } from "../../clock.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ToggleButton } from "../../ui/buttons/toggle-button.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { Switch } from "../../ui/fields/switch.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { rangeNames, shortRangeWords, spanWords } from "../../words/spans.ts";
import { useSubscriptions } from "../deliveries/endpoints.ts";
import styles from "./activity.module.css";
import { Backlog } from "./backlog.tsx";
import { chartsOf, listOf } from "./charts.ts";
import { Failing } from "./failing.tsx";
import { type HomeSearch, rangeSince, shownRange, zoomed } from "./filters.ts";
import { ListLink } from "./list-link.tsx";
import { Needs, useQuarantined } from "./needs-section.tsx";
import { Tiles, useTiles } from "./tiles-section.tsx";

const zoomedOut = { since: undefined, until: undefined };

/** Draws the filters of Home: the charts' range, the zoom, and the switch to tables. */
function ActivityFilters({
  search: { range, since, until, table },
  onChange,
}: {
  search: HomeSearch;
  onChange: (change: HomeSearch) => void;
}) {
  const { zone } = usePreferences();
  return (
    <>
      {rangeNames.map((name) => (
        <ToggleButton
          key={name}
          on={since === undefined && name === range}
          onPress={() => onChange({ range: name, ...zoomedOut })}
        >
          {shortRangeWords(name)}
        </ToggleButton>
      ))}
      <Switch label="Tables" on={table === "on"} onChange={(on) => onChange({ table: on ? "on" : undefined })} />
      {since !== undefined && until !== undefined && (
        <Button kind="quiet" icon="cross" onPress={() => onChange(zoomedOut)}>
          {spanWords({ since, until }, zone)}
        </Button>
      )}
    </>
  );
}

const route = getRouteApi("/p/$projectId/home");
/**
 * Interval in milliseconds at which the page reads the charts and the backlog again. Nodes save their counts every ten seconds, so a number
 * on the page is at most fifteen seconds old.
 */
const lookMs = 4_000;
const minuteMs = 60_000;
/** Interval in milliseconds at which the failures are read again. Nodes save their counts every ten seconds. */
const failuresLookMs = 10_000;

/**
 * Draws the state of the project: first the actions that wait for a person, then the charts and the backlog. `notes`: drawn above them.
 * `firstEventMs`: time of the first event.
 */
export function Activity({ notes, firstEventMs }: { notes: ReactNode; firstEventMs: number | undefined }) {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(minuteMs);
  const backlog = useQuery(StatsService.method.getBacklog, {}, { refetchInterval: lookMs });
  const failures = useQuery(StatsService.method.listFailures, {}, { refetchInterval: failuresLookMs });
  const range = search.range ?? rangeSince(firstEventMs, now);
  const tiles = useTiles();
  const series = useQuery(StatsService.method.querySeries, seriesRequest({ ...search, range }, now), {
    refetchInterval: lookMs,
    placeholderData: keepPreviousData,
  });
  const { quarantined, isLoading: areNeedsLoading } = useQuarantined();
  const { subscriptions, error: noSubscriptions } = useSubscriptions();
  // All parts of the page (for example the charts) are drawn together when every first answer has arrived. A part that is drawn later would
  // push the other parts down.
  const isLoading =
    areNeedsLoading ||
    [backlog, series, tiles, failures].some((query) => query.isLoading) ||
    (subscriptions === undefined && noSubscriptions === null);
  const change = (to: HomeSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  return (
    <Page title="Home">
      <FaultNotice
        error={backlog.error ?? series.error ?? tiles.error ?? failures.error}
        onRetry={() => void Promise.all([backlog, series, tiles, failures].map((query) => query.refetch()))}
      />
      {isLoading && <Skeleton rows={12} />}
      {!isLoading && notes}
      {!isLoading && backlog.data !== undefined && (
        <Needs projectId={projectId} backlog={backlog.data} quarantined={quarantined} />
      )}
      {!isLoading && tiles.data !== undefined && <Tiles tiles={tiles.data} projectId={projectId} />}
      {!isLoading && failures.data !== undefined && <Failing projectId={projectId} failures={failures.data} />}
      {!isLoading && (
        <search aria-label="Chart range">
          <Line>
            <ActivityFilters search={{ ...search, range }} onChange={change} />
          </Line>
        </search>
      )}
      {!isLoading && series.data !== undefined && (
        <Charts
          projectId={projectId}
          answer={series.data}
          asTable={search.table === "on"}
          onBrush={(sinceMs, untilMs) => change(zoomed(sinceMs, untilMs, now + minuteMs))}
        />
      )}
      {!isLoading && backlog.data !== undefined && <Backlog projectId={projectId} backlog={backlog.data} />}
    </Page>
  );
}

/** Draws the charts of Home, one for each series. Each point links to the list of what the point counts. */
function Charts({
  projectId,
  answer,
  asTable,
  onBrush,
}: {
  projectId: string;
  answer: QuerySeriesResponse;
  asTable: boolean;
  onBrush: (sinceMs: number, untilMs: number) => void;
}) {
  const navigate = useNavigate();
  return (
    <>
      <div className={styles["charts"]}>
        {chartsOf(answer).map(({ series, title, data }) => (
          <Chart
            key={series}
            title={title}
            data={data}
            asTable={asTable}
            link={(words, of) => {
              const list = listOf(series, of);
              return list === undefined ? (
                words
              ) : (
                <ListLink list={list} projectId={projectId}>
                  {words}
                </ListLink>
              );
            }}
            onOpen={(sinceMs, untilMs) => {
              const list = listOf(series, { sinceMs, untilMs });
              if (list !== undefined) void navigate({ ...list, params: { projectId } } as never);
            }}
            onBrush={onBrush}
          />
        ))}
      </div>
      <p className={styles["note"]}>Charts lag by up to 10 s, and latencies are estimates. Lists are exact.</p>
    </>
  );
}

/**
 * Returns the time range of the charts in the form of a request to the service. The search parameters of the page's address define the
 * range.
 */
function seriesRequest(search: HomeSearch, now: number) {
  const { sinceMs, untilMs } = shownRange(search, now);
  return { since: timestampFromMs(sinceMs), until: timestampFromMs(untilMs) };
}
