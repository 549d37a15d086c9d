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
import { fireTimeOf } from "../schedule/due.ts";
import type { LoadedVersion } from "../versions.ts";
import type { StandingContext } from "../context.ts";

/** What it takes to find the times of schedules. */
type ZoneContext = Pick<StandingContext, "db" | "clock" | "versions" | "meter" | "tzVersion">;

/** Schedules that one transaction arms again. */
const rearmMax = 200;

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

/** Times are searched before anything is locked; what somebody has moved meanwhile is searched again. */
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

/** A schedule with its next time by this node's data, and as it stood when that was searched. */
type FoundMove = { readonly seen: StandingProgramRecord; readonly move: RearmedSchedule };

async function findMoved(
  { db, clock, versions, meter }: ZoneContext,
  ids: readonly StandingProgramId[],
): Promise<FoundMove[]> {
  const nowMs = clock.now();
  const programs = (await readStandingPrograms(db, ids)).filter(({ state }) => state === "active");
  const names = programs.map(({ id: programId, projectId, version }) => ({ programId, projectId, version }));
  const versionOf = await versions.get(db, names);
  const found: FoundMove[] = [];
  // Of many projects each takes little, and all of them too much.
  const all = meter.begin({ projectId: "" });
  for (const [index, seen] of programs.entries()) {
    const name = names[index];
    const work = meter.begin({ projectId: seen.projectId });
    const move = name && (await moveOf(seen, versionOf(name), { nowMs, work }));
    if (move !== undefined) found.push({ seen, move });
    if (all.isSliceOver()) await all.turn();
  }
  return found;
}

/** Arms schedules again; answers those that are not any more what was looked at. */
function move(db: Database, found: readonly FoundMove[]): Promise<StandingProgramId[]> {
  return withTransaction(db, async (tx) => {
    const locked = await lockStandingPrograms(
      tx,
      found.map(({ seen }) => seen.id),
    );
    const now = new Map(locked.map((program) => [program.id, program]));
    const isSame = ({ seen: { id, state, version, nextAt } }: FoundMove) => {
      const program = now.get(id);
      return program?.state === state && program.version === version && program.nextAt === nextAt;
    };
    await rearmStandingSchedules(
      tx,
      found.filter(isSame).map((one) => one.move),
    );
    return found.filter((one) => !isSame(one)).map(({ seen }) => seen.id);
  });
}

/** What is due already is decided about as it stands: what follows it is found by the newer data. */
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
