import { AdminService } from "@svc/gen/admin";
import { findProjectId } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { call, list, topic } from "../command/topic.ts";
import { addProjectDelete } from "../custom/erase.ts";
import { addProjectMove } from "../custom/move-project.ts";
import { addProjectPolicy, addProjectQuotas } from "../custom/project-policy.ts";
import { countText, tableLines } from "../text/table.ts";

const { createProject, listProjects, getProjectUsage } = AdminService.method;

/** The commands `svc projects create|delete|move|list|policy|quotas|usage`, with which the administrator handles projects. */
export const addProjectsCommand = topic({
  says: "create, list and delete projects, set their limits, and show their use, as the administrator",
  examples: ["svc projects create billing", "svc projects list"],
  commands: {
    create: call(createProject, {
      says: "create a project and print its id",
      takes: { "<name>": "name of the project, unique in the deployment" },
      result: "project",
      json: "the project as JSON",
      shows: ({ project }) => project?.id ?? "",
      examples: ["svc projects create billing"],
    }),
    delete: addProjectDelete,
    move: addProjectMove,
    list: list(listProjects, {
      says: "list the projects of the deployment, newest first",
      rows: "projects",
      table: { ID: "id", CREATED: "createdAt", NAME: ({ name }) => name },
      json: "the projects with their policies as a JSON list",
      examples: ["svc projects list", "svc projects list --url https://svc.example.com"],
    }),
    policy: addProjectPolicy,
    quotas: addProjectQuotas,
    usage: call(getProjectUsage, {
      says: "show how much a project uses of each of its quotas",
      takes: { "<project>": "id or name of the project" },
      request: async ({ admin, values: { project } }: Run<{ readonly project: string }>) => ({
        projectId: await findProjectId(admin(), project),
      }),
      json: "the usage as JSON",
      shows: ({ quotas, nodeId, calls, posts }, { context }) => {
        const counted = `${countText(calls, "call")} and ${countText(posts, "post")}`;
        context.note(`${nodeId} has received ${counted} since it started`);
        const rows = quotas.map(({ name: quota, used, most, isDefault, scope, refused }) => [
          quota,
          String(used),
          `${most < 0 ? "unlimited" : most}${isDefault ? " (default)" : ""}`,
          scope === "node" ? "this node" : "all nodes",
          String(refused),
        ]);
        return tableLines(["QUOTA", "USED", "MOST", "COUNTED BY", "REFUSED"], rows);
      },
      examples: ["svc projects usage billing"],
    }),
  },
});
