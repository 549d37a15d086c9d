import { JobSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { hasEnded, statusText } from "./text.ts";

/** Adds `svc jobs cancel`. */
export function addJobCancel(jobs: Command, context: CommandContext): void {
  const cancel = jobs
    .command("cancel")
    .description("end a job before its end; what its saga declares for that is undone")
    .argument("<id>", "id of the job, job_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { jobs: client } = await openProjectClient(options, context);
      const { job } = await client.cancelJob({ id });
      if (job === undefined) return;
      context.print(options.json ? messageText(JobSchema, job) : `${id} is ${statusText(job.status)}`);
      if (!hasEnded(job))
        context.note(`It ends once what it has under way is done. \`svc jobs watch ${id}\` follows it.`);
    });
  addExamples(addProjectOptions(addJson(cancel, "the job as JSON")), [
    "svc jobs cancel job_01h455vb4pex5vsknk084sn02q",
  ]);
}
