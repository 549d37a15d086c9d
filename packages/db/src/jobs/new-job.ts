import type { Id, ProjectId } from "@svc/core";
import type { CallRecord } from "../calls/repo.ts";
import type { Executor } from "../connect.ts";
import type { FirstLease, NewJobTask } from "../job-tasks/task.ts";
import type { jobs } from "../schema/jobs.ts";
import { compareKeys } from "../sql/filter.ts";
import type { NewJobStep } from "./commit-job.ts";
import type { JobProgramRecord } from "./load.ts";
import type { NewJobEvent } from "./record.ts";

/** A job that is to be stored, with the beginning of its log and its first work. */
export type NewJob = {
  readonly job: typeof jobs.$inferInsert;
  readonly events: readonly NewJobEvent[];
  readonly tasks: readonly NewJobTask[];
  /** Who holds its tasks from the beginning; by default whoever claims them. */
  readonly lease?: FirstLease | undefined;
  /** What its first step has done already, for a job that begins with its submission. */
  readonly steps?: readonly NewJobStep[] | undefined;
  /** Its call that is about to be sent. */
  readonly begunCall?: CallRecord | undefined;
  /** What else is written in the same transaction, such as the ask of a plan's approval. */
  readonly also?: ((tx: Executor) => Promise<void>) | undefined;
};

/** A program that is to be stored, unless it is there. */
export type NewJobProgram = JobProgramRecord & { readonly projectId: ProjectId; readonly digest: Buffer };

/** Programs in the order in which several are stored: two statements that store the same ones wait for each other in it. */
export function inOrderOfKeys(programs: readonly NewJobProgram[]): NewJobProgram[] {
  const keyOf = ({ projectId, digest }: NewJobProgram) => [projectId, digest.toString("hex")];
  return programs.toSorted((a, b) => compareKeys(keyOf(a), keyOf(b)));
}

/** The job that an idempotency key names already, and the digest of what it was submitted with. */
export type KeyedJob = { readonly id: Id<"job">; readonly contentDigest: Buffer };
