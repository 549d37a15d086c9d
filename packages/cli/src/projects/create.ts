import { ProjectSchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";

/** Adds `svc projects create`. */
export function addProjectCreate(projects: Command, context: CommandContext): void {
  const create = projects
    .command("create")
    .description("create a project and print its id")
    .argument("<name>", "name of the project, unique in the deployment")
    .action(async (name: string, options: AdminOptions & JsonOption) => {
      const { project } = await openAdminClient(options, context).admin.createProject({ name });
      if (project === undefined) return;
      context.print(options.json ? messageText(ProjectSchema, project) : project.id);
    });
  addExamples(addAdminOptions(addJson(create, "the project as JSON")), ["svc projects create billing"]);
}
