import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { type ProjectId, parseId, requireProject, timeRange } from "@svc/core";
import {
  type BackfillRecord,
  cancelBackfill,
  findBackfill,
  lockStandingPrograms,
  type OverlapPolicy,
  overlapPolicies,
  readStandingPrograms,
  withTransaction,
} from "@svc/db";
import {
  type Backfill,
  BackfillStandingProgramResponseSchema,
  CancelBackfillResponseSchema,
  GetBackfillResponseSchema,
  type StandingService,
} from "@svc/gen/standing";
import { beginBackfill } from "../backfill/start.ts";
import { backfillNotFound, backfillPolicyInvalid, backfillRateInvalid } from "../errors.ts";
import type { StandingServiceContext } from "./context.ts";
import { toBackfill } from "./convert-backfill.ts";
import { findProgram } from "./read.ts";

type Methods = Pick<ServiceImpl<typeof StandingService>, "backfillStandingProgram" | "getBackfill" | "cancelBackfill">;

const perMinuteDefault = 60;
const perMinuteMax = 600;

/** The methods about backfills. */
export function backfillMethods(context: StandingServiceContext): Methods {
  const { db, clock, engine } = context;
  return {
    async backfillStandingProgram({ id, since, until, again, perMinute, policy, dryRun }, ctx) {
      const principal = requireProject(ctx);
      const program = await findProgram(db, principal.projectId, id);
      if (perMinute > perMinuteMax) throw backfillRateInvalid(perMinute, perMinuteMax);
      const begun = await beginBackfill(context, principal, program, {
        ...timeRange(since, until),
        ...{ again, isDryRun: dryRun, policy: policyOf(policy) },
        perMinute: perMinute === 0 ? perMinuteDefault : perMinute,
      });
      engine.wake();
      return create(BackfillStandingProgramResponseSchema, { backfill: toBackfill(begun.record, program, begun) });
    },
    async getBackfill({ id }, ctx) {
      const { projectId } = requireProject(ctx);
      return create(GetBackfillResponseSchema, { backfill: await shown(context, projectId, id) });
    },
    async cancelBackfill({ id }, ctx) {
      const { projectId } = requireProject(ctx);
      const { programId } = await find(context, projectId, id);
      await withTransaction(db, async (tx) => {
        await lockStandingPrograms(tx, [programId]);
        const backfill = await find({ db: tx }, projectId, id);
        if (backfill.endedAt === null) await cancelBackfill(tx, backfill, { reason: "requested", nowMs: clock.now() });
      });
      return create(CancelBackfillResponseSchema, { backfill: await shown(context, projectId, id) });
    },
  };
}

function policyOf(policy: string): OverlapPolicy | undefined {
  const known = overlapPolicies.find((one) => one === policy);
  if (known === undefined && policy !== "") throw backfillPolicyInvalid(policy);
  return known;
}

/** Throws BACKFILL_NOT_FOUND. */
async function find(
  { db }: { readonly db: Parameters<typeof findBackfill>[0] },
  projectId: ProjectId,
  id: string,
): Promise<BackfillRecord> {
  const known = parseId("bkf", id);
  const found = known && (await findBackfill(db, projectId, known));
  if (found === undefined) throw backfillNotFound(id);
  return found;
}

async function shown(context: StandingServiceContext, projectId: ProjectId, id: string): Promise<Backfill> {
  const record = await find(context, projectId, id);
  const [program] = await readStandingPrograms(context.db, [record.programId]);
  return toBackfill(record, program, { isStored: true });
}
