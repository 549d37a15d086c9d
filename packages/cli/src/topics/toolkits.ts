import { CatalogService } from "@svc/gen/catalog";
import { type Tool, ToolKind, type Toolkit } from "@svc/sdk";
import { ownProjectId } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { call, list, topic } from "../command/topic.ts";
import { addToolkitBind } from "../custom/toolkits/bind.ts";
import {
  addToolkitAccept,
  addToolkitChanges,
  addToolkitRefresh,
  addToolkitSource,
} from "../custom/toolkits/changes.ts";
import { addCatalogCheck } from "../custom/toolkits/check.ts";
import { addToolkitClient } from "../custom/toolkits/client.ts";
import { addConnectMcp } from "../custom/toolkits/connect-mcp.ts";
import { addToolkitImport } from "../custom/toolkits/import.ts";
import { addToolkitPhrases } from "../custom/toolkits/phrases.ts";
import { addCatalogPublish } from "../custom/toolkits/publish.ts";
import { addCatalogShow, connectabilityText, listTools, ownerText } from "../custom/toolkits/show.ts";
import { tableLines } from "../text/table.ts";

/**
 * The commands `svc toolkits`, for toolkits and their tools. `svc catalog` is their former name, which stays for one release.
 */
export const addToolkitsCommand = topic({
  alias: "catalog",
  says: "check toolkit definitions, read the catalog, and publish the project's own toolkits",
  examples: ["svc toolkits check", "svc toolkits list", "svc toolkits show calendar.list_events"],
  commands: {
    check: addCatalogCheck,
    list: list(CatalogService.method.listToolkits, {
      says: "list the toolkits of the project, including its own, with their tools by class",
      request: async ({ project }) => ({ projectId: await ownProjectId(await project()) }),
      rows: "toolkits",
      table: async (toolkits, { project }) => {
        const client = await project();
        const tools = await listTools(client, { projectId: await ownProjectId(client) });
        const toolsOf = Map.groupBy(tools, ({ toolkitSlug }) => toolkitSlug);
        const rows = toolkits.map((toolkit) => toolkitRow(toolkit, toolsOf.get(toolkit.slug) ?? []));
        return tableLines(header, rows);
      },
      json: "the toolkits as a JSON list",
      examples: ["svc toolkits list", "svc toolkits list --json"],
    }),
    show: addCatalogShow,
    publish: addCatalogPublish,
    import: addToolkitImport,
    "connect-mcp": addConnectMcp,
    bind: addToolkitBind,
    refresh: addToolkitRefresh,
    changes: addToolkitChanges,
    accept: addToolkitAccept,
    source: addToolkitSource,
    phrases: addToolkitPhrases,
    client: addToolkitClient,
    delete: call(CatalogService.method.deleteToolkit, {
      says: "delete a toolkit that the project has published, and revoke the accounts connected to it",
      takes: { "<slug>": "slug of the toolkit" },
      options: [["--yes", "delete without asking; otherwise the command asks at a terminal"]],
      request: async ({ project, values: { slug, yes }, context }) => {
        await project();
        if (yes !== true) await confirmDeletion(String(slug), context);
        return {};
      },
      deleted: "slug",
      json: "the slug as JSON",
      shows: "{slug} is deleted, and the accounts connected to it are revoked",
      examples: ["svc toolkits delete task_list", "svc toolkits delete task_list --yes"],
    }),
  },
});

/**
 * Asks the user to confirm a deletion, because the revoked accounts of a toolkit (the tools of one app) do not return if the toolkit is
 * published again. Rejects with CommandError if the user does not confirm.
 */
async function confirmDeletion(slug: string, { terminal }: CommandContext): Promise<void> {
  const what = `deletes ${slug} and revokes every account connected to it, for good`;
  if (terminal === undefined) throw new CommandError(`this ${what}: add --yes to confirm; nothing was deleted`, 2);
  const answer = await terminal.ask(`This ${what}. Go on? (yes/no): `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError("nothing was deleted");
}

const header = ["SLUG", "CATEGORY", "TOOLS", "READ", "WRITE", "DESTRUCTIVE", "TRIGGERS", "CONNECT", "OWNER"];

function toolkitRow(toolkit: Toolkit, tools: readonly Tool[]): string[] {
  const actions = tools.filter(({ kind }) => kind !== ToolKind.TRIGGER);
  const countOf = (access: string) => String(actions.filter(({ accessClass }) => accessClass === access).length);
  return [
    toolkit.slug,
    toolkit.category,
    String(actions.length),
    countOf("read"),
    countOf("write"),
    countOf("destructive"),
    String(tools.length - actions.length),
    connectabilityText(toolkit.connectability),
    ownerText(toolkit),
  ];
}
