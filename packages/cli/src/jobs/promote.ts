import { ToolSchema } from "@svc/gen/catalog";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";

type PromoteOptions = ProjectOptions & JsonOption & { slug: string; description: string; newVersion?: true };

/** Adds `svc jobs promote`. */
export function addJobPromote(jobs: Command, context: CommandContext): void {
  const promote = jobs
    .command("promote")
    .description("make a tool of the program of a job that succeeded, and print the tool's slug")
    .argument("<id>", "id of a live job that succeeded and whose program has an inputSchema, job_…")
    .requiredOption("--slug <name>", "name of the skill: remind_guests becomes skills.remind_guests")
    .requiredOption("--description <text>", "what it does, for a model that must choose, up to 1,000 characters")
    .option("--new-version", "make the next version of a skill that exists")
    .action(async (jobId: string, options: PromoteOptions) => {
      const { jobs: client } = await openProjectClient(options, context);
      const { slug, description, newVersion = false } = options;
      const { tool, version } = await client.promoteJob({ jobId, slug, description, newVersion });
      if (tool === undefined) return;
      context.print(options.json ? messageText(ToolSchema, tool) : tool.slug);
      if (newVersion) context.note(`It is version ${version} from now on.`);
      context.note(`\`svc catalog show ${tool.slug}\` shows its input; \`svc call ${tool.slug}\` submits a job of it.`);
    });
  addExamples(addProjectOptions(addJson(promote, "the tool as JSON")), [
    "svc jobs promote job_01h455vb4pex5vsknk084sn02q --slug remind_guests --description 'Reminds guests of invitations'",
    "svc jobs promote job_01h455vb4pex5vsknk084sn02q --slug remind_guests --description 'Reminds them' --new-version",
  ]);
}
