import type { StandingProgramId } from "@svc/core";
import {
  listZonedStandingPrograms,
  lockStandingPrograms,
  type RearmedSchedule,
  raiseStandingTzVersion,
  readStandingTzVersion,
  rearmStandingSchedules,
  type StandingProgramRecord,
  withTransaction,
} from "@svc/db";
import { fireTimeOf } from "../schedule/due.ts";
import { breath } from "../schedule/read.ts";
import type { LoadedVersion } from "../versions.ts";
import type { StandingContext } from "./context.ts";

/** What it takes to find the times of schedules. */
type ZoneContext = Pick<StandingContext, "db" | "clock" | "versions" | "tzVersion">;

/** Schedules that one transaction arms again. */
const rearmMax = 1_000;
/** Searches for a time, after which others have their turn. */
const turn = 20;

/**
 * Where this node's time zone data is newer than what schedules were armed by, arms every one again that is not of UTC: states change their
 * clocks at short notice, and a time that was found by the rules of before would be an hour off. Answers how many have moved.
 */
export async function rearmZones(context: ZoneContext): Promise<number> {
  const { db, tzVersion } = context;
  if (tzVersion <= (await readStandingTzVersion(db))) return 0;
  let moved = 0;
  let after: StandingProgramId | undefined;
  for (;;) {
    const ids = await listZonedStandingPrograms(db, after, rearmMax);
    after = ids.at(-1);
    if (after === undefined) break;
    moved += await rearmBatch(context, ids);
  }
  await raiseStandingTzVersion(db, tzVersion);
  return moved;
}

function rearmBatch({ db, clock, versions }: ZoneContext, ids: readonly StandingProgramId[]): Promise<number> {
  return withTransaction(db, async (tx) => {
    const nowMs = clock.now();
    const programs = (await lockStandingPrograms(tx, ids)).filter(({ state }) => state === "active");
    const names = programs.map(({ id: programId, projectId, version }) => ({ programId, projectId, version }));
    const versionOf = await versions.get(tx, names);
    const moved: RearmedSchedule[] = [];
    for (const [index, program] of programs.entries()) {
      const name = names[index];
      const found = name && movedOf(program, versionOf(name), nowMs);
      if (found !== undefined) moved.push(found);
      if (index % turn === turn - 1) await breath();
    }
    await rearmStandingSchedules(tx, moved);
    return moved.length;
  });
}

/** What is due already is decided about as it stands: what follows it is found by the newer data. */
function movedOf(
  { id, nextAt }: StandingProgramRecord,
  { next, definition: { source } }: LoadedVersion,
  nowMs: number,
): RearmedSchedule | undefined {
  if (nextAt === null || nextAt <= nowMs) return undefined;
  const found = next(nowMs) ?? null;
  const dueAt = fireTimeOf(id, found, source);
  return found === null || dueAt === null || found === nextAt
    ? undefined
    : { id, nextAt: found, updatedAt: nowMs, dueAt };
}
