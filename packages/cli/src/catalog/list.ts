import { ToolkitSchema } from "@svc/gen/catalog";
import { type SvcClient, type Tool, ToolKind, type Toolkit, ToolkitConnectability } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { ownProjectId } from "../client/own-project.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines } from "../text/table.ts";

/** Adds `svc catalog list`. */
export function addCatalogList(catalog: Command, context: CommandContext): void {
  const list = catalog
    .command("list")
    .description("list the toolkits that the project sees, its own among them, with their tools by class")
    .action(async (options: ProjectOptions & JsonOption) => {
      const client = await openProjectClient(options, context);
      const projectId = await ownProjectId(client);
      const toolkits = await collectPages(async (pageToken) => {
        const { toolkits: items, nextPageToken } = await client.catalog.listToolkits({ projectId, pageToken });
        return { items, nextPageToken };
      });
      if (options.json) return context.print(messageListText(ToolkitSchema, toolkits));
      const tools = Map.groupBy(await listTools(client, { projectId }), ({ toolkitSlug }) => toolkitSlug);
      const rows = toolkits.map((toolkit) => toolkitRow(toolkit, tools.get(toolkit.slug) ?? []));
      for (const line of tableLines(header, rows)) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the toolkits as a JSON list")), [
    "svc catalog list",
    "svc catalog list --json",
  ]);
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

/** Every tool of a toolkit, or of all, ordered by slug. */
export function listTools(
  { catalog }: SvcClient,
  filter: { projectId: string; toolkitSlug?: string },
): Promise<Tool[]> {
  return collectPages(async (pageToken) => {
    const { tools: items, nextPageToken } = await catalog.listTools({ ...filter, pageToken });
    return { items, nextPageToken };
  });
}

/** The contract's word for whether a toolkit can be connected: `ready`, `oauth_pending`, `needs_oauth_registration`. */
export function connectabilityText(connectability: ToolkitConnectability): string {
  const found = Object.entries(ToolkitConnectability).find(([, value]) => value === connectability);
  // A server that is newer than this command may have more words.
  return found === undefined ? String(connectability) : found[0].toLowerCase();
}

/** Whose an entry of the catalog is: `shared`, or the project's id. */
export function ownerText({ ownerProjectId }: { ownerProjectId: string }): string {
  return ownerProjectId === "" ? "shared" : ownerProjectId;
}
