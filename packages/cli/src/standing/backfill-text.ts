import { type Backfill, BackfillState } from "@svc/sdk";
import { namesOf } from "../jobs/text.ts";
import { numberText, plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

const states = namesOf(BackfillState);

/** How a backfill stands, such as `running (waiting)`. */
export function backfillStateText({ state, reason }: Backfill): string {
  const name = states.get(state) ?? String(state);
  return reason === "" ? name : `${name} (${plainText(reason)})`;
}

/** How far a backfill is: `12 of 40, 10 started, 1 skipped, 1 passed by`. */
export function backfillProgressText({ total, started, skipped, passed }: Backfill): string {
  const done = numberText(started + skipped + passed);
  const parts = [
    `${numberText(started)} started`,
    ...(skipped > 0 ? [`${numberText(skipped)} skipped`] : []),
    ...(passed > 0 ? [`${numberText(passed)} passed by`] : []),
  ];
  return `${done} of ${numberText(total)}, ${parts.join(", ")}`;
}

/** A backfill in one line, as its program is shown: `bkf_…, running: 12 of 40, 12 started`. */
export function backfillLine(backfill: Backfill): string {
  return `${backfill.id}, ${backfillStateText(backfill)}: ${backfillProgressText(backfill)}`;
}

/** A backfill as facts. */
export function backfillFacts(backfill: Backfill): readonly (readonly [string, string])[] {
  const { id, standingProgramId, since, until, again, perMinute, policy, createdAt, endedAt } = backfill;
  return [
    ["id", id],
    ["program", standingProgramId],
    ["state", backfillStateText(backfill)],
    ["progress", backfillProgressText(backfill)],
    ["since", since === undefined ? "" : timeText(since)],
    ["until", until === undefined ? "" : timeText(until)],
    ["also", again ? "what has a run" : ""],
    ["pace", `${perMinute} a minute`],
    ["policy", policy],
    ["begun", timeText(createdAt)],
    ["ended", endedAt === undefined ? "" : timeText(endedAt)],
  ];
}

/** Whether it makes no more runs, for good. */
export function hasBackfillEnded({ state }: Backfill): boolean {
  return state === BackfillState.DONE || state === BackfillState.CANCELLED;
}
