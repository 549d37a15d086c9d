import { JobsService, type RerunJobResponse, RerunJobResponseSchema } from "@svc/gen/jobs";
import { command, type Run } from "../../command/declared.ts";
import { messageText } from "../../text/message.ts";
import { plainText } from "../../text/plain.ts";
import { type WatchOptions, watchJob, watchParts } from "./watch/watch-job.ts";

type RerunOptions = WatchOptions & {
  input?: string;
  params?: string;
  repin?: true;
  idempotencyKey?: string;
  watch?: true;
};

/** Adds `svc jobs rerun`. */
export const addJobRerun = command(
  JobsService.method.rerunJob,
  {
    says: "submit the program of a job again as a new job; print its id, and what changed of its tools since",
    takes: { "<id>": "id of the job, job_…" },
    options: [
      ["--input <json>", "another input, by the program's inputSchema; without it that of the job"],
      ["--params <json>", 'other values for params of the program, such as {"minValue": 1000}'],
      ["--repin", "run on the definitions of today, and not on those that the job ran on"],
      ["--idempotency-key <text>", "makes it safe to repeat: with the same key it is the same new job"],
      ["--watch", "show its progress to its end"],
    ],
    ...watchParts,
    examples: [
      "svc jobs rerun job_01h455vb4pex5vsknk084sn02q --watch",
      'svc jobs rerun job_01h455vb4pex5vsknk084sn02q --repin --input \'{"calendar": "primary"}\'',
    ],
  },
  async ({ values: options, context, project, asJson }: Run<RerunOptions & { readonly id: string }>) => {
    const { id } = options;
    const client = await project();
    const rerun = await client.jobs.rerunJob({
      id,
      inputJson: options.input ?? "",
      paramsJson: options.params ?? "",
      repin: options.repin ?? false,
      idempotencyKey: options.idempotencyKey ?? "",
    });
    for (const line of driftLines(rerun)) context.note(line);
    if (rerun.job === undefined) return;
    if (options.watch) {
      context.note(rerun.job.id);
      return watchJob(client, rerun.job.id, { options, context });
    }
    context.print(asJson ? messageText(RerunJobResponseSchema, rerun) : rerun.job.id);
  },
);

function driftLines({ drift }: RerunJobResponse): string[] {
  return drift.map(({ toolSlug, what, before, after }) => {
    if (what === "gone") return `${toolSlug} is in the catalog no more`;
    const isShort = what === "version" || what === "accessClass";
    return `${toolSlug} has another ${what}${isShort ? `: ${plainText(before)}, and now ${plainText(after)}` : ""}`;
  });
}
