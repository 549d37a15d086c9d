import type { StandingProgram } from "@svc/gen/standing";
import type { Column } from "../../ui/grid-column.ts";
import { Line } from "../../ui/stack.tsx";
import { State } from "../../ui/state.tsx";
import { Time } from "../../ui/time.tsx";
import { standingWord } from "../../words/standing.ts";
import { ScheduleLink } from "./schedule-link.tsx";
import { Strip } from "./strip.tsx";

/** The columns of the list of schedules. */
export function scheduleColumns(projectId: string): readonly Column<StandingProgram>[] {
  return [
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
  ];
}

/** A schedule on a phone. */
export function scheduleCard({ id, title, slug, state, nextTimes }: StandingProgram) {
  return (
    <>
      <b>{title || slug}</b>
      <Line apart>
        <State word={standingWord(state)} />
        <Strip id={id} />
        <Time at={nextTimes[0]} none="" />
      </Line>
    </>
  );
}
