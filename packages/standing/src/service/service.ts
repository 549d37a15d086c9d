import type { ServiceImpl } from "@connectrpc/connect";
import { parseId, requireProject, timeRange } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { type OverlapPolicy, overlapPolicies } from "@svc/db/schema/words";
import { type BackfillRecord, cancelBackfill, findBackfill } from "@svc/db/standing/backfills";
import { lockStandingPrograms, readStandingPrograms } from "@svc/db/standing/programs";
import type { Backfill, StandingService } from "@svc/gen/standing";
import { beginBackfill } from "../backfill/start.ts";
import { standingFaults } from "../errors.ts";
import { toBackfill } from "./convert.ts";
import { programMethods } from "./programs.ts";
import { assertReached, findProgram, type StandingServiceContext } from "./read.ts";
import { runMethods } from "./runs.ts";

type Methods = Pick<ServiceImpl<typeof StandingService>, "backfillStandingProgram" | "getBackfill" | "cancelBackfill">;

const perMinuteDefault = 60;
const perMinuteMax = 600;

/** Returns the methods of the API for backfills. */
function backfillMethods(context: StandingServiceContext): Methods {
  const { db, clock, engine } = context;
  return {
    async backfillStandingProgram({ id, since, until, again, perMinute, policy, dryRun }, ctx) {
      const principal = requireProject(ctx);
      const program = await findProgram(db, principal, id);
      if (perMinute > perMinuteMax) throw standingFaults.BACKFILL_RATE_INVALID(perMinute, perMinuteMax);
      const begun = await beginBackfill(context, principal, program, {
        ...timeRange(since, until),
        ...{ again, isDryRun: dryRun, policy: policyOf(policy) },
        perMinute: perMinute === 0 ? perMinuteDefault : perMinute,
      });
      engine.wake();
      return { backfill: toBackfill(begun.record, program, begun) };
    },
    async getBackfill({ id }, ctx) {
      return { backfill: await shown(context, requireProject(ctx), id) };
    },
    async cancelBackfill({ id }, ctx) {
      const caller = requireProject(ctx);
      const { programId } = await find(context, caller, id);
      await withTransaction(db, async (tx) => {
        await lockStandingPrograms(tx, [programId]);
        const backfill = await find({ db: tx }, caller, id);
        if (backfill.endedAt === null) await cancelBackfill(tx, backfill, { reason: "requested", nowMs: clock.now() });
      });
      return { backfill: await shown(context, caller, id) };
    },
  };
}

function policyOf(policy: string): OverlapPolicy | undefined {
  const known = overlapPolicies.find((one) => one === policy);
  if (known === undefined && policy !== "") throw standingFaults.POLICY_INVALID(policy);
  return known;
}

/** Returns a backfill. Throws BACKFILL_NOT_FOUND if the backfill does not exist, or if its program may access more than the caller may. */
async function find(
  { db }: { readonly db: Parameters<typeof findBackfill>[0] },
  caller: Parameters<typeof assertReached>[1],
  id: string,
): Promise<BackfillRecord> {
  const known = parseId("bkf", id);
  const found = known && (await findBackfill(db, caller.projectId, known));
  if (found === undefined) throw standingFaults.BACKFILL_NOT_FOUND(id);
  await assertReached(db, caller, found.programId, () => standingFaults.BACKFILL_NOT_FOUND(id));
  return found;
}

async function shown(
  context: StandingServiceContext,
  caller: Parameters<typeof assertReached>[1],
  id: string,
): Promise<Backfill> {
  const record = await find(context, caller, id);
  const [program] = await readStandingPrograms(context.db, [record.programId]);
  return toBackfill(record, program, { isStored: true });
}

/** Creates the StandingService. Every method acts in the project of the calling key. */
export function createStandingService(context: StandingServiceContext): ServiceImpl<typeof StandingService> {
  return { ...programMethods(context), ...runMethods(context), ...backfillMethods(context) };
}
