import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addProjectCreate } from "./projects/create.ts";
import { addProjectDelete } from "./projects/delete.ts";
import { addProjectList } from "./projects/list.ts";
import { addProjectPolicy } from "./projects/policy.ts";
import { addProjectQuotas } from "./projects/quotas.ts";
import { addProjectUsage } from "./projects/usage.ts";

/** Adds `svc projects create|delete|list|policy|quotas|usage`. */
export function addProjectsCommand(program: Command, context: CommandContext): void {
  const projects = program
    .command("projects")
    .description(
      "create, list and delete projects, set what they are held to, and see what they use, as the administrator",
    );
  addExamples(projects, ["svc projects create billing", "svc projects list"]);
  addProjectCreate(projects, context);
  addProjectDelete(projects, context);
  addProjectList(projects, context);
  addProjectPolicy(projects, context);
  addProjectQuotas(projects, context);
  addProjectUsage(projects, context);
}
