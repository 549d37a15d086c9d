import { type Batcher, createBatcher, type Id, idOfUuid, type ProjectId, quotas } from "@svc/core";
import { storedCall } from "../calls/repo.ts";
import { type Executor, withTransaction } from "../connect.ts";
import { isUnavailable } from "../driver.ts";
import { leasedTaskRow, leasedTaskRows } from "../job-tasks/task.ts";
import { findQuotaReached, lockJobQuota, type QuotaReached } from "../projects/quotas.ts";
import { unfinishedJobs, usageOfProject } from "../projects/usage.ts";
import { toolCalls } from "../schema/calls.ts";
import { jobEvents, jobPrograms, jobSteps, jobs, jobTasks } from "../schema/jobs.ts";
import { fieldsBut, idOf, int4, int8, namesBut, orNull, type ValuesOf } from "../sql/codec.ts";
import { compose, type PartValues, query } from "../sql/compose.ts";
import { rows, values } from "../sql/select-list.ts";
import { jobCounts } from "./job-counts.ts";
import { logRowsOf } from "./log.ts";
import { inOrderOfKeys, type NewJob, type NewJobProgram } from "./new-job.ts";
import { storedChain } from "./principals.ts";

/**
 * Number of free jobs that a project's quota must still have, so that svc stores jobs without a lock. Concurrent statements do not see each
 * other's rows. Each node stores at most 200 jobs at once, so this number is enough for 20 nodes.
 */
const marginJobs = 4_000;

/**
 * svc uses a remembered count of a project's jobs only if at least this many more jobs fit into the project's quota. Other nodes may have
 * added jobs since the count.
 */
const rememberedMarginJobs = 3 * marginJobs;

/** Jobs stored together, with their program. */
type JobInsert = {
  readonly program: NewJobProgram;
  readonly newJobs: readonly NewJob[];
  readonly nowMs: number;
};

/**
 * Columns of a new job that the statement for many jobs sets: all that a submission without an idempotency key needs. All other columns get
 * their default values.
 */
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
 * Result of storing jobs for one project. `fits`: true if the jobs fit into the quota. `used`: number of jobs before the insert.
 * `isCounted`: true if this number was counted, false if it was remembered.
 */
type StoredProject = { projectId: string; used: string; isCounted: boolean; fits: boolean };

/** Parts of the statement that are needed for jobs which wait in the queue. Jobs whose first step begins at once need further parts. */
const queuedParts = ["wanted", "room", "programs", "events", "tasks", "jobs"] as const;

/**
 * Stores new jobs with their programs, first log entries and tasks. Stores nothing if a project would then have too few free places in its
 * quota of unfinished jobs.
 */
const insertBatch = compose(
  "insert_jobs",
  parts,
  // `margin`: number of jobs that must stay free below the quota. `rememberedMargin`: if this many stay free by the number that the caller
  // remembers, the statement does not count the jobs.
  (p, onlyWith) => query<StoredProject>`with bounded as materialized (
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
  )${onlyWith.steps`, begun as (
    ${p.steps.insertInto(jobSteps)} where (select fits from room)
  )`}${onlyWith.calls`, called as (
    ${p.calls.insertInto(toolCalls)} where (select fits from room)
  )`}, stored as (
    ${p.jobs.insertInto(jobs)} where (select fits from room)
  )
  select c.project_id as "projectId", c.used, c.is_counted as "isCounted", r.fits from counted c cross join room r`,
  {
    lone_begun: { parts: [...queuedParts, "steps", "calls"], isLone: true },
    // A read has no ledger row before it ends, so a job that begins with a read stores only its step.
    lone_read: { parts: [...queuedParts, "steps"], isLone: true },
    lone: { parts: queuedParts, isLone: true },
    queued: { parts: queuedParts },
  },
);

const unwritten = namesBut(jobs, ...(Object.keys(jobFields) as (keyof typeof jobFields)[]));

/**
 * True if `insertJobBatch` can store the jobs together with others: they have no idempotency key, and nothing else is written with them. If
 * false, the jobs need their own transaction.
 */
export function isPlainInsert({ newJobs }: JobInsert): boolean {
  return newJobs.every(
    ({ job, also }) => also === undefined && unwritten.every((name) => (job[name] ?? null) === null),
  );
}

const batchers = new WeakMap<object, Batcher<JobInsert, QuotaReached | undefined>>();

/**
 * Stores new jobs. Jobs that callers submit at the same moment, in any project, are stored with one statement and one commit. If the jobs
 * would exceed the project's quota, stores nothing and returns the quota.
 */
export async function insertJobBatch(db: Executor, insert: JobInsert): Promise<QuotaReached | undefined> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<JobInsert, QuotaReached | undefined>({
      sizeMax: 50,
      concurrency: 4,
      besideMin: 16,
      // If the database refuses a row, only that submission fails.
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

/**
 * Stores jobs of several submissions together. Returns false and stores nothing if a project could then submit fewer than `margin` further
 * jobs before it reaches its quota.
 */
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

/**
 * Stores the jobs of a project that is close to its quota. Such submissions are stored one after the other, so that concurrent ones cannot
 * exceed the quota.
 */
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

/**
 * Returns the project's quota of jobs if the given number of additional jobs would exceed it; undefined if they fit. Call it while
 * `lockJobQuota` holds its lock.
 */
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
 * Stores jobs in the caller's transaction; their programs must exist. Returns the ids of the jobs that would exceed their project's quota.
 * Nothing is stored for these jobs.
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

/** Jobs to store, and a program that may already exist. */
type StoredInsert = Omit<JobInsert, "program"> & { readonly program?: NewJobProgram };

/**
 * Returns for each project how many jobs it submits, and how many jobs it already has. This node remembers the second number from an
 * earlier count.
 */
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
    traceparent: job.traceparent,
  };
}
