import type { SvcAdminClient } from "@svc/sdk";
import { type Command, Option } from "commander";
import type { CommandContext } from "./command-context.ts";
import { CommandError } from "./command-error.ts";
import { type AdminOptions, addAdminOptions, connectAdmin } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { tableLines, timeText } from "./output.ts";
import { collectPages } from "./pages.ts";

type PolicyOptions = AdminOptions & { redirectUrl: readonly string[]; planApproval: string };

/** Adds `svc projects create|list|policy`. */
export function addProjectsCommand(program: Command, context: CommandContext): void {
  const projects = program
    .command("projects")
    .description("create and list projects, and set what they are held to, as the administrator");
  addExamples(projects, ["svc projects create billing", "svc projects list"]);

  const create = projects
    .command("create")
    .description("create a project and print its id")
    .argument("<name>", "name of the project, unique in the deployment")
    .action(async (name: string, options: AdminOptions) => {
      const { project } = await connectAdmin(options, context).admin.createProject({ name });
      context.print(project?.id ?? "");
    });
  addExamples(addAdminOptions(create), ["svc projects create billing"]);

  const list = projects
    .command("list")
    .description("list the projects of the deployment, newest first")
    .action(async (options: AdminOptions) => {
      const found = await listProjects(connectAdmin(options, context));
      const rows = found.map(({ id, name, createdAt }) => [id, timeText(createdAt), name]);
      for (const line of tableLines(["ID", "CREATED", "NAME"], rows)) context.print(line);
    });
  addExamples(addAdminOptions(list), ["svc projects list", "svc projects list --url https://svc.example.com"]);
  addPolicy(projects, context);
}

function addPolicy(projects: Command, context: CommandContext): void {
  const policy = projects
    .command("policy")
    .description("set the policy of a project as a whole: what is not given returns to its default")
    .argument("<project>", "id or name of the project")
    .option("--redirect-url <url>", "where browsers may be sent after consent, again for a further one", collect, [])
    .addOption(
      new Option("--plan-approval <least>", "the least approval that the plans of its jobs need")
        .choices(["never", "destructive", "always"])
        .default("never"),
    )
    .action((project: string, options: PolicyOptions) => setPolicy(project, options, context));
  addExamples(addAdminOptions(policy), [
    "svc projects policy default --redirect-url https://app.example.com/connected",
    "svc projects policy billing --plan-approval destructive",
  ]);
}

async function setPolicy(project: string, options: PolicyOptions, context: CommandContext): Promise<void> {
  const client = connectAdmin(options, context);
  const { redirectUrl: redirectUrls, planApproval } = options;
  const projectId = await findProjectId(client, project);
  await client.admin.setProjectPolicy({ projectId, planApproval, redirectUrls: [...redirectUrls] });
  context.print(`redirect URLs  ${redirectUrls.join(", ") || "loopback only"}`);
  context.print(`plan approval  ${planApproval}`);
}

function collect(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

/** The id of the project that a user names by id or by name. Rejects with CommandError when no project has that name. */
export async function findProjectId(client: SvcAdminClient, idOrName: string): Promise<string> {
  if (idOrName.startsWith("prj_")) return idOrName;
  const found = await listProjects(client);
  const project = found.find(({ name }) => name === idOrName);
  if (project !== undefined) return project.id;
  throw new CommandError(`there is no project "${idOrName}"; \`svc projects list\` shows those there are`);
}

function listProjects({ admin }: SvcAdminClient) {
  return collectPages(async (pageToken) => {
    const { projects, nextPageToken } = await admin.listProjects({ pageSize: 500, pageToken });
    return { items: projects, nextPageToken };
  });
}
