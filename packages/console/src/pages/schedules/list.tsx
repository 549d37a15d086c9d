import { StandingService } from "@svc/gen/standing";
import { Link } from "@tanstack/react-router";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { anyOf } from "../../ui/fields/choice.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { standingStates, standingWord } from "../../words/standing.ts";
import { ScheduleLink } from "../jobs/job-link.tsx";
import { schedulesSearch } from "./filters.ts";
import { Strip } from "./strip.tsx";

const schedules = listPage({
  title: "Schedules",
  method: StandingService.method.listStandingPrograms,
  rows: "standingPrograms",
  params: schedulesSearch,
  everyMs: 5_000,
  actions: ({ projectId }) => (
    <Link to="/p/$projectId/schedules/new" params={{ projectId }} className={buttonClass("primary")}>
      New schedule
    </Link>
  ),
  filters: { state: { choice: "State", options: anyOf(standingStates.map(standingWord)) } },
  isClearable: false,
  columns: ({ projectId }) => [
    { id: "title", title: "Title", width: "minmax(160px, 2fr)", cell: ({ title, slug }) => title || slug },
    { id: "state", title: "State", width: "144px", cell: ({ state }) => <State word={standingWord(state)} /> },
    { id: "source", title: "Started by", width: "96px", cell: ({ sourceKind }) => sourceKind },
    { id: "next", title: "Next", width: "136px", cell: ({ nextTimes }) => <Time at={nextTimes[0]} none="" /> },
    { id: "runs", title: "Last 20 runs", width: "160px", cell: ({ id }) => <Strip id={id} /> },
    {
      id: "slug",
      title: "Name",
      width: "minmax(96px, 1fr)",
      cell: ({ id, slug }) => <ScheduleLink projectId={projectId} id={id} words={slug} />,
    },
  ],
  card: ({ id, title, slug, state, nextTimes }) => (
    <>
      <b>{title || slug}</b>
      <Line apart>
        <State word={standingWord(state)} />
        <Strip id={id} />
        <Time at={nextTimes[0]} none="" />
      </Line>
    </>
  ),
  rowId: ({ id }) => id,
  open: ({ id }, projectId) => ({ to: "/p/$projectId/schedules/$scheduleId", params: { projectId, scheduleId: id } }),
  empty: () => (
    <Empty icon="schedule" title="No schedules yet">
      <p>A schedule starts jobs at set times, when events arrive, or when a list has new items.</p>
    </Empty>
  ),
  noMatch: "No schedule matches",
});

/** Draws the list of the project's schedules. A schedule starts jobs automatically. */
export default function SchedulesPage() {
  return <ListPage of={schedules} />;
}
