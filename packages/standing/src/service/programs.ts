import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { byId, isWithin, type ProjectPrincipal, projectList, requireProject } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { findRunningBackfill } from "@svc/db/standing/backfills";
import {
  lockStandingPrograms,
  type StandingProgramRecord,
  type StandingVersionRecord,
  standingProgramsForProject,
} from "@svc/db/standing/programs";
import { countOtherEntityEvents } from "@svc/db/standing/trigger-entities";
import {
  type StandingProgram,
  type StandingService,
  type StandingVersion,
  StandingVersionSchema,
} from "@svc/gen/standing";
import { toEstimate, toNotes } from "@svc/jobs";
import type { StandingContext } from "../context.ts";
import { checkDefinition } from "../definition/check.ts";
import { standingFaults } from "../errors.ts";
import { createProgram, type DefinedProgram } from "../programs/define.ts";
import { deleteProgram, pauseProgram, resumeProgram } from "../programs/move.ts";
import { makeNextVersion } from "../programs/next-version.ts";
import { preview } from "../programs/preview.ts";
import { localTimeOf } from "../schedule/catch-up.ts";
import { stateOfFilter, toBackfill } from "./convert.ts";
import { findProgram, readPrograms, type StandingServiceContext } from "./read.ts";

/** A change that the caller makes to a program. */
type ProgramUpdate = {
  readonly program: StandingProgramRecord;
  readonly definitionJson: string;
  /** The version that the caller read before the change. 0 means any version. */
  readonly expectedVersion: number;
  /** True if svc runs a simulation of the schedule's program before it asks people to approve it. */
  readonly simulates: boolean;
};

type Methods = Omit<
  ServiceImpl<typeof StandingService>,
  | "runStandingProgram"
  | "listStandingRuns"
  | "getStandingRun"
  | "backfillStandingProgram"
  | "getBackfill"
  | "cancelBackfill"
>;

const versionsShown = 50;
const previewDefault = 10;
const previewMax = 100;

/** Returns the methods of StandingService for standing programs (schedules), for example to create, list and pause them. */
export function programMethods(context: StandingServiceContext): Methods {
  const { db, sealer, engine, starter } = context;
  const wake = () => {
    engine.wake();
    // svc may have created a job that asks people to approve the program, so the engine of jobs is woken.
    starter.wake();
  };
  const shown = async (caller: Parameters<typeof findProgram>[1], id: string): Promise<StandingProgram> => {
    const program = await findProgram(db, caller, id);
    const [found] = await readPrograms(context, [program], { isWhole: true });
    if (found === undefined) throw new Error(`${id} was read but is not returned`);
    return found;
  };
  return {
    async createStandingProgram({ slug, definitionJson, paused, simulate }, ctx) {
      const principal = requireProject(ctx);
      const made = { slug, definitionJson, isPaused: paused, simulates: simulate };
      const { id, notes } = await createProgram(context, principal, made);
      wake();
      return {
        standingProgram: await shown(principal, id),
        notes: toNotes(notes, "definitionJson"),
      };
    },
    async getStandingProgram({ id }, ctx) {
      const caller = requireProject(ctx);
      const { projectId } = caller;
      const standingProgram = await shown(caller, id);
      const program = await findProgram(db, caller, id);
      const versions = await standingProgramsForProject(db, projectId).listVersions(program.id, versionsShown);
      const running = await findRunningBackfill(db, program.id);
      return {
        standingProgram,
        versions: versions.map(toVersion),
        ...(running && { backfill: toBackfill(running, program, { isStored: true }) }),
        passedOver: await passedOverOf(context, program),
      };
    },
    listStandingPrograms: projectList(sealer, {
      call: "ListStandingPrograms",
      order: byId("stp"),
      filter: ({ state }) => ({ state }),
      rows: ({ filter: { state }, page, caller: { projectId } }) =>
        standingProgramsForProject(db, projectId).list({ state: stateOfFilter(state), sourceKind: undefined }, page),
      isInScope: (row, binding) => isWithin(row, binding),
      answer: async (rows) => ({ standingPrograms: await readPrograms(context, rows, { isWhole: false }) }),
    }),
    async updateStandingProgram({ id, definitionJson, expectedVersion, simulate: simulates }, ctx) {
      const principal = requireProject(ctx);
      const program = await findProgram(db, principal, id);
      const { notes } = await updateProgram(context, principal, {
        program,
        definitionJson,
        expectedVersion,
        simulates,
      });
      wake();
      return {
        standingProgram: await shown(principal, program.id),
        notes: toNotes(notes, "definitionJson"),
      };
    },
    async pauseStandingProgram({ id, cancelRunning }, ctx) {
      const caller = requireProject(ctx);
      const program = await findProgram(db, caller, id);
      await pauseProgram(context, program, cancelRunning);
      engine.wake();
      return { standingProgram: await shown(caller, program.id) };
    },
    async resumeStandingProgram({ id, adopt: adopts }, ctx) {
      const principal = requireProject(ctx);
      const program = await findProgram(db, principal, id);
      await resumeProgram(context, principal, { program, adopts });
      wake();
      return { standingProgram: await shown(principal, program.id) };
    },
    async deleteStandingProgram({ id, cancelRunning }, ctx) {
      const caller = requireProject(ctx);
      const program = await findProgram(db, caller, id);
      await deleteProgram(context, program, cancelRunning);
      engine.wake();
      return {};
    },
    async previewStandingProgram({ id, definitionJson, count }, ctx) {
      const principal = requireProject(ctx);
      if (count > previewMax) throw standingFaults.PREVIEW_COUNT_INVALID(count);
      const program = id === "" ? undefined : await findProgram(db, principal, id);
      const wanted = count === 0 ? previewDefault : count;
      const found = await preview(context, principal, { program, definitionJson, count: wanted });
      return {
        nextTimes: found.times.map(({ atMs, effectiveMs }) => {
          const { date, time } = localTimeOf(atMs, found.timeZone);
          const [at, effectiveAt] = [timestampFromMs(atMs), timestampFromMs(effectiveMs)];
          return { at, effectiveAt, local: `${date}T${time}` };
        }),
        tzVersion: process.versions["tz"] ?? "",
        estimate: toEstimate(found.estimate),
        needsApproval: found.needsApproval,
        seen: found.seen,
        matched: found.matched,
        passedOver: found.passedOver,
        timeZone: found.timeZone,
        notes: toNotes(found.notes, "definitionJson"),
      };
    },
  };
}

/** Returns the API message of a version. */
function toVersion(record: Omit<StandingVersionRecord, "definition">): StandingVersion {
  const { version, definitionHash, programHash, keyId, approval, approvalId, note, rehearsalJobId, createdAt } = record;
  return create(StandingVersionSchema, {
    ...{ version, definitionHash, programHash, keyId, approval, approvalId, note },
    jobId: rehearsalJobId ?? "",
    createdAt: timestampFromMs(createdAt),
  });
}

/**
 * Returns how many of the trigger's last events do not belong to the entity (customer or user) that the schedule names. Counts only events
 * since the schedule was created.
 */
async function passedOverOf(
  { versions, db }: Pick<StandingContext, "versions" | "db">,
  { id: programId, projectId, version, createdAt: sinceMs }: StandingProgramRecord,
): Promise<number> {
  const name = { programId, projectId, version };
  const { source } = (await versions.get(db, [name]))(name).definition;
  if (source.kind !== "trigger" || source.entity === undefined) return 0;
  return countOtherEntityEvents(db, { projectId, triggerSlug: source.slug, entityId: source.entity, sinceMs });
}

/** Creates the next version of a program. Throws the same errors as the call UpdateStandingProgram. */
async function updateProgram(
  context: StandingContext,
  principal: ProjectPrincipal,
  { program: { id, binding }, definitionJson, expectedVersion, simulates }: ProgramUpdate,
): Promise<DefinedProgram> {
  const { db, clock } = context;
  const { projectId, role } = principal;
  const checked = await checkDefinition(context, { projectId, role, binding, definitionJson, nowMs: clock.now() });
  if ("refusal" in checked) throw checked.refusal;
  await withTransaction(db, async (tx) => {
    const [program] = await lockStandingPrograms(tx, [id]);
    if (program === undefined || program.deletedAt !== null) throw standingFaults.STANDING_PROGRAM_NOT_FOUND("id", id);
    if (expectedVersion !== 0 && expectedVersion !== program.version) {
      throw standingFaults.STANDING_VERSION_STALE(expectedVersion, program.version);
    }
    await makeNextVersion(context, tx, principal, { program, definitionJson, checked, simulates, note: "" });
  });
  return { id, notes: checked.notes };
}
