import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import { addProjectOptions, connectProject, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { hasEnded, statusText } from "./job-text.ts";

/** Adds `svc jobs cancel`. */
export function addJobCancel(jobs: Command, context: CommandContext): void {
  const cancel = jobs
    .command("cancel")
    .description("end a job before its end; what its saga declares for that is undone")
    .argument("<id>", "id of the job, job_…")
    .action(async (id: string, options: ProjectOptions) => {
      const { jobs: client } = await connectProject(options, context);
      const { job } = await client.cancelJob({ id });
      if (job === undefined) return;
      context.print(`${id} is ${statusText(job.status)}`);
      if (!hasEnded(job))
        context.note(`It ends once what it has under way is done. \`svc jobs watch ${id}\` follows it.`);
    });
  addExamples(addProjectOptions(cancel), ["svc jobs cancel job_01h455vb4pex5vsknk084sn02q"]);
}

type PromoteOptions = ProjectOptions & { slug: string; description: string };

/** Adds `svc jobs promote`. */
export function addJobPromote(jobs: Command, context: CommandContext): void {
  const promote = jobs
    .command("promote")
    .description("make a tool of the program of a job that succeeded, and print the tool's slug")
    .argument("<id>", "id of a live job that succeeded and whose program has an inputSchema, job_…")
    .requiredOption("--slug <name>", "name of the skill: remind_guests becomes skills.remind_guests")
    .requiredOption("--description <text>", "what it does, for a model that must choose, up to 1,000 characters")
    .action(async (jobId: string, options: PromoteOptions) => {
      const { jobs: client } = await connectProject(options, context);
      const { slug, description } = options;
      const { tool } = await client.promoteJob({ jobId, slug, description });
      if (tool === undefined) return;
      context.print(tool.slug);
      context.note(`\`svc catalog show ${tool.slug}\` shows its input; \`svc call ${tool.slug}\` submits a job of it.`);
    });
  addExamples(addProjectOptions(promote), [
    "svc jobs promote job_01h455vb4pex5vsknk084sn02q --slug remind_guests --description 'Reminds guests of invitations'",
  ]);
}
