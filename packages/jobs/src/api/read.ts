import { askFaults } from "@svc/asks";
import { appNamesOf, type CatalogViews } from "@svc/catalog";
import {
  type AppNames,
  type Failure,
  type Id,
  isObject,
  jobFailure,
  type ProjectId,
  parseId,
  type Sealer,
  stepToExplain,
} from "@svc/core";
import { asksForProject } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import { listJobAttempts } from "@svc/db/jobs/attempts";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { countDoneSteps, readStepReceipts } from "@svc/db/jobs/listed-facts";
import type { JobRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import { readStandingPrograms } from "@svc/db/standing/programs";
import type { Job } from "@svc/gen/jobs";
import type { JsonObject, Program } from "@svc/program";
import type { JobEnd } from "../drive/context.ts";
import { openProgram } from "../drive/store/stored-program.ts";
import { toJob } from "./convert-jobs.ts";
import { shownProgram } from "./drift.ts";

/** The functions that are needed to read jobs and to show them. `sealer`: decrypts the programs of jobs. `views`: have the names of apps. */
export type ReadContext = { readonly db: Executor; readonly sealer: Sealer; readonly views: CatalogViews };

/** Returns jobs of a project in the form of the API, in the given order. */
export async function toJobs(
  { db, sealer, views }: ReadContext,
  projectId: ProjectId,
  rows: readonly ListedJob[],
): Promise<Job[]> {
  if (rows.length === 0) return [];
  // A queued first attempt has no steps yet, so its steps need not be read. This saves one statement when a submission is answered.
  const begun = rows.filter(({ status, attempt }) => status !== "queued" || attempt > 1).map(({ id }) => id);
  const parked = rows.filter(({ park }) => park !== null).map(({ id }) => id);
  const retried = rows.filter(({ attempt }) => attempt > 1).map(({ id }) => id);
  const [steps, asks, attempts, titles, view] = await Promise.all([
    begun.length === 0 ? new Map() : jobsForProject(db, projectId).listSteps(begun),
    asksForProject(db, projectId).listPending(parked),
    listJobAttempts(db, retried),
    scheduleTitles(db, projectId, rows),
    views.forProject(projectId),
  ]);
  const appNames = appNamesOf(view);
  return rows.map((job) => {
    const requestId = job.park?.judgment?.requestId;
    // The ask was read a moment after the job, so it may be a later one. It is shown only if it is the ask that the job's row names.
    const pendingAsk = asks.find(({ id }) => id === requestId);
    const programJson = openProgram(sealer, job, job);
    return toJob({
      job,
      programJson: shownProgram(programJson),
      program: headOf(programJson),
      scheduleTitle: titles.get(job.standingProgramId) ?? "",
      appNames,
      steps: steps.get(job.id) ?? [],
      pendingAsk,
      attempts: attempts.get(job.id) ?? [],
    });
  });
}

/**
 * Returns the API message of a new job without a read of the database. The job has no steps, questions or earlier attempts yet.
 * `programJson`: the program as submitted.
 */
export function toNewJob(job: JobRecord, programJson: string, programHash: string, appNames: AppNames): Job {
  const listed = { ...job, programHash };
  return toJob({ job: listed, ...shownNew(programJson), appNames, steps: [] });
}

/** Returns the API message of a job that ended within its submission call. It is made from memory and is equal to the answer of GetJob. */
export function toEndedJob(
  job: JobRecord,
  { state, receipt, atMs }: JobEnd,
  programJson: string,
  programHash: string,
  appNames: AppNames,
): Job {
  const { status, planApprovalId, park, saga, lastError, finishedAt } = state;
  const ended = { status, planApprovalId, park, saga, lastError, finishedAt, receipt, updatedAt: atMs, programHash };
  return toJob({ job: { ...job, ...ended }, ...shownNew(programJson), appNames, steps: [...state.steps.values()] });
}

/** Returns the parts of a job that a caller has just submitted: no schedule started it, and it has no questions and earlier attempts. */
function shownNew(programJson: string) {
  const program = headOf(programJson);
  return { programJson: shownProgram(programJson), program, scheduleTitle: "", pendingAsk: undefined, attempts: [] };
}

/**
 * Returns jobs in a short form for lists. It contains the data from each job's own database row, the title, the progress and the reason of
 * a failure, but no program, steps, questions or attempts.
 */
export async function toJobSummaries(
  { db, sealer, views }: ReadContext,
  projectId: ProjectId,
  rows: readonly ListedJob[],
): Promise<Job[]> {
  const [receipts, done, titles, view] = await Promise.all([
    explainingReceipts(db, projectId, rows),
    countDoneSteps(
      db,
      projectId,
      rows.map(({ id }) => id),
    ),
    scheduleTitles(db, projectId, rows),
    views.forProject(projectId),
  ]);
  const shared = { programJson: "", steps: [], pendingAsk: undefined, attempts: [], appNames: appNamesOf(view) };
  return rows.map((job) => {
    const summary = { explaining: receipts.get(job.id) ?? [], stepsDone: done.get(job.id) ?? 0 };
    const program = headOf(openProgram(sealer, job, job));
    const scheduleTitle = titles.get(job.standingProgramId) ?? "";
    return toJob({ ...shared, job, program, scheduleTitle, summary });
  });
}

/** Returns why each of these jobs of a project failed, by id. Jobs that did not fail are absent. */
export async function explainJobs(
  { db, views }: Pick<ReadContext, "db" | "views">,
  projectId: ProjectId,
  rows: readonly JobRecord[],
): Promise<Map<Id<"job">, Failure>> {
  if (rows.length === 0) return new Map();
  const [receipts, view] = await Promise.all([explainingReceipts(db, projectId, rows), views.forProject(projectId)]);
  const appNames = appNamesOf(view);
  const failures = rows.flatMap((job) => {
    const failure = jobFailure({
      ...{ ...job, atMs: job.finishedAt ?? job.updatedAt, steps: receipts.get(job.id) ?? [] },
      deadlineSeconds: job.receipt?.limits.max.deadlineSeconds,
      ...{ entities: job.estimate.entities, appNames },
    });
    return failure === undefined ? [] : [[job.id, failure] as const];
  });
  return new Map(failures);
}

function explainingReceipts(db: Executor, projectId: ProjectId, rows: readonly JobRecord[]) {
  const wanted = rows.flatMap((job) => {
    const stepId = stepToExplain(job);
    return stepId === undefined ? [] : [{ jobId: job.id, stepId }];
  });
  return readStepReceipts(db, projectId, wanted);
}

/** Returns the titles of the schedules that started these jobs, or their slugs, by the id of the schedule. */
async function scheduleTitles(
  db: Executor,
  projectId: ProjectId,
  rows: readonly ListedJob[],
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(rows.flatMap(({ standingProgramId }) => parseId("stp", standingProgramId) ?? []));
  const found = await readStandingPrograms(db, [...ids]);
  const own = found.filter((one) => one.projectId === projectId);
  return new Map(own.map(({ id, title, slug }) => [id, title || slug]));
}

/** Returns the title of a job's program, or an empty text. */
export function titleOfListed({ sealer }: Pick<ReadContext, "sealer">, job: ListedJob): string {
  return headOf(openProgram(sealer, job, job)).title;
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

/** Returns the title that a program declares, or an empty text, and its number of steps. */
function headOf(programJson: string): { readonly title: string; readonly stepCount: number } {
  const { title, steps } = JSON.parse(programJson) as { readonly title?: unknown; readonly steps?: unknown };
  return { title: typeof title === "string" ? title : "", stepCount: countSteps(steps) };
}

/** Returns the number of steps in a list of steps, with those in branches, rounds and error handlers. */
function countSteps(list: unknown): number {
  if (!Array.isArray(list)) return 0;
  return list.filter(isObject).reduce((sum, step) => {
    const branches = isObject(step["parallel"]) ? Object.values(step["parallel"]) : [];
    const handler = isObject(step["onError"]) ? step["onError"]["do"] : undefined;
    // The calls of a `map` are in `do` too, but they are not steps.
    const rounds = Object.hasOwn(step, "until") ? step["do"] : undefined;
    const inner = [step["then"], step["else"], rounds, handler, ...branches];
    return sum + 1 + inner.reduce((count: number, steps) => count + countSteps(steps), 0);
  }, 0);
}

/**
 * Returns the reason why these values cannot replace the program's `params`, or undefined if they can. Each value must have the same type as
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
