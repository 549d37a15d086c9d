import { JobSchema, JobsService } from "@svc/gen/jobs";
import { command, type Run } from "../../command/declared.ts";
import { messageText } from "../../text/message.ts";
import { standingText } from "./text.ts";
import { type WatchOptions, watchJob, watchParts } from "./watch/watch-job.ts";

type RetryOptions = WatchOptions & {
  from?: string;
  params?: string;
  resendUnknown?: true;
  idempotencyKey?: string;
  watch?: true;
};

/** Adds `svc jobs retry`. */
export const addJobRetry = command(
  JobsService.method.retryJob,
  {
    says: "take a job on that failed, expired, was aborted or cancelled: what ended well stays, the rest is done again",
    takes: { "<id>": "id of the job, job_…" },
    options: [
      ["--from <step>", "go back to an earlier step first, as long as nothing was written since"],
      ["--params <json>", 'other values for params of the program, such as {"minValue": 1000}'],
      ["--resend-unknown", "send writes again whose outcome is unknown; without it they stay in doubt"],
      ["--idempotency-key <text>", "makes retrying safe to repeat: with the same key it is the same attempt"],
      ["--watch", "show its progress to its end"],
    ],
    ...watchParts,
    examples: [
      "svc jobs retry job_01h455vb4pex5vsknk084sn02q --watch",
      "svc jobs retry job_01h455vb4pex5vsknk084sn02q --from large --params '{\"minValue\": 1000}'",
    ],
  },
  async ({ values: options, context, project, asJson }: Run<RetryOptions & { readonly id: string }>) => {
    const { id } = options;
    const client = await project();
    const { job } = await client.jobs.retryJob({
      id,
      fromStepId: options.from ?? "",
      paramsJson: options.params ?? "",
      resendUnknown: options.resendUnknown ?? false,
      idempotencyKey: options.idempotencyKey ?? "",
    });
    if (job === undefined) return;
    if (options.watch) return watchJob(client, id, { options, context });
    context.print(asJson ? messageText(JobSchema, job) : `${id} is ${standingText(job)}, attempt ${job.attempt}`);
  },
);
