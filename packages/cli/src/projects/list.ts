import { ProjectSchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";
import { listProjects } from "./find-project.ts";

/** Adds `svc projects list`. */
export function addProjectList(projects: Command, context: CommandContext): void {
  const list = projects
    .command("list")
    .description("list the projects of the deployment, newest first")
    .action(async (options: AdminOptions & JsonOption) => {
      const found = await listProjects(openAdminClient(options, context));
      if (options.json) return context.print(messageListText(ProjectSchema, found));
      const rows = found.map(({ id, name, createdAt }) => [id, timeText(createdAt), name]);
      for (const line of tableLines(["ID", "CREATED", "NAME"], rows)) context.print(line);
    });
  addExamples(addAdminOptions(addJson(list, "the projects with their policies as a JSON list")), [
    "svc projects list",
    "svc projects list --url https://svc.example.com",
  ]);
}
