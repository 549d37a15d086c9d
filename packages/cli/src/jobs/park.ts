import { JobSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { findProjectId } from "../projects/find-project.ts";
import { messageText } from "../text/message.ts";
import { standingText } from "./text.ts";

/** Adds `svc jobs park`. */
export function addJobPark(jobs: Command, context: CommandContext): void {
  const park = jobs
    .command("park")
    .description("take a job from the node that drives it, even from one that hangs, until it is released or cancelled")
    .argument("<id>", "id of the job, job_…")
    .option("--project <id or name>", "project that the job belongs to", "default")
    .action(async (id: string, options: AdminOptions & JsonOption & { project: string }) => {
      const client = openAdminClient(options, context);
      const projectId = await findProjectId(client, options.project);
      const { job } = await client.admin.parkJob({ projectId, jobId: id });
      if (job === undefined) return;
      context.print(options.json ? messageText(JobSchema, job) : `${id} is ${standingText(job)}`);
      context.note(`\`svc jobs release ${id}\` lets it go on, \`svc jobs cancel ${id}\` ends it.`);
    });
  addExamples(addAdminOptions(addJson(park, "the job as JSON")), [
    "svc jobs park job_01h455vb4pex5vsknk084sn02q",
    "svc jobs park job_01h455vb4pex5vsknk084sn02q --project billing",
  ]);
}
