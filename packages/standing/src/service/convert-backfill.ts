import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { BackfillState } from "@svc/db/schema/words";
import type { BackfillRecord } from "@svc/db/standing/backfills";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import { type Backfill, BackfillSchema, BackfillState as BackfillStateMessage } from "@svc/gen/standing";

const states: Readonly<Record<BackfillState, BackfillStateMessage>> = {
  running: BackfillStateMessage.RUNNING,
  done: BackfillStateMessage.DONE,
  cancelled: BackfillStateMessage.CANCELLED,
};

/** A backfill as callers read it. */
export function toBackfill(
  record: BackfillRecord,
  program: Pick<StandingProgramRecord, "state" | "sourceKind"> | undefined,
  { isStored }: { readonly isStored: boolean },
): Backfill {
  const { id, programId, state, reason, since, until, again, perMinute, policy, createdAt, endedAt } = record;
  const isPaused = state === "running" && program?.state === "paused";
  return create(BackfillSchema, {
    id: isStored ? id : "",
    standingProgramId: programId,
    state: isStored ? states[state] : BackfillStateMessage.UNSPECIFIED,
    reason: isPaused ? "paused" : reason,
    ...(program?.sourceKind !== "poll" && { since: timestampFromMs(since), until: timestampFromMs(until) }),
    ...{ again, perMinute, policy },
    ...{ total: record.total, started: record.started, skipped: record.skipped, passed: record.passed },
    createdAt: timestampFromMs(createdAt),
    ...(isStored && endedAt !== null && { endedAt: timestampFromMs(endedAt) }),
  });
}
