import { JobSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { standingText } from "./text.ts";

/** Adds `svc jobs resume`. */
export function addJobResume(jobs: Command, context: CommandContext): void {
  const resume = jobs
    .command("resume")
    .description("let a paused job go on where it stood")
    .argument("<id>", "id of the job, job_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { jobs: client } = await openProjectClient(options, context);
      const { job } = await client.resumeJob({ id });
      if (job === undefined) return;
      context.print(options.json ? messageText(JobSchema, job) : `${id} is ${standingText(job)}`);
    });
  addExamples(addProjectOptions(addJson(resume, "the job as JSON")), [
    "svc jobs resume job_01h455vb4pex5vsknk084sn02q",
  ]);
}
