import { AdminService } from "@svc/gen/admin";
import type { AdminOptions } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import type { JsonOption } from "../../command/options.ts";
import { confirmErasure, type ErasureOptions, followErasure } from "../erase.ts";
import { findProject } from "./find-project.ts";

/** Adds `svc projects delete`. */
export const addProjectDelete = command(
  AdminService.method.deleteProject,
  {
    says: "end a project's keys and delete everything that is its own",
    takes: { "<project>": "id or name of the project" },
    options: [
      ["--yes", "do not ask"],
      ["--no-wait", "print the id of the erasure and do not wait for its end"],
    ],
    json: "the erasure as JSON",
    examples: ["svc projects delete billing", "svc projects delete billing --yes --no-wait"],
  },
  async ({
    values: options,
    context,
    admin,
  }: Run<AdminOptions & JsonOption & ErasureOptions & { readonly project: string }>) => {
    const { project } = options;

    const client = admin();
    const { id, name } = await findProject(client, project);
    await confirmErasure(`project "${name}" with all it has`, options, context);
    const { erasure } = await client.admin.deleteProject({ projectId: id });
    await followErasure(client, erasure, options, context);
  },
);
