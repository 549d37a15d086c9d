import { GetProjectUsageResponseSchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { countText, tableLines } from "../text/table.ts";
import { findProjectId } from "./find-project.ts";

/** Adds `svc projects usage`. */
export function addProjectUsage(projects: Command, context: CommandContext): void {
  const usage = projects
    .command("usage")
    .description("show what a project uses of each of its quotas")
    .argument("<project>", "id or name of the project")
    .action((project: string, options: AdminOptions & JsonOption) => showUsage(project, options, context));
  addExamples(addAdminOptions(addJson(usage, "the usage as JSON")), ["svc projects usage billing"]);
}

async function showUsage(name: string, options: AdminOptions & JsonOption, context: CommandContext): Promise<void> {
  const client = openAdminClient(options, context);
  const usage = await client.admin.getProjectUsage({ projectId: await findProjectId(client, name) });
  if (options.json) return context.print(messageText(GetProjectUsageResponseSchema, usage));
  const rows = usage.quotas.map(({ name: quota, used, most, isDefault, scope, refused }) => [
    quota,
    String(used),
    `${most < 0 ? "unlimited" : most}${isDefault ? " (default)" : ""}`,
    scope === "node" ? "this node" : "all nodes",
    String(refused),
  ]);
  for (const line of tableLines(["QUOTA", "USED", "MOST", "COUNTED BY", "REFUSED"], rows)) context.print(line);
  context.note(
    `${usage.nodeId} has taken ${countText(usage.calls, "call")} and ${countText(usage.posts, "post")} since it began`,
  );
}
