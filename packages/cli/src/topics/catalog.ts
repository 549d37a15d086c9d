import { CatalogService } from "@svc/gen/catalog";
import { type Tool, ToolKind, type Toolkit } from "@svc/sdk";
import { ownProjectId } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { call, list, topic } from "../command/topic.ts";
import { addCatalogCheck } from "../custom/catalog/check.ts";
import { addConnectMcp } from "../custom/catalog/connect-mcp.ts";
import { addToolkitImport } from "../custom/catalog/import.ts";
import { addCatalogPublish } from "../custom/catalog/publish.ts";
import { addCatalogShow, connectabilityText, listTools, ownerText } from "../custom/catalog/show.ts";
import { tableLines } from "../text/table.ts";

/**
 * The commands `svc catalog check|list|show|publish|import|connect-mcp|delete`, for toolkits and their tools. `svc toolkits` is another name
 * for `svc catalog`.
 */
export const addCatalogCommand = topic({
  alias: "toolkits",
  says: "check toolkit definitions, read the catalog, and publish the project's own toolkits",
  examples: ["svc catalog check", "svc catalog list", "svc catalog show calendar.list_events"],
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
      examples: ["svc catalog list", "svc catalog list --json"],
    }),
    show: addCatalogShow,
    publish: addCatalogPublish,
    import: addToolkitImport,
    "connect-mcp": addConnectMcp,
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
      examples: ["svc catalog delete task_list", "svc catalog delete task_list --yes"],
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
