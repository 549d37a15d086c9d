import { JobSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { messageText } from "../text/message.ts";
import { standingText } from "./text.ts";
import { addWatchOptions, type WatchOptions, watchJob, watchNotes } from "./watch/watch-job.ts";

type RetryOptions = WatchOptions & {
  from?: string;
  params?: string;
  resendUnknown?: true;
  idempotencyKey?: string;
  watch?: true;
};

/** Adds `svc jobs retry`. */
export function addJobRetry(jobs: Command, context: CommandContext): void {
  const retry = jobs
    .command("retry")
    .description(
      "take a job on that failed, expired, was aborted or cancelled: what ended well stays, the rest is done again",
    )
    .argument("<id>", "id of the job, job_…")
    .option("--from <step>", "go back to an earlier step first, as long as nothing was written since")
    .option("--params <json>", 'other values for params of the program, such as {"minValue": 1000}')
    .option("--resend-unknown", "send writes again whose outcome is unknown; without it they stay in doubt")
    .option("--idempotency-key <text>", "makes retrying safe to repeat: with the same key it is the same attempt")
    .option("--watch", "show its progress to its end")
    .action((id: string, options: RetryOptions) => retryJob(id, options, context));
  addProjectOptions(addWatchOptions(retry)).addHelpText("after", watchNotes);
  addExamples(retry, [
    "svc jobs retry job_01h455vb4pex5vsknk084sn02q --watch",
    "svc jobs retry job_01h455vb4pex5vsknk084sn02q --from large --params '{\"minValue\": 1000}'",
  ]);
}

async function retryJob(id: string, options: RetryOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const { job } = await client.jobs.retryJob({
    id,
    fromStepId: options.from ?? "",
    paramsJson: options.params ?? "",
    resendUnknown: options.resendUnknown ?? false,
    idempotencyKey: options.idempotencyKey ?? "",
  });
  if (job === undefined) return;
  if (options.watch) return watchJob(client, id, { options, context });
  context.print(options.json ? messageText(JobSchema, job) : `${id} is ${standingText(job)}, attempt ${job.attempt}`);
}
