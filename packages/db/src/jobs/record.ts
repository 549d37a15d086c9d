import { type ReceiptDocument, wholeReceipt } from "../documents/jobs.ts";
import type { LogEntry } from "../documents/log-entries.ts";
import { type jobEvents, type jobSteps, jobs } from "../schema/jobs.ts";
import { type NewRow, namesBut, type Row } from "../sql/codec.ts";
import { type PackedList, packedList } from "../sql/select-list.ts";
import { chainOfJob } from "./principals.ts";

/**
 * Columns of a job that svc reads to run or show the job. Left out are the columns that only serve to recognize repeated requests, or to
 * count refused answers.
 */
export const jobNames = namesBut(jobs, "idempotencyKey", "contentDigest", "refusedAnswers", "childKey");

/** A job as its database row contains it, without columns that only serve to recognize repeated requests. */
export type JobRecord = Omit<Row<typeof jobs, (typeof jobNames)[number]>, "receipt"> & {
  receipt: ReceiptDocument | null;
};

const packed = packedList(jobs, jobNames, "j");

/**
 * The columns of a job: their SQL list, for statements in which the job's row has the name `j`, and a function that decodes a row with these
 * columns.
 */
export const jobColumns: PackedList<JobRecord> = {
  text: packed.text,
  read(row) {
    const job = packed.read(row);
    if (job.principalChain.length === 0) job.principalChain = chainOfJob(job);
    return Object.assign(job, { receipt: job.receipt && wholeReceipt(job.receipt, job.estimate) });
  },
};

/** A stored step of a job: its receipt (state, times and counts) and its output. The output is encrypted. */
export type JobStepRecord = Omit<Row<typeof jobSteps>, "jobId">;

/** An entry of a job's log. */
export type JobEventRecord = Omit<Row<typeof jobEvents>, "principalChain" | "following"> & {
  readonly principalChain: string[];
};

/** A new entry of a job's log, before it gets its number. `principalChain`: the keys and programs that caused it. */
export type NewJobEvent = LogEntry & Pick<NewRow<typeof jobEvents>, "principalChain">;
