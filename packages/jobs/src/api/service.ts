import type { ServiceImpl } from "@connectrpc/connect";
import { type AskServiceContext, askMethods, askPort } from "@svc/asks";
import type { JobsService } from "@svc/gen/jobs";
import { attemptMethods } from "./attempts.ts";
import type { JobsContext } from "./context.ts";
import { toReceipt } from "./convert-receipts.ts";
import { jobMethods } from "./jobs.ts";
import { logMethods } from "./log.ts";
import { narrowJobs } from "./narrow.ts";
import { pauseMethods } from "./pauses.ts";
import { readJob } from "./read.ts";
import { skillMethods } from "./skills.ts";
import { stepMethods } from "./steps.ts";
import { undoMethods } from "./undo-entries.ts";

/** What JobsService works with: what jobs need, and what their asks need. */
export type JobsServiceOptions = Omit<JobsContext, "asks"> & Omit<AskServiceContext, "readJob" | "receiptMessage">;

/** JobsService over one store; every method takes its project from the calling key. */
export function createJobsService(options: JobsServiceOptions): ServiceImpl<typeof JobsService> {
  const context: JobsContext = { ...options, asks: askPort };
  const asks = askMethods({
    ...options,
    readJob: (projectId, jobId) => readJob(options, projectId, "jobId", jobId),
    receiptMessage: toReceipt,
  });
  const jobs = {
    ...jobMethods(context),
    ...pauseMethods(context),
    ...attemptMethods(context),
    ...stepMethods(context),
    ...undoMethods(context),
    ...logMethods(context),
    ...skillMethods(context),
  };
  return narrowJobs(options.db, { ...jobs, ...asks });
}
