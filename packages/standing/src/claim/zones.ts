import type { StandingProgramId, Work } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { lockStandingPrograms, readStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import {
  listZonedStandingPrograms,
  type RearmedSchedule,
  raiseStandingTzVersion,
  readStandingTzVersion,
  rearmStandingSchedules,
} from "@svc/db/standing/zones";
import type { StandingContext } from "../context.ts";
import { fireTimeOf } from "../schedule/due.ts";
import type { LoadedVersion } from "../versions.ts";

/** Dependencies of the functions that compute new times of schedules after a change of time zone data. */
type ZoneContext = Pick<StandingContext, "db" | "clock" | "versions" | "meter" | "tzVersion">;

/** Maximum schedules that one transaction changes. */
const rearmMax = 200;

/**
 * Computes the next time of every schedule whose time zone is not UTC, if this node's time zone data is newer than the data that was used
 * before. Countries change their clock rules at short notice, so a stored time may be an hour wrong. Returns the number of changed times.
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

/**
 * Computes the next due times of the given schedules again and stores them, because the rules of time zones have changed. The times are
 * computed before the programs are locked. If a program has changed when it is locked, its time is computed again. Returns the number of
 * changed times.
 */
async function rearmBatch(context: ZoneContext, ids: readonly StandingProgramId[]): Promise<number> {
  let moved = 0;
  for (let left = ids; left.length > 0; ) {
    const found = await findMoved(context, left);
    const stale = found.length === 0 ? [] : await move(context.db, found);
    moved += found.length - stale.length;
    left = stale;
  }
  return moved;
}

/** A schedule whose next time changes with the time zone data of this node. `before`: the stored schedule. `move`: its new next time. */
type FoundMove = { readonly before: StandingProgramRecord; readonly move: RearmedSchedule };

async function findMoved(
  { db, clock, versions, meter }: ZoneContext,
  ids: readonly StandingProgramId[],
): Promise<FoundMove[]> {
  const nowMs = clock.now();
  const programs = (await readStandingPrograms(db, ids)).filter(({ state }) => state === "active");
  const names = programs.map(({ id: programId, projectId, version }) => ({ programId, projectId, version }));
  const versionOf = await versions.get(db, names);
  const found: FoundMove[] = [];
  // Measures the work for all projects together. Each project needs little time, but all of them together could block the node.
  const all = meter.begin({ projectId: "" });
  for (const [index, before] of programs.entries()) {
    const name = names[index];
    const work = meter.begin({ projectId: before.projectId });
    const move = name && (await moveOf(before, versionOf(name), { nowMs, work }));
    if (move !== undefined) found.push({ before, move });
    if (all.isSliceOver()) await all.turn();
  }
  return found;
}

/**
 * Stores the new times of schedules. Returns the ids of programs that changed after their time was computed; their times are not stored.
 */
function move(db: Database, found: readonly FoundMove[]): Promise<StandingProgramId[]> {
  return withTransaction(db, async (tx) => {
    const locked = await lockStandingPrograms(
      tx,
      found.map(({ before }) => before.id),
    );
    const now = new Map(locked.map((program) => [program.id, program]));
    const isSame = ({ before: { id, state, version, nextAt } }: FoundMove) => {
      const program = now.get(id);
      return program?.state === state && program.version === version && program.nextAt === nextAt;
    };
    await rearmStandingSchedules(
      tx,
      found.filter(isSame).map((one) => one.move),
    );
    return found.filter((one) => !isSame(one)).map(({ before }) => before.id);
  });
}

/**
 * Returns the new time of a schedule's next occurrence, after the rules of time zones have changed. Returns undefined if the time stays the
 * same. A stored time that is already due is never changed.
 */
async function moveOf(
  { id, nextAt }: StandingProgramRecord,
  { next, definition: { source } }: LoadedVersion,
  { nowMs, work }: { readonly nowMs: number; readonly work: Work },
): Promise<RearmedSchedule | undefined> {
  if (nextAt === null || nextAt <= nowMs) return undefined;
  const found = (await next(nowMs, work)) ?? null;
  const dueAt = fireTimeOf(id, found, source);
  return found === null || dueAt === null || found === nextAt
    ? undefined
    : { id, nextAt: found, updatedAt: nowMs, dueAt };
}
