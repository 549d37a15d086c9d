import { type Id, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import type { jobSetRows, jobUndoEntries } from "../schema/jobs.ts";
import { statement } from "../statement.ts";
import type { JobRecord, JobStepRecord } from "./record.ts";

/** A row of `jobColumns`. */
export type JobRow = {
  id: string;
  project_id: string;
  simulated_from: string | null;
  key_id: string;
  program_digest: Buffer;
  input: Buffer | null;
  progress: Buffer | null;
  rest: string;
};

type Rest = Omit<JobRecord, "id" | "projectId" | "simulatedFrom" | "keyId" | "programDigest" | "input" | "progress">;

/** The columns of `jobs j`. Bytes and ids apart, one JSON text carries the row: it costs one parse instead of a decoder a column. */
export const jobColumns = `j.id, j.project_id, j.simulated_from, j.key_id, j.program_digest, j.input, j.progress, json_build_object(
  'status', j.status, 'mode', j.mode, 'skillSlug', j.skill_slug, 'standingProgramId', j.standing_program_id,
  'params', j.params, 'stepArgs', j.step_args, 'generation', j.generation, 'position', j.position,
  'principalChain', j.principal_chain, 'planApprovalId', j.plan_approval_id, 'estimate', j.estimate, 'park', j.park,
  'used', j.used, 'saga', j.saga, 'deadlineLeftMs', j.deadline_left_ms, 'cancelChain', j.cancel_chain,
  'lastError', j.last_error, 'receipt', j.receipt, 'lastSeq', j.last_seq, 'isSwept', j.is_swept,
  'deadlineAt', extract(epoch from j.deadline_at) * 1000, 'cancelRequestedAt', extract(epoch from j.cancel_requested_at) * 1000,
  'createdAt', extract(epoch from j.created_at) * 1000, 'updatedAt', extract(epoch from j.updated_at) * 1000,
  'finishedAt', extract(epoch from j.finished_at) * 1000)::text as rest`;

const selectJob = statement<JobRow>("load_job", `select ${jobColumns} from jobs j where j.id = $1::uuid`);

const selectJobs = statement<JobRow>("load_jobs", `select ${jobColumns} from jobs j where j.id = any($1::uuid[])`);

const lockJobRow = statement<JobRow>(
  "load_locked_job",
  `select ${jobColumns} from jobs j where j.id = $1::uuid for no key update`,
);

/** A job; with `lock`, its row is locked for the rest of the transaction. */
export async function loadJob(
  db: Executor,
  jobId: Id<"job">,
  { lock }: { lock: boolean } = { lock: false },
): Promise<JobRecord | undefined> {
  const [row] = await (lock ? lockJobRow : selectJob)(db, [uuidOfId(jobId)]);
  return row && jobOfRow(row);
}

/** The job of a row. */
export function jobOfRow(row: JobRow): JobRecord {
  return {
    ...(JSON.parse(row.rest) as Rest),
    id: idOfUuid("job", row.id),
    projectId: idOfUuid("prj", row.project_id),
    simulatedFrom: row.simulated_from === null ? null : idOfUuid("job", row.simulated_from),
    keyId: idOfUuid("key", row.key_id),
    programDigest: row.program_digest,
    input: row.input,
    progress: row.progress,
  };
}

const selectTwin = statement<{ id: string }>(
  "find_job_twin",
  "select id from jobs where simulated_from = $1::uuid order by id limit 1",
);

/** The simulated twin that was made for a job by simulateFirst. */
export async function findJobTwin(db: Executor, jobId: Id<"job">): Promise<Id<"job"> | undefined> {
  const [row] = await selectTwin(db, [uuidOfId(jobId)]);
  return row && idOfUuid("job", row.id);
}

type StepRow = { job_id: string; step_id: string; ordinal: number; receipt: string; output: Buffer | null };

const selectSteps = statement<StepRow>(
  "load_job_steps",
  `select job_id, step_id, ordinal, receipt::text as receipt, output from job_steps where job_id = any($1::uuid[])
   order by job_id, ordinal`,
);

/** What the steps of a job did and made, in the order they began. */
export async function loadJobSteps(db: Executor, jobId: Id<"job">): Promise<JobStepRecord[]> {
  return (await selectSteps(db, [arrayLiteral([uuidOfId(jobId)])])).map(stepOfRow);
}

function stepOfRow({ step_id: stepId, ordinal, receipt, output }: StepRow): JobStepRecord {
  return { stepId, ordinal, receipt: JSON.parse(receipt) as JobStepRecord["receipt"], output };
}

/** A job with what its steps did and made. */
export type JobWithSteps = { readonly job: JobRecord; readonly steps: readonly JobStepRecord[] };

/** Jobs with their steps, in the order asked for; undefined for one that is not there. Two statements for all of them. */
export async function loadJobsWithSteps(
  db: Executor,
  jobIds: readonly Id<"job">[],
): Promise<(JobWithSteps | undefined)[]> {
  const ids = arrayLiteral(jobIds.map(uuidOfId));
  const [jobRows, stepRows] = await Promise.all([selectJobs(db, [ids]), selectSteps(db, [ids])]);
  const jobs = new Map(jobRows.map((row) => [row.id, row]));
  const steps = Map.groupBy(stepRows, (row) => row.job_id);
  return jobIds.map((id) => {
    const row = jobs.get(uuidOfId(id));
    return row && { job: jobOfRow(row), steps: (steps.get(row.id) ?? []).map(stepOfRow) };
  });
}

/** A program as it was submitted, with the definitions it is pinned to. */
export type JobProgramRecord = { readonly program: string; readonly programHash: string; readonly pins: string };

const selectProgram = statement<{ program: string; program_hash: string; pins: string }>(
  "load_job_program",
  "select program, program_hash, pins from job_programs where project_id = $1::uuid and digest = $2::bytea",
);

/** The program of a job. */
export async function loadJobProgram(
  db: Executor,
  projectId: ProjectId,
  digest: Uint8Array,
): Promise<JobProgramRecord | undefined> {
  const [row] = await selectProgram(db, [uuidOfId(projectId), digest]);
  return row && { program: row.program, programHash: row.program_hash, pins: row.pins };
}

/** A row in a set, with what is sealed of it. */
export type JobSetRow = Pick<
  typeof jobSetRows.$inferSelect,
  "ordinal" | "rowNumber" | "state" | "doneCalls" | "outputs" | "errorCode"
> & { readonly data: Buffer };

type RawSetRow = {
  ordinal: number;
  row_number: number;
  state: JobSetRow["state"];
  done_calls: number;
  outputs: Buffer | null;
  error_code: string;
  data: Buffer;
};

const setRowColumns = "s.ordinal, s.row_number, s.state, s.done_calls, s.outputs, s.error_code, r.data";

/** `offset 0` keeps it a lookup by primary key: a join was planned through all rows of the job when statistics were old. */
const eachRow = `cross join lateral
     (select data from job_rows where job_id = s.job_id and row_number = s.row_number offset 0) r`;

/** By primary key of both: the time of a chunk does not grow with the set. */
const selectSetRows = statement<RawSetRow>(
  "read_job_set_rows",
  `select ${setRowColumns} from job_set_rows s ${eachRow}
   where s.job_id = $1::uuid and s.set_id = $2::text and s.ordinal >= $3::int4 order by s.ordinal limit $4::int4`,
);

const selectSetRowsOf = statement<RawSetRow>(
  "read_job_set_rows_of_state",
  `select ${setRowColumns} from job_set_rows s ${eachRow}
   where s.job_id = $1::uuid and s.set_id = $2::text and s.state = $5::text and s.state in ('failed', 'unknown')
     and s.ordinal >= $3::int4
   order by s.ordinal limit $4::int4`,
);

/** Rows of a set by ordinal, from `fromOrdinal` on; with a state, only those in it. */
export async function readJobSetRows(
  db: Executor,
  set: { jobId: Id<"job">; setId: string; state?: "failed" | "unknown" | undefined },
  { fromOrdinal, limit }: { fromOrdinal: number; limit: number },
): Promise<JobSetRow[]> {
  const place = [uuidOfId(set.jobId), set.setId, fromOrdinal, limit];
  const rows = await (set.state === undefined ? selectSetRows(db, place) : selectSetRowsOf(db, [...place, set.state]));
  return rows.map((row) => ({
    ordinal: row.ordinal,
    rowNumber: row.row_number,
    state: row.state,
    doneCalls: row.done_calls,
    outputs: row.outputs,
    errorCode: row.error_code,
    data: row.data,
  }));
}

const updateStates = statement<{ ordinal: number }>(
  "set_job_row_states",
  `update job_set_rows set state = $4::text where job_id = $1::uuid and set_id = $2::text and state = $3::text`,
);

/** Gives all rows of a set in one state another; returns how many. */
export async function setJobRowStates(
  tx: Executor,
  set: { jobId: Id<"job">; setId: string },
  change: { from: "failed" | "unknown"; to: JobSetRow["state"] },
): Promise<number> {
  return (await updateStates(tx, [uuidOfId(set.jobId), set.setId, change.from, change.to])).count;
}

/** An undo entry with its sealed arguments. */
export type JobUndoEntry = typeof jobUndoEntries.$inferSelect;

const selectUndo = statement<{
  entry: number;
  step_id: string;
  ordinal: number;
  tool_slug: string;
  entity_id: string;
  args: Buffer;
  state: JobUndoEntry["state"];
}>(
  "next_job_undo_entries",
  `select entry, step_id, ordinal, tool_slug, entity_id, args, state from job_undo_entries
   where job_id = $1::uuid and state = 'armed' order by entry desc limit $2::int4`,
);

/** The entries to undo next, the latest first. */
export async function nextJobUndoEntries(db: Executor, jobId: Id<"job">, limit: number): Promise<JobUndoEntry[]> {
  const rows = await selectUndo(db, [uuidOfId(jobId), limit]);
  return rows.map((row) => ({
    jobId,
    entry: row.entry,
    stepId: row.step_id,
    ordinal: row.ordinal,
    toolSlug: row.tool_slug,
    entityId: row.entity_id,
    args: row.args,
    state: row.state,
  }));
}

const appendEvents = statement<{ last_seq: number }>(
  "append_job_events",
  `with changed as (
    update jobs set last_seq = last_seq + $2::int4, updated_at = $3::timestamptz where id = $1::uuid returning last_seq
  ), logged as (
    insert into job_events (job_id, seq, type, step_id, at, payload, principal_chain)
    select $1::uuid, c.last_seq - $2::int4 + e.place, e.type, e.step_id, $3::timestamptz, e.payload, e.chain::text[]
    from changed c, unnest($4::text[], $5::text[], $6::text[], $7::text[]) with ordinality e(type, step_id, payload, chain, place)
  )
  select last_seq from changed`,
);

/** Appends to a job's log from outside its driver; returns the last seq. Other changes of the same transaction follow `lockJob`. */
export async function appendJobEvents(
  tx: Executor,
  jobId: Id<"job">,
  events: readonly { type: string; stepId: string; payload: string; principalChain: string[] }[],
  nowMs: number,
): Promise<number> {
  const [row] = await appendEvents(tx, [
    uuidOfId(jobId),
    events.length,
    new Date(nowMs).toISOString(),
    arrayLiteral(events.map(({ type }) => type)),
    arrayLiteral(events.map(({ stepId }) => stepId)),
    arrayLiteral(events.map(({ payload }) => payload)),
    arrayLiteral(events.map(({ principalChain }) => arrayLiteral(principalChain))),
  ]);
  return row?.last_seq ?? 0;
}
