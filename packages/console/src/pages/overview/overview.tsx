import { useQuery } from "@connectrpc/connect-query";
import { StatsService } from "@svc/gen/stats";
import { TriggersService } from "@svc/gen/triggers";
import { keepPreviousData } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { Page } from "../../ui/layout/page.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { useSubscriptions } from "../deliveries/endpoints.ts";
import { Backlog } from "./backlog.tsx";
import { Charts } from "./charts-section.tsx";
import { type OverviewSearch, seriesRequest, zoomed } from "./filters.ts";
import { FirstEvent } from "./first-event.tsx";
import { Needs, useQuarantined } from "./needs-section.tsx";
import { OverviewFilters } from "./overview-filters.tsx";

const route = getRouteApi("/p/$projectId/overview");
/** Nodes add what they count every ten seconds: with both, a number is fifteen seconds old at most. */
const lookMs = 4_000;
const minuteMs = 60_000;

/** How the project fares: what needs a person first, then what happened over time and what waits. */
export default function OverviewPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow(minuteMs);
  const backlog = useQuery(StatsService.method.getBacklog, {}, { refetchInterval: lookMs });
  const series = useQuery(StatsService.method.querySeries, seriesRequest(search, now), {
    refetchInterval: lookMs,
    placeholderData: keepPreviousData,
  });
  const anyEvent = useQuery(TriggersService.method.listEvents, { pageSize: 1 });
  const { quarantined, isLoading: areNeedsLoading } = useQuarantined();
  const { subscriptions, error: noSubscriptions } = useSubscriptions();
  // All first answers are drawn at once: a part that came later would push the others down.
  const isLoading =
    areNeedsLoading ||
    [backlog, series, anyEvent].some((query) => query.isLoading) ||
    (subscriptions === undefined && noSubscriptions === null);
  const change = (to: OverviewSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const isFirst = anyEvent.data?.events.length === 0 && series.data?.lines.length === 0;
  return (
    <Page title="Overview">
      <FaultNotice
        error={backlog.error ?? series.error}
        onRetry={() => void Promise.all([backlog.refetch(), series.refetch()])}
      />
      {isLoading && <Skeleton rows={12} />}
      {isFirst && !isLoading && <FirstEvent />}
      {!isLoading && backlog.data !== undefined && (
        <Needs projectId={projectId} backlog={backlog.data} quarantined={quarantined} />
      )}
      {!isFirst && !isLoading && (
        <search aria-label="What the charts show">
          <Line>
            <OverviewFilters search={search} onChange={change} />
          </Line>
        </search>
      )}
      {!isFirst && !isLoading && series.data !== undefined && (
        <Charts
          projectId={projectId}
          answer={series.data}
          asTable={search.table === "on"}
          onBrush={(sinceMs, untilMs) => change(zoomed(sinceMs, untilMs, now + minuteMs))}
        />
      )}
      {!isFirst && !isLoading && backlog.data !== undefined && <Backlog projectId={projectId} backlog={backlog.data} />}
    </Page>
  );
}
