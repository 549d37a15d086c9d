import type { StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { countWaitingRuns, findRunningBackfill, findSourceRuns, findTakenEvents } from "@svc/db/standing/backfills";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import { readSeenKeys } from "@svc/db/standing/windows";
import type { DueBackfill, PreparedBackfill } from "../engine/due.ts";
import { dedupeKeyOf } from "./dedupe.ts";

/** As many runs of a program wait at most, for its backfill to make others: what it comes to waits in the past, and not in a queue. */
export const waitingMax = 20;

/**
 * What was found of the backfill of a locked program, with what it is decided by. Undefined where there is none any more; "moved" where
 * it, or its program, has moved on since: also where none was found, and one has begun since, whose task is the one that is held.
 */
export async function loadBackfill(
  tx: Executor,
  { id: programId, projectId, version }: StandingProgramRecord,
  prepared: PreparedBackfill | undefined,
): Promise<DueBackfill | "moved" | undefined> {
  const now = await findRunningBackfill(tx, programId);
  if (now === undefined) return undefined;
  if (prepared === undefined) return "moved";
  const { record, looks } = prepared;
  const isSame =
    now.id === record.id &&
    now.positionAt === record.positionAt &&
    now.positionEventId === record.positionEventId &&
    now.pacedAt === record.pacedAt;
  if (!isSame || version !== prepared.versionNumber) return "moved";
  const events = looks.flatMap(({ event, candidate }) => (event && candidate ? [event] : []));
  return {
    ...{ ...prepared, record: now },
    runs: await findSourceRuns(
      tx,
      programId,
      looks.flatMap(({ candidate }) => candidate?.occurrence.sourceKey ?? []),
    ),
    taken: record.again ? new Map() : await findTakenEvents(tx, { programId, projectId }, events),
    seen: await seenOf(tx, programId, prepared),
    waiting: await countWaitingRuns(tx, programId, waitingMax),
  };
}

async function seenOf(
  tx: Executor,
  programId: StandingProgramId,
  { record, version, looks }: PreparedBackfill,
): Promise<Map<string, number>> {
  const names = looks.flatMap(({ candidate }) => {
    const key = version && candidate && dedupeKeyOf(record, candidate, version);
    return key === undefined || "fault" in key ? [] : [key.own, key.live];
  });
  const seen = await readSeenKeys(
    tx,
    [...new Set(names)].map((key) => ({ programId, key })),
  );
  return new Map(seen.map(({ key, until }) => [key, until]));
}
