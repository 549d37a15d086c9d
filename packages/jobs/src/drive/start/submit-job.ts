import { setImmediate } from "node:timers/promises";
import { type Clock, createId } from "@svc/core";
import { insertJobs } from "@svc/db/jobs/insert";
import type { KeyedJob, NewJob, NewJobProgram } from "@svc/db/jobs/new-job";
import { recordOfNewJob } from "@svc/db/jobs/new-record";
import type { JobRecord } from "@svc/db/jobs/record";
import type { QuotaReached } from "@svc/db/projects/quotas";
import { type Program, programDigest } from "@svc/program";
import type { JobEngine } from "../engine.ts";
import type { ReadyAttempt } from "../port.ts";
import type { PlannedJob } from "../store/open.ts";
import { type CheckedRecord, type ProgramCache, sealProgram } from "../store/stored-program.ts";
import { type JobSubmission, type NewJobsContext, newJob, newTwin } from "./new-jobs.ts";

/** Dependencies of storing new jobs. */
type SubmitContext = NewJobsContext & {
  readonly clock: Clock;
  /** Cache of programs. The program of a new job is put into it, because the job will probably run on this node. */
  readonly programs: Pick<ProgramCache, "put">;
  /** The engine of this node. Present if jobs may run directly after they are stored. */
  readonly engine?: Pick<JobEngine, "reserve" | "wake">;
};

/**
 * A job that was just stored. `isAlone`: true if it may run at once, because neither a question nor a simulation run was stored with it.
 * `isDriven`: true if this node has already begun to run it.
 */
export type SubmittedJob = {
  readonly job: JobRecord;
  readonly programHash: string;
  readonly isAlone: boolean;
  readonly isDriven: boolean;
};

/**
 * Stores a job with its program, first log entries and first task, in one transaction. Also stores the simulation run or the ask that it
 * needs. Then wakes the engine. Returns the new job, an existing job with the same idempotency key, or the reached quota.
 */
export async function submitJob(
  context: SubmitContext,
  submission: JobSubmission,
): Promise<SubmittedJob | { readonly earlier: KeyedJob } | QuotaReached> {
  const nowMs = context.clock.now();
  const { projectId, programJson, programHash, pins, simulateFirst } = submission;
  const digest = digestOf(submission);
  context.programs.put(projectId, digest, submission);
  const id = createId("job", nowMs);
  const main = await newJob(context, { ...submission, id, digest, nowMs }, async () => pins);
  const twin = simulateFirst ? [newTwin(context, submission, { id, digest, nowMs })] : [];
  const program = {
    ...{ projectId, digest, program: null, programHash, pins },
    // Several submissions of the same program may be stored in one batch, and only one of them needs the encrypted program. This getter
    // encrypts the program only when the value is read.
    get sealedProgram() {
      return sealProgram(context.sealer, { projectId, programDigest: digest }, programJson);
    },
  };
  const record = recordOfNewJob(main);
  const stored = await storeAndDrive(context, { program, main, record, twin, nowMs, checked: submission });
  if ("isDriven" in stored) {
    return { job: record, programHash, isAlone: main.job.status === "queued", ...stored };
  }
  return "quotaReached" in stored ? stored : { earlier: stored };
}

const digests = new WeakMap<Program, Pick<JobSubmission, "programJson" | "pins"> & { readonly digest: Buffer }>();

/** Returns the digest of a submission's program. The digest is cached with the program, because submissions of the same text share it. */
function digestOf({ program, programJson, pins }: JobSubmission): Buffer {
  const known = digests.get(program);
  if (known?.programJson === programJson && known.pins === pins) return known.digest;
  const digest = programDigest(programJson, pins);
  digests.set(program, { programJson, pins, digest });
  return digest;
}

type NewJobs = {
  readonly program: NewJobProgram;
  readonly main: NewJob;
  readonly record: JobRecord;
  readonly twin: readonly NewJob[];
  readonly nowMs: number;
  readonly checked: CheckedRecord & Pick<JobSubmission, "seen">;
};

/**
 * Stores a job and starts it. If this node has a free slot, the job is stored with a lease of this node (reserved for it), so that the node
 * need not search for it. If an idempotency key was repeated or a quota is reached, stores nothing and returns the existing job or the
 * quota.
 */
async function storeAndDrive(
  { db, engine }: SubmitContext,
  { program, main, record, twin, nowMs, checked }: NewJobs,
): Promise<KeyedJob | QuotaReached | Pick<SubmittedJob, "isDriven">> {
  const kept = main.job.status === "queued" ? engine?.reserve(program.projectId, checked.program) : undefined;
  // If planning fails, the job is stored without a plan. Its driver then gets the same error and reports it.
  const planned = await kept?.plan(record, checked, checked.seen).catch(() => undefined);
  const first = { ...(planned === undefined ? main : begun(main, planned)), lease: kept?.lease };
  const [stored, readied] = await Promise.allSettled([
    insertJobs(db, program, [first, ...twin], nowMs),
    planned && readyFirst(planned),
  ]);
  const call = readied.status === "fulfilled" ? readied.value : undefined;
  const earlier = stored.status === "fulfilled" ? stored.value : undefined;
  if (stored.status === "rejected" || earlier !== undefined) {
    call?.cancel();
    kept?.cancel();
  }
  if (stored.status === "rejected") throw stored.reason;
  if (earlier !== undefined) return earlier;
  if (kept === undefined) engine?.wake();
  else kept.begin(record, planned && { ...planned, beginning: { work: planned.beginning.work, call } });
  return { isDriven: kept !== undefined };
}

/** Returns the new job's first call, ready to be sent. Undefined if the job does not begin with a call. */
async function readyFirst({ beginning: { call, ready } }: PlannedJob): Promise<ReadyAttempt | undefined> {
  if (ready === undefined) return call;
  // A read is prepared here, while the database stores the job.
  await setImmediate();
  return ready();
}

/** Returns the new job after its first changes, which were planned before it is stored. For example, its status is then running. */
function begun(main: NewJob, { change }: PlannedJob): NewJob {
  const { job, events, steps, begunCall } = change;
  const { status, progress } = job;
  return {
    ...main,
    job: { ...main.job, status, progress: progress && Buffer.from(progress) },
    events: [...main.events, ...events],
    steps,
    begunCall,
  };
}
