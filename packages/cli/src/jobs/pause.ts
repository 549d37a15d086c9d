import { JobSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { standingText } from "./text.ts";

/** Adds `svc jobs pause`. */
export function addJobPause(jobs: Command, context: CommandContext): void {
  const pause = jobs
    .command("pause")
    .description("stop a job between two of its acts, and its deadline's clock, until it is resumed")
    .argument("<id>", "id of the job, job_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { jobs: client } = await openProjectClient(options, context);
      const { job } = await client.pauseJob({ id });
      if (job === undefined) return;
      context.print(options.json ? messageText(JobSchema, job) : `${id} is ${standingText(job)}`);
      if (job.park?.reason !== "paused")
        context.note("It is paused once what it has under way, or waits for, is over.");
      context.note(`\`svc jobs resume ${id}\` lets it go on, \`svc jobs cancel ${id}\` ends it.`);
    });
  addExamples(addProjectOptions(addJson(pause, "the job as JSON")), ["svc jobs pause job_01h455vb4pex5vsknk084sn02q"]);
}
