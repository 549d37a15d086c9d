import { JobSchema } from "@svc/gen/jobs";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { findProjectId } from "../projects/find-project.ts";
import { messageText } from "../text/message.ts";
import { standingText } from "./text.ts";

/** Adds `svc jobs release`. */
export function addJobRelease(jobs: Command, context: CommandContext): void {
  const release = jobs
    .command("release")
    .description("let a job go on that was parked by an administrator, or by the service as poisoned")
    .argument("<id>", "id of the job, job_…")
    .option("--project <id or name>", "project that the job belongs to", "default")
    .action(async (id: string, options: AdminOptions & JsonOption & { project: string }) => {
      const client = openAdminClient(options, context);
      const projectId = await findProjectId(client, options.project);
      const { job } = await client.admin.releaseJob({ projectId, jobId: id });
      if (job === undefined) return;
      context.print(options.json ? messageText(JobSchema, job) : `${id} is ${standingText(job)}`);
    });
  addExamples(addAdminOptions(addJson(release, "the job as JSON")), [
    "svc jobs release job_01h455vb4pex5vsknk084sn02q",
    "svc jobs release job_01h455vb4pex5vsknk084sn02q --project billing",
  ]);
}
