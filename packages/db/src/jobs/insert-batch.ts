import { type Batcher, createBatcher, type Id, idOfUuid, type ProjectId, quotas } from "@svc/core";
import { storedCall } from "../calls/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { isUnavailable } from "../driver.ts";
import { leasedTaskRow, leasedTaskRows } from "../job-tasks/task.ts";
import { findQuotaReached, lockJobQuota, type QuotaReached } from "../projects/quotas.ts";
import { unfinishedJobs, usageOfProject } from "../projects/usage.ts";
import { toolCalls } from "../schema/calls.ts";
import { jobEvents, jobPrograms, jobSteps, jobs, jobTasks } from "../schema/jobs.ts";
import { fieldsBut, idOf, int4, int8, orNull, type ValuesOf } from "../sql/codec.ts";
import { compose, type PartValues, query } from "../sql/compose.ts";
import { rows, values } from "../sql/select-list.ts";
import { jobCounts } from "./job-counts.ts";
import { logRowsOf } from "./log.ts";
import { inOrderOfKeys, type NewJob, type NewJobProgram } from "./new-job.ts";
import { storedChain } from "./principals.ts";

/**
 * How far from its quota a project's jobs are stored without a lock. Statements under way do not see each other's rows: they are
 * 200 jobs a node at most, so 20 nodes may be under way at once.
 */
const marginJobs = 4_000;

/** How far from its quota a project's jobs are stored by a count that is not of this moment: other nodes have added some since. */
const rememberedMarginJobs = 3 * marginJobs;

/** Jobs that are stored together, with the program they run. */
type JobInsert = {
  readonly program: NewJobProgram;
  readonly newJobs: readonly NewJob[];
  readonly nowMs: number;
};

/** What the statement writes of a job: all that a submission without an idempotency key decides. The rest has its defaults. */
const jobFields = fieldsBut(
  jobs,
  "parentJobId",
  "childKey",
  "child",
  "generation",
  "position",
  "overrides",
  "attempt",
  "attemptKeyId",
  "idempotencyKey",
  "cancelRequestedAt",
  "cancelChain",
  "pausedAt",
  "pauseChain",
  "lastError",
  "receipt",
  "finishedAt",
  "loopHolds",
  "refusedAnswers",
  "hasLostRows",
  "isSwept",
);

const parts = {
  wanted: rows({ projectId: idOf("prj"), jobs: int4, remembered: orNull(int8) }),
  room: values({ fallback: int8, margin: int4, rememberedMargin: int4 }),
  programs: rows(fieldsBut(jobPrograms)),
  events: rows(fieldsBut(jobEvents)),
  tasks: leasedTaskRows,
  steps: rows(fieldsBut(jobSteps)),
  calls: rows(fieldsBut(toolCalls)),
  jobs: rows(jobFields),
};

/**
 * Programs, jobs, the beginnings of their logs, their first tasks, and of jobs that begin at once the first step and its call: one
 * statement, one round trip, one commit. All of it, or
 * nothing where a project would come closer to its quota of jobs than `margin`. Jobs are counted by project and status, no further
 * than the quota: 20,000 take 3 ms, and most projects have a few. Where the count that is remembered leaves `rememberedMargin`, they
 * are not counted. Answers what fits, and how many jobs there were before, project by project.
 */
const insertBatch = compose(
  "insert_jobs",
  parts,
  (p) => query<{ projectId: string; used: string; isCounted: boolean; fits: boolean }>`with bounded as materialized (
    select w.project_id, w.jobs as wanted, l.most,
      case when l.most < 0 or w.remembered + w.jobs + ${p.room.rememberedMargin} <= l.most then coalesce(w.remembered, 0) end as known
    from ${p.wanted.from("w")} cross join lateral (
      select coalesce((select (quotas->>'jobs')::int8 from project_policies where project_id = w.project_id), ${p.room.fallback}) as most
      offset 0) l
  ), counted as materialized (
    select project_id, wanted, most, known is null as is_counted, coalesce(known, (
      select count(*) from (select from ${unfinishedJobs("b.project_id")} limit greatest(b.most, 0)) c)) as used
    from bounded b
  ), room as materialized (
    select coalesce(bool_and(most < 0 or used + wanted + ${p.room.margin} <= most), true) as fits from counted
  ), programs as (
    ${p.programs.insertInto(jobPrograms)} where (select fits from room) on conflict do nothing
  ), logged as (
    ${p.events.insertInto(jobEvents)} where (select fits from room)
  ), due as (
    ${p.tasks.insertInto(jobTasks)} where (select fits from room)
  ), begun as (
    ${p.steps.insertInto(jobSteps)} where (select fits from room)
  ), called as (
    ${p.calls.insertInto(toolCalls)} where (select fits from room)
  ), stored as (
    ${p.jobs.insertInto(jobs)} where (select fits from room)
  )
  select c.project_id as "projectId", c.used, c.is_counted as "isCounted", r.fits from counted c cross join room r`,
);

const written: ReadonlySet<string> = new Set(Object.keys(jobFields));

/** Whether jobs can be stored by `insertJobBatch`: they bind no idempotency key, and nothing else is written with them. */
export function isPlainInsert({ newJobs }: JobInsert): boolean {
  return newJobs.every(
    ({ job, also }) =>
      also === undefined &&
      Object.entries(job).every(([name, value]) => written.has(name) || value === null || value === undefined),
  );
}

const batchers = new WeakMap<object, Batcher<JobInsert, QuotaReached | undefined>>();

/**
 * Stores jobs; submissions that come together, of any project, share a statement and are committed together. Answers, and stores
 * nothing, where there would be more of them than the project's quota.
 */
export async function insertJobBatch(db: Executor, insert: JobInsert): Promise<QuotaReached | undefined> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<JobInsert, QuotaReached | undefined>({
      sizeMax: 50,
      concurrency: 4,
      besideMin: 16,
      // A row that the store refuses fails alone.
      splits: (error) => !isUnavailable(error),
      async run(inserts) {
        if (await storeAll(db, inserts, marginJobs)) return inserts.map(() => undefined);
        const answers: (QuotaReached | undefined)[] = [];
        for (const one of inserts) answers.push(await storeWithinQuota(db, one));
        return answers;
      },
    });
    batchers.set(db, batcher);
  }
  return batcher.add(insert);
}

/** False, and nothing stored, when a project would come too close to its quota. */
async function storeAll(db: Executor, inserts: readonly StoredInsert[], margin: number): Promise<boolean> {
  const startedMs = performance.now();
  const wanted = requestedJobsOf(inserts);
  const found = await insertBatch(db, { ...rowsOf(inserts, margin), wanted });
  const fits = found.every((project) => project.fits);
  for (const { projectId, used, isCounted } of found) {
    const id = idOfUuid("prj", projectId);
    if (isCounted) jobCounts.keep(id, Number(used), performance.now() - startedMs);
    if (fits) jobCounts.add(id, wanted.find((one) => one.projectId === id)?.jobs ?? 0);
  }
  return fits;
}

/** Close to its quota, a project's submissions are stored one after the other: of any number at once none passes it. */
function storeWithinQuota(db: Executor, insert: JobInsert): Promise<QuotaReached | undefined> {
  const { projectId } = insert.program;
  return withTransaction(db, async (tx) => {
    await lockJobQuota(tx, projectId);
    if (await storeAll(tx, [insert], 0)) return undefined;
    const reached = await findJobQuotaReached(tx, projectId, insert.newJobs.length);
    if (reached === undefined) throw new Error("jobs found no room, and there is some");
    return reached;
  });
}

/** Whether so many more jobs would pass the project's quota; asked under `lockJobQuota`. */
export async function findJobQuotaReached(
  tx: Executor,
  projectId: ProjectId,
  more: number,
): Promise<QuotaReached | undefined> {
  const quota = { projectId, name: "jobs", more } as const;
  const reached = await findQuotaReached(tx, quota, async (most) => {
    const remembered = jobCounts.find(projectId);
    if (remembered !== undefined && remembered + more + rememberedMarginJobs <= most) return remembered;
    const startedMs = performance.now();
    const used = await usageOfProject(tx, projectId).countJobs(most);
    jobCounts.keep(projectId, used, performance.now() - startedMs);
    return used;
  });
  if (reached === undefined) jobCounts.add(projectId, more);
  return reached;
}

/**
 * Stores jobs in a transaction of the caller's, whose programs are there. Answers those that found no room within the quota of their
 * project: nothing is stored of them.
 */
export async function insertJobsWithinQuota(
  tx: Executor,
  newJobs: readonly NewJob[],
  nowMs: number,
): Promise<ReadonlySet<Id<"job">>> {
  const without = new Set<Id<"job">>();
  if (newJobs.length === 0 || (await storeAll(tx, [{ newJobs, nowMs }], marginJobs))) return without;
  const byProject = Map.groupBy(newJobs, ({ job }) => job.projectId);
  for (const projectId of [...byProject.keys()].sort()) {
    await lockJobQuota(tx, projectId);
    let hasRoom = true;
    for (const one of byProject.get(projectId) ?? []) {
      hasRoom &&= await storeAll(tx, [{ newJobs: [one], nowMs }], 0);
      if (!hasRoom) without.add(one.job.id);
    }
  }
  return without;
}

/** Jobs whose program may be there already. */
type StoredInsert = Omit<JobInsert, "program"> & { readonly program?: NewJobProgram };

/** How many jobs each project is to have more, and what is remembered of those that it has. */
function requestedJobsOf(inserts: readonly StoredInsert[]): PartValues<typeof parts>["wanted"] {
  const byProject = Map.groupBy(
    inserts.flatMap(({ newJobs }) => newJobs),
    ({ job }) => job.projectId,
  );
  return [...byProject].map(([projectId, own]) => ({
    projectId,
    jobs: own.length,
    remembered: jobCounts.find(projectId) ?? null,
  }));
}

function rowsOf(inserts: readonly StoredInsert[], margin: number): Omit<PartValues<typeof parts>, "wanted"> {
  const given = inserts.flatMap(({ program }) => program ?? []);
  const programs = new Map(
    given.map((program) => [`${program.projectId}/${program.digest.toString("hex")}`, program] as const),
  );
  const newJobs = inserts.flatMap((insert) => insert.newJobs);
  return {
    room: { fallback: quotas.jobs.default, margin, rememberedMargin: rememberedMarginJobs },
    programs: inOrderOfKeys([...programs.values()]),
    events: inserts.flatMap(({ newJobs: own, nowMs: at }) =>
      own.flatMap(({ job, events }) => logRowsOf(events).map((row) => ({ jobId: job.id, at, ...row }))),
    ),
    tasks: newJobs.flatMap(({ tasks, lease }) => tasks.map((task) => leasedTaskRow(task, lease))),
    steps: newJobs.flatMap(({ job: { id: jobId }, steps = [] }) => steps.map((step) => ({ jobId, ...step }))),
    calls: newJobs.flatMap(({ begunCall }) => (begunCall === undefined ? [] : [storedCall(begunCall)])),
    jobs: newJobs.map(rowOf),
  };
}

function rowOf({ job, events }: NewJob): ValuesOf<typeof jobFields> {
  return {
    ...job,
    principalChain: storedChain(job),
    simulatedFrom: job.simulatedFrom,
    skillSlug: job.skillSlug ?? "",
    standingProgramId: job.standingProgramId ?? "",
    standingRunId: job.standingRunId,
    callSeed: job.callSeed ?? null,
    binding: job.binding ?? null,
    input: job.input,
    progress: job.progress,
    planApprovalId: job.planApprovalId ?? "",
    park: job.park,
    restoredFrom: job.restoredFrom ?? null,
    deadlineAt: job.deadlineAt,
    deadlineLeftMs: job.deadlineLeftMs,
    lastSeq: events.length,
  };
}
