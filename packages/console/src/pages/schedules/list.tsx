import { StandingService, StandingState } from "@svc/gen/standing";
import { Link } from "@tanstack/react-router";
import { ListPage, listPage } from "../../frame/list-page.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { standingStates, standingWord, startWords } from "../../words/standing.ts";
import { schedulesSearch } from "./filters.ts";
import { Strip, SuccessRate } from "./strip.tsx";

const schedules = listPage({
  title: "Schedules",
  method: StandingService.method.listStandingPrograms,
  rows: "standingPrograms",
  params: {
    ...schedulesSearch,
    request: ({ state }) => ({
      state: standingStates.find((known) => standingWord(known).word === state) ?? StandingState.UNSPECIFIED,
      pageSize: 100,
    }),
  },
  everyMs: 5_000,
  actions: ({ projectId }) => (
    <Link to="/p/$projectId/schedules/new" params={{ projectId }} className={buttonClass("primary")}>
      New schedule
    </Link>
  ),
  tabs: [
    { words: "All", sets: { state: undefined } },
    { words: "Paused", sets: { state: "paused" } },
    { words: "Needs approval", sets: { state: "pending_approval" } },
  ],
  columns: [
    { id: "title", title: "Title", width: "minmax(144px, 2fr)", linked: ({ title, slug }) => title || slug },
    { id: "starts", title: "Starts", width: "minmax(144px, 2fr)", cell: (schedule) => startWords(schedule) },
    { id: "state", title: "State", width: "136px", cell: ({ state }) => <State word={standingWord(state)} /> },
    { id: "runs", title: "Last 20 runs", width: "152px", cell: ({ id }) => <Strip id={id} /> },
    { id: "rate", title: "Success", width: "72px", cell: ({ id }) => <SuccessRate id={id} /> },
    { id: "next", title: "Next", width: "128px", cell: ({ nextTimes }) => <Time at={nextTimes[0]} none="" /> },
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
