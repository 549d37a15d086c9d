import { askFaults } from "@svc/asks";
import { type Id, isObject, type ProjectId, type Sealer } from "@svc/core";
import { asksForProject } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import { listJobAttempts } from "@svc/db/jobs/attempts";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { JobRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import type { Job } from "@svc/gen/jobs";
import type { JsonObject, Program } from "@svc/program";
import type { JobEnd } from "../drive/context.ts";
import { openProgram } from "../drive/store/stored-program.ts";
import { toJob } from "./convert-jobs.ts";
import { shownProgram } from "./drift.ts";

/** Dependencies of reading jobs. `sealer`: decrypts the programs of jobs. */
export type ReadContext = { readonly db: Executor; readonly sealer: Sealer };

/** Returns jobs of a project in the form of the API, in the given order. */
export async function toJobs(
  { db, sealer }: ReadContext,
  projectId: ProjectId,
  rows: readonly ListedJob[],
): Promise<Job[]> {
  if (rows.length === 0) return [];
  // A queued first attempt has no steps yet, so its steps need not be read. This saves one statement when a submission is answered.
  const begun = rows.filter(({ status, attempt }) => status !== "queued" || attempt > 1).map(({ id }) => id);
  const parked = rows.filter(({ park }) => park !== null).map(({ id }) => id);
  const retried = rows.filter(({ attempt }) => attempt > 1).map(({ id }) => id);
  const [steps, asks, attempts] = await Promise.all([
    begun.length === 0 ? new Map() : jobsForProject(db, projectId).listSteps(begun),
    asksForProject(db, projectId).listPending(parked),
    listJobAttempts(db, retried),
  ]);
  return rows.map((job) => {
    const requestId = job.park?.judgment?.requestId;
    // The ask was read a moment after the job, so it may be a later one. It is shown only if it is the ask that the job's row names.
    const pendingAsk = asks.find(({ id }) => id === requestId);
    const programJson = openProgram(sealer, job, job);
    return toJob({
      job,
      programJson: shownProgram(programJson),
      title: titleOf(programJson),
      steps: steps.get(job.id) ?? [],
      pendingAsk,
      attempts: attempts.get(job.id) ?? [],
    });
  });
}

/**
 * Returns the API message of a job that was just stored and has no steps, questions or earlier attempts yet. It does not read the database.
 * `programJson`: the program as submitted.
 */
export function toNewJob(job: JobRecord, programJson: string, programHash: string): Job {
  const listed = { ...job, programHash };
  const shown = { programJson: shownProgram(programJson), title: titleOf(programJson) };
  return toJob({ job: listed, ...shown, steps: [], pendingAsk: undefined, attempts: [] });
}

/** Returns a job that ended right after its submission. The data comes from memory; the result equals that of GetJob. */
export function toEndedJob(
  job: JobRecord,
  { state, receipt, atMs }: JobEnd,
  programJson: string,
  programHash: string,
): Job {
  const { status, planApprovalId, park, saga, lastError, finishedAt } = state;
  const ended = { status, planApprovalId, park, saga, lastError, finishedAt, receipt, updatedAt: atMs, programHash };
  const shown = { programJson: shownProgram(programJson), title: titleOf(programJson) };
  return toJob({
    job: { ...job, ...ended },
    ...shown,
    steps: [...state.steps.values()],
    pendingAsk: undefined,
    attempts: [],
  });
}

/** Returns the title of a job's program, or an empty text. */
export function titleOfListed({ sealer }: Pick<ReadContext, "sealer">, job: ListedJob): string {
  return titleOf(openProgram(sealer, job, job));
}

/**
 * Returns one job of a project in the form of the API. Throws JOB_NOT_FOUND if there is none. `field`: the request field that the error
 * names.
 */
export async function readJob(context: ReadContext, projectId: ProjectId, field: string, id: Id<"job">): Promise<Job> {
  const row = await jobsForProject(context.db, projectId).find(id);
  const [job] = row === undefined ? [] : await toJobs(context, projectId, [row]);
  if (job === undefined) throw askFaults.JOB_NOT_FOUND(field, id);
  return job;
}

/** Returns the title that a program declares, or an empty text. */
function titleOf(programJson: string): string {
  const document = JSON.parse(programJson) as { readonly title?: unknown };
  return typeof document.title === "string" ? document.title : "";
}

/**
 * Returns the reason why these values cannot replace the program's params, or undefined if they can. Each new value must have the type of
 * the program's own value, because the program was checked only with that type.
 */
export function faultOfParams({ params: own }: Program, params: JsonObject): string | undefined {
  for (const [name, value] of Object.entries(params)) {
    if (!Object.hasOwn(own, name)) {
      const names = Object.keys(own).slice(0, 20).join(", ");
      return `names ${JSON.stringify(name)}, which is not a param of the program (${names || "it has no params"})`;
    }
    const [was, is] = [typeOf(own[name]), typeOf(value)];
    if (was !== is) return `gives ${name} ${is}, but the program has ${was}`;
  }
  return undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  // A number that keeps all its digits is an object of a separate class. `isObject` returns false for such a number.
  return typeof value === "string"
    ? "a text"
    : typeof value === "boolean"
      ? "true or false"
      : isObject(value)
        ? "an object"
        : "a number";
}
