import { toJson } from "@bufbuild/protobuf";
import { CatalogService, ToolkitConnectSpecSchema, ToolkitSchema, ToolSchema } from "@svc/gen/catalog";
import { ToolsService } from "@svc/gen/tools";
import {
  type SvcClient,
  type Tool,
  ToolKind,
  type Toolkit,
  type ToolkitAuthSchemeSpec,
  ToolkitConnectability,
  type ToolkitConnectSpec,
} from "@svc/sdk";
import { collectPages, openProjectClient, ownProjectId, type ProjectOptions } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { factLines, firstSentence, tableLines, wrappedTableLines, wrapText } from "../../text/table.ts";
import { argumentRows, fieldRows, hasRules, parseSchema } from "./schema.ts";

type ShowOptions = ProjectOptions & JsonOption;

/** The command `svc toolkits show`, which shows a toolkit with its tools, or a tool with its arguments and result. */
export const addCatalogShow = command(
  CatalogService.method.getToolkit,
  {
    says: "show a toolkit with what a connection needs and its tools, or a tool with its arguments and result",
    takes: { "<slug>": "slug of a toolkit (calendar) or of a tool (calendar.list_events)" },
    json: "the server's messages as JSON",
    words: "<toolkit>",
    also: [
      [CatalogService.method.listTools, "<toolkit>"],
      [CatalogService.method.getToolkitConnectSpec, "<toolkit>"],
      [CatalogService.method.getTool, "<tool>"],
      [ToolsService.method.describeTool, "<tool>"],
    ],
    examples: [
      "svc toolkits show calendar",
      "svc toolkits show calendar.list_events",
      "svc toolkits show calendar.list_events --json",
    ],
  },
  ({ values: options, context }: Run<ShowOptions & { readonly slug: string }>) => {
    const { slug } = options;
    return slug.includes(".") ? showTool(slug, options, context) : showToolkit(slug, options, context);
  },
);

/** Options for printing an API message as JSON: fields without a value are printed as well, as in the server's own answers. */
const jsonOptions = { alwaysEmitImplicit: true };

async function showToolkit(slug: string, options: ShowOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const projectId = await ownProjectId(client);
  const [{ toolkit }, { spec }, tools] = await Promise.all([
    client.catalog.getToolkit({ slug, projectId }),
    client.catalog.getToolkitConnectSpec({ slug, projectId }),
    listTools(client, { projectId, toolkitSlug: slug }),
  ]);
  if (toolkit === undefined || spec === undefined) return;
  if (options.json) {
    const message = {
      toolkit: toJson(ToolkitSchema, toolkit, jsonOptions),
      spec: toJson(ToolkitConnectSpecSchema, spec, jsonOptions),
      tools: tools.map((tool) => toJson(ToolSchema, tool, jsonOptions)),
    };
    context.print(JSON.stringify(message, undefined, 2));
    return;
  }
  printToolkit(toolkit, spec, context);
  const rows = tools.map((tool) => [tool.slug, kindText(tool), firstSentence(tool.description)]);
  printBlock(wrappedTableLines(["TOOL", "CLASS", "DESCRIPTION"], rows), context);
}

function printToolkit(toolkit: Toolkit, spec: ToolkitConnectSpec, context: CommandContext): void {
  context.print(`${context.style("bold", toolkit.slug)}  ${toolkit.name}, ${toolkit.version}`);
  for (const line of wrapText(toolkit.description)) context.print(line);
  printBlock(
    factLines([
      ["category", toolkit.category],
      ["owner", ownerText(toolkit)],
      ["connect", connectabilityText(toolkit.connectability)],
      ["base URL", spec.baseUrlTemplate],
      ...spec.authSchemes.map((scheme, index): Fact => [index === 0 ? "authentication" : "", schemeText(scheme)]),
    ]),
    context,
  );
  if (spec.accountVariables.length === 0) return;
  const rows = spec.accountVariables.map(({ name, example, decidesOrigin, description }) => {
    return [name, example || "-", decidesOrigin ? "address" : "-", description];
  });
  printBlock(wrappedTableLines(["TO FILL IN", "EXAMPLE", "DECIDES", "DESCRIPTION"], rows), context);
}

/** Returns in words which change of an imported tool waits for an approver. */
function stateText({ state, toolkitSlug }: Tool): string {
  const what = state === "gone" ? "its source does not have it any more" : "its source describes it differently";
  return `${state}: ${what}; svc toolkits changes ${toolkitSlug} shows the change`;
}

async function showTool(slug: string, options: ShowOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const projectId = await ownProjectId(client);
  const { tool } = await client.catalog.getTool({ slug, projectId });
  if (tool === undefined) return;
  if (options.json) return context.print(messageText(ToolSchema, tool));
  context.print(`${context.style("bold", tool.slug)}  ${kindText(tool)}`);
  for (const line of wrapText(tool.description)) context.print(line);
  const facts: Fact[] = [
    ["owner", ownerText(tool)],
    ["scopes", tool.requiredScopes.join(" ") || "none"],
  ];
  if (tool.kind !== ToolKind.TRIGGER) facts.push(["callable", tool.callable ? "yes" : `no. ${tool.uncallableReason}`]);
  if (tool.state !== "" && tool.state !== "accepted") facts.push(["state", stateText(tool)]);
  if (tool.replacedBy !== "") facts.push(["deprecated", `use ${tool.replacedBy}`]);
  if (tool.pagingJson !== "") facts.push(["pages", declaredText(tool.pagingJson)]);
  if (tool.pollJson !== "") facts.push(["polls", declaredText(tool.pollJson)]);
  printBlock(factLines(facts), context);
  printSchemas(tool, context);
}

/** Returns in one line how a tool requests pages, or how a trigger finds new rows (for example `arg: page_token, from: nextPageToken`). */
function declaredText(json: string): string {
  const textOf = (value: unknown): string => {
    if (typeof value !== "object" || value === null) return String(value);
    const fields = Object.entries(value).map(([name, inner]) => `${name}: ${textOf(inner)}`);
    return `{ ${fields.join(", ")} }`;
  };
  return Object.entries(JSON.parse(json) as Readonly<Record<string, unknown>>)
    .map(([name, value]) => `${name}: ${textOf(value)}`)
    .join(", ");
}

function printSchemas(tool: Tool, context: CommandContext): void {
  const input = parseSchema(tool.inputSchemaJson);
  const args = argumentRows(input);
  if (args.length > 0) {
    const header = ["ARGUMENT", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"];
    printBlock(wrappedTableLines(header, args), context);
  } else if (tool.kind !== ToolKind.TRIGGER) {
    printBlock(["It takes no arguments."], context);
  }
  if (hasRules(input)) printBlock(["There are rules between the arguments: --json shows the whole schema."], context);
  const fields = fieldRows(parseSchema(tool.outputSchemaJson));
  const what = tool.kind === ToolKind.TRIGGER ? "PAYLOAD" : "RESULT";
  printBlock(fields.length > 0 ? tableLines([what, "TYPE"], fields) : ["Its result has no fields."], context);
}

/** Prints an empty line, and after it the given lines. */
function printBlock(lines: readonly string[], context: CommandContext): void {
  context.print("");
  for (const line of lines) context.print(line);
}

type Fact = readonly [name: string, value: string];

function kindText({ kind, accessClass }: Tool): string {
  return kind === ToolKind.TRIGGER ? "trigger" : accessClass;
}

function schemeText({ type, defaultScopes, keyPlacement, keyName }: ToolkitAuthSchemeSpec): string {
  if (type === "api_key") return `${type}, in the ${keyPlacement} ${keyName}`.trimEnd();
  return defaultScopes.length === 0 ? type : `${type}, with ${defaultScopes.join(" ")}`;
}

/**
 * Returns all tools of a toolkit (the tools and webhooks of one app), sorted by slug. Without a toolkit, returns the tools of all toolkits.
 */
export function listTools(
  { catalog }: SvcClient,
  filter: { projectId: string; toolkitSlug?: string },
): Promise<Tool[]> {
  return collectPages(async (pageToken) => {
    const { tools: items, nextPageToken } = await catalog.listTools({ ...filter, pageToken });
    return { items, nextPageToken };
  });
}

/**
 * Returns how a toolkit (one app's tools and webhooks) can be connected, in the word of the API: `ready`, `oauth_pending` or
 * `needs_oauth_registration`.
 */
export function connectabilityText(connectability: ToolkitConnectability): string {
  // The toolkits without accounts: skills, events and svc.
  if (connectability === ToolkitConnectability.UNSPECIFIED) return "-";
  const found = Object.entries(ToolkitConnectability).find(([, value]) => value === connectability);
  // A newer server may send values that this version does not know.
  return found === undefined ? String(connectability) : found[0].toLowerCase();
}

/** Returns the owner of a toolkit or tool in the catalog: `shared`, or the id of the project that published it. */
export function ownerText({ ownerProjectId }: { ownerProjectId: string }): string {
  return ownerProjectId === "" ? "shared" : ownerProjectId;
}
