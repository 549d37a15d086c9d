import { type StandingProgram, StandingService, StandingState } from "@svc/gen/standing";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { buttonClass } from "../../ui/button.tsx";
import { anyOf, Choice } from "../../ui/choice.tsx";
import { Empty, NoMatch } from "../../ui/empty.tsx";
import { Grid } from "../../ui/grid.tsx";
import { ListStates } from "../../ui/list-states.tsx";
import { Page } from "../../ui/page.tsx";
import { standingStates, standingWord } from "../../words/standing.ts";
import { scheduleCard, scheduleColumns } from "./columns.tsx";
import type { SchedulesSearch } from "./filters.ts";

const route = getRouteApi("/p/$projectId/schedules");
const lookMs = 5_000;
const idOf = ({ id }: StandingProgram) => id;
const words = standingStates.map((state) => standingWord(state).word);

/** The standing programs of the project: what starts jobs by itself. */
export default function SchedulesPage() {
  const { projectId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const state = standingStates.find((known) => standingWord(known).word === search.state) ?? StandingState.UNSPECIFIED;
  const list = useRows(
    StandingService.method.listStandingPrograms,
    { state, pageSize: 100 },
    ({ standingPrograms }) => standingPrograms,
    { refetchMs: lookMs },
  );
  const change = (to: SchedulesSearch) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true });
  const filter = (
    <Choice
      label="State"
      value={search.state ?? ""}
      options={anyOf(words)}
      onChange={(value) => change({ state: words.find((word) => word === value) })}
    />
  );
  const add = (
    <Link to="/p/$projectId/schedules/new" params={{ projectId }} className={buttonClass("primary")}>
      New schedule
    </Link>
  );
  return (
    <Page title="Schedules" fill filters={filter} actions={add}>
      <ListStates
        list={list}
        isFiltered={search.state !== undefined}
        empty={<NoSchedules />}
        noMatch={<NoMatch title="No schedule matches" onClear={() => change({ state: undefined })} />}
      >
        <Grid
          label="Schedules"
          columns={scheduleColumns(projectId)}
          card={scheduleCard}
          rows={list.rows}
          rowId={idOf}
          onOpen={({ id }) =>
            void navigate({ to: "/p/$projectId/schedules/$scheduleId", params: { projectId, scheduleId: id } })
          }
          hasMore={list.hasMore}
          loadMore={list.loadMore}
          loadingMore={list.loadingMore}
        />
      </ListStates>
    </Page>
  );
}

function NoSchedules() {
  return (
    <Empty icon="schedule" title="No schedules yet">
      <p>A schedule starts jobs of its program by itself: at times, on events, or on what a poll finds.</p>
    </Empty>
  );
}
