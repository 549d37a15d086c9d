import { createHash } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  byId,
  coreFaults,
  createId,
  isEntityGranted,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ProjectId,
  parseExactJson,
  parseId,
  projectList,
  RepeatedNameError,
  requireProject,
  timeRange,
} from "@svc/core";
import { isUniqueViolation } from "@svc/db/driver";
import { eventsForProject } from "@svc/db/events/repo";
import { loadJobs } from "@svc/db/jobs/load";
import type { StandingRunReason } from "@svc/db/schema/words";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import { type StandingRunRecord, standingRunsForProject } from "@svc/db/standing/runs";
import { readStandingRunEvents } from "@svc/db/standing/windows";
import type { StandingRun, StandingService } from "@svc/gen/standing";
import { explainJobs } from "@svc/jobs";
import { eventOf, givenOfEvents, inputOf } from "../decide/event.ts";
import { givenOf } from "../decide/given.ts";
import { standingFaults } from "../errors.ts";
import type { LoadedVersion } from "../versions.ts";
import { runStateOfFilter, toRun } from "./convert.ts";
import { assertReached, findProgram, type StandingServiceContext } from "./read.ts";

const reasons: Readonly<Record<StandingRunReason, true>> = {
  "": true,
  missed: true,
  overlap: true,
  superseded: true,
  queue_full: true,
  late: true,
  rate: true,
  budget: true,
  project_runs: true,
  quota: true,
  paused: true,
  deleted: true,
  input_invalid: true,
  key_revoked: true,
  approval: true,
  drift: true,
  duplicate: true,
  filter_error: true,
  start_failed: true,
  cancelled: true,
  fail_step: true,
};

type Methods = Pick<ServiceImpl<typeof StandingService>, "runStandingProgram" | "listStandingRuns" | "getStandingRun">;

const keyCharactersMax = 255;
/** Maximum event ids in the API message of a run. */
const eventIdsShown = 100;

/** Returns the methods of StandingService for the runs of standing programs (schedules), for example to list and start them. */
export function runMethods(context: StandingServiceContext): Methods {
  const { db, sealer, clock, engine, versions } = context;
  const findEvent = async (
    { projectId, binding }: StandingProgramRecord,
    eventId: string,
    { definition: { source } }: LoadedVersion,
  ) => {
    const known = parseId("evt", eventId);
    const event = known && (await eventsForProject(db, projectId).find(known));
    if (source.kind !== "trigger" || event?.kind !== "event" || event.triggerSlug !== source.slug) {
      throw standingFaults.EVENT_NOT_FOUND(eventId);
    }
    if (!isEntityGranted(binding ?? undefined, event.entityId)) throw standingFaults.EVENT_NOT_FOUND(eventId);
    return event;
  };
  const toRuns = async (projectId: ProjectId, rows: readonly StandingRunRecord[]): Promise<StandingRun[]> => {
    const ofEvents = rows.filter(({ kind }) => kind === "event").map(({ id }) => id);
    const [events, failures] = await Promise.all([
      readStandingRunEvents(db, ofEvents, eventIdsShown),
      jobFailures(context, projectId, rows),
    ]);
    return rows.map((row) => {
      const jobFailure = row.jobId === null ? undefined : failures.get(row.jobId);
      return toRun(row, { eventIds: events.get(row.id) ?? [], jobFailure });
    });
  };
  return {
    async runStandingProgram({ id, inputJson, idempotencyKey, eventId }, ctx) {
      const caller = requireProject(ctx);
      const { projectId, keyId, role } = caller;
      const characters = [...idempotencyKey].length;
      if (characters > keyCharactersMax) throw coreFaults.IDEMPOTENCY_KEY_INVALID(characters);
      const program = await findProgram(db, caller, id);
      const sourceKey = sourceKeyOf(idempotencyKey, clock.now());
      const runs = standingRunsForProject(db, projectId);
      const earlier = await runs.findBySource(program.id, sourceKey);
      if (earlier !== undefined) return { run: toRun(earlier) };
      if (program.state !== "active") throw standingFaults.STANDING_PROGRAM_NOT_ACTIVE(program.state);
      const name = { programId: program.id, projectId, version: program.version };
      const version = (await versions.get(db, [name]))(name);
      if (version.record.needsApproval && role !== "approver") throw standingFaults.APPROVER_ROLE_REQUIRED();
      const event = eventId === "" ? undefined : await findEvent(program, eventId, version);
      const given = event && givenOfEvents([eventOf(event)]);
      const fire = { kind: "hand", fireAt: clock.now(), missed: 0, previousAt: program.previousAt, given } as const;
      const input = inputJson === "" ? undefined : readInput(inputJson);
      const filled = inputOf(version, givenOf(fire, version.definition.timeZone), input);
      if ("fault" in filled) throw standingFaults.INPUT_MISMATCH(filled.fault);
      const run = await engine
        .call(program.id, { ...fire, sourceKey, callerKeyId: keyId, input })
        .catch(async (error: unknown) => {
          if (!isUniqueViolation(error, "standing_runs_source")) throw error;
          return runs.findBySource(program.id, sourceKey);
        });
      if (run === undefined)
        throw standingFaults.STANDING_PROGRAM_NOT_ACTIVE("no longer active, or its key is revoked");
      return { run: toRun(run) };
    },
    listStandingRuns: projectList(sealer, {
      call: "ListStandingRuns",
      order: byId("srn"),
      async filter({ standingProgramId, state, reason, since, until }, caller) {
        const { id: programId } = await findProgram(db, caller, standingProgramId, "standingProgramId");
        return { programId, state, reason, ...timeRange(since, until) };
      },
      async rows({ filter: { programId, state, reason, ...times }, page, caller: { projectId } }) {
        const known = reasonOfFilter(reason);
        if (reason !== "" && known === undefined) return [];
        const filter = { state: runStateOfFilter(state), reason: known, ...times };
        return standingRunsForProject(db, projectId).list(programId, filter, page);
      },
      answer: async (rows, { caller }) => ({ runs: await toRuns(caller.projectId, rows) }),
    }),
    async getStandingRun({ id }, ctx) {
      const caller = requireProject(ctx);
      const runId = parseId("srn", id);
      const run = runId && (await standingRunsForProject(db, caller.projectId).find(runId));
      if (run === undefined) throw standingFaults.STANDING_RUN_NOT_FOUND(id);
      await assertReached(db, caller, run.programId, () => standingFaults.STANDING_RUN_NOT_FOUND(id));
      const [found] = await toRuns(caller.projectId, [run]);
      return { ...(found && { run: found }) };
    },
  };
}

const failedStatuses: ReadonlySet<string> = new Set(["failed", "expired", "aborted", "rejected"]);

/** Returns why the jobs of these runs failed, by the id of the job. */
async function jobFailures(
  { db, views }: Pick<StandingServiceContext, "db" | "views">,
  projectId: ProjectId,
  rows: readonly StandingRunRecord[],
) {
  const ids = rows.flatMap(({ jobId, jobStatus }) => (jobId !== null && failedStatuses.has(jobStatus) ? jobId : []));
  const jobs = await loadJobs(db, ids);
  return explainJobs(
    { db, views },
    projectId,
    jobs.filter((job) => job.projectId === projectId),
  );
}

/**
 * Returns the source key (the text that identifies what a run is for) of a run that a caller starts. If the caller sent an idempotency key,
 * the source key contains a digest of it, so that a repeated call starts no second run.
 */
function sourceKeyOf(idempotencyKey: string, nowMs: number): string {
  if (idempotencyKey === "") return `m:${createId("srn", nowMs)}`;
  return `m:${createHash("sha256").update(idempotencyKey).digest("hex")}`;
}

function readInput(text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseExactJson(text, { depthMax: 100, hasUniqueNames: true }) as JsonValue;
  } catch (error) {
    if (error instanceof RepeatedNameError) throw standingFaults.INPUT_MISMATCH("repeats a name in an object");
    throw standingFaults.INPUT_MISMATCH("is not JSON, or is nested too deep");
  }
  if (!isJsonObject(value)) throw standingFaults.INPUT_MISMATCH("is not a JSON object");
  return value;
}

/** Returns the reason that a list filter names. Returns undefined if the text is not a reason. */
function reasonOfFilter(text: string): StandingRunReason | undefined {
  return (Object.keys(reasons) as StandingRunReason[]).find((reason) => reason === text && reason !== "");
}
