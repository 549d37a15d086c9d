import { type Batcher, createBatcher, type ProjectId, uuidOfId } from "@svc/core";
import { arrayLiteral, bytesArrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { isUnavailable } from "../driver-error.ts";
import { statement } from "../statement.ts";
import type { NewJob } from "./insert.ts";
import type { JobProgramRecord } from "./load.ts";

/** Jobs that are stored together, with the program they run. */
export type JobInsert = {
  readonly program: JobProgramRecord & { readonly projectId: ProjectId; readonly digest: Buffer };
  readonly newJobs: readonly NewJob[];
  readonly nowMs: number;
};

/** Programs, jobs, the beginnings of their logs and their first tasks: one statement, one round trip, one commit. */
const insertBatch = statement<{ id: string }>(
  "insert_jobs",
  `with programs as (
    insert into job_programs (project_id, digest, program, program_hash, pins)
    select * from unnest($1::uuid[], $2::bytea[], $3::text[], $4::text[], $5::text[])
    on conflict do nothing
  ), logged as (
    insert into job_events (job_id, seq, type, step_id, at, payload, principal_chain)
    select e.job_id, e.seq, e.type, e.step_id, e.at, e.payload, e.chain::text[]
    from unnest($6::uuid[], $7::int4[], $8::text[], $9::text[], $10::timestamptz[], $11::text[], $12::text[])
      e(job_id, seq, type, step_id, at, payload, chain)
  ), due as (
    insert into job_tasks (job_id, kind, subject, project_id, due_at)
    select * from unnest($13::uuid[], $14::text[], $15::text[], $16::uuid[], $17::timestamptz[])
  )
  insert into jobs (id, project_id, status, mode, simulated_from, skill_slug, program_digest, input, params, step_args, progress,
    key_id, principal_chain, content_digest, plan_approval_id, estimate, park, used, saga, deadline_at, deadline_left_ms,
    created_at, updated_at, last_seq)
  select j.id, j.project_id, j.status, j.mode, j.simulated_from, j.skill_slug, j.program_digest, j.input, j.params, j.step_args,
    j.progress, j.key_id, j.chain::text[], j.content_digest, j.plan_approval_id, j.estimate, j.park, j.used, j.saga, j.deadline_at,
    j.deadline_left_ms, j.created_at, j.updated_at, j.last_seq
  from unnest($18::uuid[], $19::uuid[], $20::text[], $21::text[], $22::uuid[], $23::text[], $24::bytea[], $25::bytea[],
    $26::jsonb[], $27::jsonb[], $28::bytea[], $29::uuid[], $30::text[], $31::bytea[], $32::text[], $33::jsonb[], $34::jsonb[],
    $35::jsonb[], $36::jsonb[], $37::timestamptz[], $38::int8[], $39::timestamptz[], $40::timestamptz[], $41::int4[])
    j(id, project_id, status, mode, simulated_from, skill_slug, program_digest, input, params, step_args, progress, key_id, chain,
      content_digest, plan_approval_id, estimate, park, used, saga, deadline_at, deadline_left_ms, created_at, updated_at, last_seq)`,
);

/** What the statement writes of a job; a job with anything else goes the other way. */
const written: ReadonlySet<string> = new Set([
  ...[
    "id",
    "projectId",
    "status",
    "mode",
    "simulatedFrom",
    "skillSlug",
    "programDigest",
    "input",
    "params",
    "stepArgs",
  ],
  ...["progress", "keyId", "principalChain", "contentDigest", "planApprovalId", "estimate", "park", "used", "saga"],
  ...["deadlineAt", "deadlineLeftMs", "createdAt", "updatedAt"],
]);

/** Whether jobs can be stored by `insertJobBatch`: they bind no idempotency key, and nothing else is written with them. */
export function isPlainInsert({ newJobs }: JobInsert): boolean {
  return newJobs.every(
    ({ job, also }) =>
      also === undefined &&
      Object.entries(job).every(([name, value]) => written.has(name) || value === null || value === undefined),
  );
}

const batchers = new WeakMap<object, Batcher<JobInsert, undefined>>();

/** Stores jobs; submissions that come together, of any project, share a statement and are committed together. */
export async function insertJobBatch(db: Executor, insert: JobInsert): Promise<void> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<JobInsert, undefined>({
      sizeMax: 50,
      concurrency: 4,
      besideMin: 16,
      // A row that the store refuses fails alone.
      splits: (error) => !isUnavailable(error),
      run: async (inserts) => {
        await insertBatch(db, parametersOf(inserts));
        return inserts.map(() => undefined);
      },
    });
    batchers.set(db, batcher);
  }
  await batcher.add(insert);
}

function parametersOf(inserts: readonly JobInsert[]): string[] {
  return [...programColumns(inserts), ...eventColumns(inserts), ...taskColumns(inserts), ...jobColumns(inserts)];
}

function programColumns(inserts: readonly JobInsert[]): string[] {
  const programs = [
    ...new Map(
      inserts.map(({ program }) => [`${program.projectId}/${program.digest.toString("hex")}`, program]),
    ).values(),
  ];
  return [
    arrayLiteral(programs.map(({ projectId }) => uuidOfId(projectId))),
    bytesArrayLiteral(programs.map(({ digest }) => digest)),
    arrayLiteral(programs.map(({ program }) => program)),
    arrayLiteral(programs.map(({ programHash }) => programHash)),
    arrayLiteral(programs.map(({ pins }) => pins)),
  ];
}

function eventColumns(inserts: readonly JobInsert[]): string[] {
  const events = inserts.flatMap(({ newJobs, nowMs }) =>
    newJobs.flatMap(({ job, events: log }) =>
      log.map((event, index) => ({ ...event, jobId: job.id, seq: index + 1, at: nowMs })),
    ),
  );
  return [
    arrayLiteral(events.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(events.map(({ seq }) => String(seq))),
    arrayLiteral(events.map(({ type }) => type)),
    arrayLiteral(events.map(({ stepId }) => stepId)),
    arrayLiteral(events.map(({ at }) => timeText(at))),
    arrayLiteral(events.map(({ payload }) => payload)),
    arrayLiteral(events.map(({ principalChain }) => arrayLiteral(principalChain))),
  ];
}

function taskColumns(inserts: readonly JobInsert[]): string[] {
  const tasks = inserts.flatMap(({ newJobs }) => newJobs.flatMap((newJob) => newJob.tasks));
  return [
    arrayLiteral(tasks.map(({ jobId }) => uuidOfId(jobId))),
    arrayLiteral(tasks.map(({ kind }) => kind)),
    arrayLiteral(tasks.map(({ subject }) => subject)),
    arrayLiteral(tasks.map(({ projectId }) => uuidOfId(projectId))),
    arrayLiteral(tasks.map(({ dueAt }) => timeText(dueAt))),
  ];
}

function jobColumns(inserts: readonly JobInsert[]): string[] {
  const jobs = inserts.flatMap(({ newJobs }) => newJobs.map(({ job, events }) => ({ ...job, lastSeq: events.length })));
  const text = (read: (job: (typeof jobs)[number]) => string | null) => arrayLiteral(jobs.map(read));
  const json = (read: (job: (typeof jobs)[number]) => object | null | undefined) =>
    text((job) => {
      const document = read(job);
      return document === null || document === undefined ? null : JSON.stringify(document);
    });
  const bytes = (read: (job: (typeof jobs)[number]) => Uint8Array | null | undefined) =>
    bytesArrayLiteral(jobs.map((job) => read(job) ?? null));
  return [
    text(({ id }) => uuidOfId(id)),
    text(({ projectId }) => uuidOfId(projectId)),
    text(({ status }) => status),
    text(({ mode }) => mode),
    text(({ simulatedFrom }) => (simulatedFrom ? uuidOfId(simulatedFrom) : null)),
    text(({ skillSlug }) => skillSlug ?? ""),
    bytes(({ programDigest }) => programDigest),
    bytes(({ input }) => input),
    json(({ params }) => params),
    json(({ stepArgs }) => stepArgs),
    bytes(({ progress }) => progress),
    text(({ keyId }) => uuidOfId(keyId)),
    text(({ principalChain }) => arrayLiteral(principalChain)),
    bytes(({ contentDigest }) => contentDigest),
    text(({ planApprovalId }) => planApprovalId ?? ""),
    json(({ estimate }) => estimate),
    json(({ park }) => park),
    json(({ used }) => used),
    json(({ saga }) => saga),
    text(({ deadlineAt }) => timeOrNull(deadlineAt)),
    text(({ deadlineLeftMs }) => (deadlineLeftMs == null ? null : String(deadlineLeftMs))),
    text(({ createdAt }) => timeText(createdAt)),
    text(({ updatedAt }) => timeText(updatedAt)),
    text(({ lastSeq }) => String(lastSeq)),
  ];
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function timeOrNull(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : timeText(ms);
}
