import { JobSchema, JobsService, type RerunJobResponse, RerunJobResponseSchema } from "@svc/gen/jobs";
import { command, type Run } from "../../command/declared.ts";
import { messageText } from "../../text/message.ts";
import { plainText } from "../../text/plain.ts";
import { standingText } from "./text.ts";
import { type WatchOptions, watchJob, watchParts } from "./watch/watch-job.ts";

/**
 * The command `svc jobs retry`, which continues a job that failed, expired, was aborted or was cancelled: successful parts stay, and the
 * rest runs again.
 */
export const addJobRetry = command(
  JobsService.method.retryJob,
  {
    says: "continue a job that failed, expired, was aborted or cancelled: successful parts stay, the rest runs again",
    takes: { "<id>": "id of the job, job_…" },
    options: [
      ["--from <step>", "go back to an earlier step first; refused if a write was made since", { fills: "fromStepId" }],
      [
        "--params <json>",
        'other values for params of the program, such as {"minValue": 1000}',
        { fills: "paramsJson" },
      ],
      ["--resend-unknown", "send writes with unknown outcome again; without it they stay in doubt"],
      ["--idempotency-key <text>", "make the retry safe to repeat: with the same key it is the same attempt"],
      ["--watch", "show its progress until it ends"],
    ],
    ...watchParts,
    examples: [
      "svc jobs retry job_01h455vb4pex5vsknk084sn02q --watch",
      "svc jobs retry job_01h455vb4pex5vsknk084sn02q --from large --params '{\"minValue\": 1000}'",
    ],
  },
  async (
    { values, context, project, asJson }: Run<WatchOptions & { readonly id: string; readonly watch?: true }>,
    request,
  ) => {
    const { id, watch } = values;
    const client = await project();
    const { job } = await client.jobs.retryJob(request);
    if (job === undefined) return;
    if (watch) return watchJob(client, id, { options: values, context });
    context.print(asJson ? messageText(JobSchema, job) : `${id} is ${standingText(job)}, attempt ${job.attempt}`);
  },
);

/** The command `svc jobs rerun`, which submits the program of a job again as a new job. */
export const addJobRerun = command(
  JobsService.method.rerunJob,
  {
    says: "submit the program of a job again as a new job; print its id, and how its tools have changed",
    takes: { "<id>": "id of the job, job_…" },
    options: [
      [
        "--input <json>",
        "another input, by the program's inputSchema (default: that of the job)",
        { fills: "inputJson" },
      ],
      [
        "--params <json>",
        'other values for params of the program, such as {"minValue": 1000}',
        { fills: "paramsJson" },
      ],
      ["--repin", "use today's definitions instead of those of the job"],
      ["--idempotency-key <text>", "make the command safe to repeat: with the same key, svc returns the same new job"],
      ["--watch", "show its progress until it ends"],
    ],
    ...watchParts,
    examples: [
      "svc jobs rerun job_01h455vb4pex5vsknk084sn02q --watch",
      'svc jobs rerun job_01h455vb4pex5vsknk084sn02q --repin --input \'{"calendar": "primary"}\'',
    ],
  },
  async ({ values, context, project, asJson }: Run<WatchOptions & { readonly watch?: true }>, request) => {
    const client = await project();
    const rerun = await client.jobs.rerunJob(request);
    for (const line of driftLines(rerun)) context.note(line);
    if (rerun.job === undefined) return;
    const { id } = rerun.job;
    if (!values.watch) return context.print(asJson ? messageText(RerunJobResponseSchema, rerun) : id);
    context.note(id);
    await watchJob(client, id, { options: values, context });
  },
);

function driftLines({ drift }: RerunJobResponse): string[] {
  return drift.map(({ toolSlug, what, before, after }) => {
    if (what === "gone") return `${toolSlug} is no longer in the catalog`;
    const isShort = what === "version" || what === "accessClass";
    return `${toolSlug} has another ${what}${isShort ? `: ${plainText(before)}, and now ${plainText(after)}` : ""}`;
  });
}
