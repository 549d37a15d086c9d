import type { Id, ProjectId } from "@svc/core";
import type { CallRecord } from "../calls/repo.ts";
import type { Executor } from "../connect.ts";
import type { FirstLease, NewJobTask } from "../job-tasks/task.ts";
import type { jobs } from "../schema/jobs.ts";
import { compareKeys } from "../sql/filter.ts";
import type { NewJobStep } from "./commit-job.ts";
import type { JobProgramRecord } from "./load.ts";
import type { NewJobEvent } from "./record.ts";

/** A job to store, with its first log entries and tasks. */
export type NewJob = {
  readonly job: typeof jobs.$inferInsert;
  readonly events: readonly NewJobEvent[];
  readonly tasks: readonly NewJobTask[];
  /**
   * The lease (time in which only one node may work on a job) of the node that stores the job and runs it at once. If undefined, any node
   * may take the job.
   */
  readonly lease?: FirstLease | undefined;
  /** Results of the job's first step, if the job begins together with its submission. */
  readonly steps?: readonly NewJobStep[] | undefined;
  /** The first tool call of the job. Its record is stored together with the job, before the node sends the call. */
  readonly begunCall?: CallRecord | undefined;
  /** Other writes of the same transaction, such as the ask for a plan's approval. */
  readonly also?: ((tx: Executor) => Promise<void>) | undefined;
};

/** A program to store for new jobs. If the project already has the same program, nothing is stored. */
export type NewJobProgram = JobProgramRecord & { readonly projectId: ProjectId; readonly digest: Buffer };

/**
 * Returns the programs in the order of their keys. Two statements that store the same programs then lock them in the same order and do not
 * deadlock.
 */
export function inOrderOfKeys(programs: readonly NewJobProgram[]): NewJobProgram[] {
  const keyOf = ({ projectId, digest }: NewJobProgram) => [projectId, digest.toString("hex")];
  return programs.toSorted((a, b) => compareKeys(keyOf(a), keyOf(b)));
}

/** The job that has already used an idempotency key. `contentDigest`: digest of the request that submitted this job. */
export type KeyedJob = { readonly id: Id<"job">; readonly contentDigest: Buffer };
