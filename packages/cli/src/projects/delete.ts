import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { confirmErasure, type ErasureOptions, followErasure } from "../erase/follow.ts";
import { findProject } from "./find-project.ts";

/** Adds `svc projects delete`. */
export function addProjectDelete(projects: Command, context: CommandContext): void {
  const remove = projects
    .command("delete")
    .description("end a project's keys and delete everything that is its own")
    .argument("<project>", "id or name of the project")
    .option("--yes", "do not ask")
    .option("--no-wait", "print the id of the erasure and do not wait for its end")
    .action(async (project: string, options: AdminOptions & JsonOption & ErasureOptions) => {
      const client = openAdminClient(options, context);
      const { id, name } = await findProject(client, project);
      await confirmErasure(`project "${name}" with all it has`, options, context);
      const { erasure } = await client.admin.deleteProject({ projectId: id });
      await followErasure(client, erasure, options, context);
    });
  addExamples(addAdminOptions(addJson(remove, "the erasure as JSON")), [
    "svc projects delete billing",
    "svc projects delete billing --yes --no-wait",
  ]);
}
