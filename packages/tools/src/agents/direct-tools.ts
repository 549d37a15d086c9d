import { createHash } from "node:crypto";
import { type CatalogView, nearest, type Tool } from "@svc/catalog";
import { formatValue, isToolGranted, type ProjectPrincipal } from "@svc/core";
import type { McpAddress } from "../mcp/address.ts";
import { invalidParams, type McpError } from "../mcp/request.ts";
import { type ListedTool, type MetaToolName, metaTools } from "./meta-tools.ts";

// Functions for clients whose address names tools. svc lists these tools directly. A client with few tools then needs no search, and its
// user sees what each tool does.

/** Maximum number of tools that are listed directly. Models choose badly among more tools, and most model vendors accept fewer. */
const directMax = 200;

/** The address and the caller of a request. A caller with a scoped key sees only the tools that the key may use. */
type DirectRequest = { readonly address: McpAddress; readonly principal: Pick<ProjectPrincipal, "binding"> };

/**
 * True if the client's MCP address names toolkits (apps) or tools, which are then listed directly. False if svc lists the meta-tools (four
 * tools that reach all others).
 */
export function isDirect({ toolkits, tools }: McpAddress): boolean {
  return toolkits.length + tools.length > 0;
}

const nameMax = 64;

/**
 * Returns the name under which models see a tool. Few model vendors accept a dot or more than 64 characters. So a dot becomes two
 * underscores (no slug contains two underscores), and a long name is cut and ends with a digest that keeps it unique.
 */
export function directName(slug: string): string {
  const name = slug.replace(".", "__");
  if (name.length <= nameMax) return name;
  const digest = createHash("sha256").update(slug).digest("hex").slice(0, 8);
  return `${name.slice(0, nameMax - 9)}_${digest}`;
}

/**
 * Returns the meta-tools, such as `search_tools`, that svc lists to an MCP client. If the query of the MCP address chooses tools or
 * toolkits, returns only the meta-tools that it names.
 */
export function listedMetaTools(address: McpAddress): readonly ListedTool<MetaToolName>[] {
  return isDirect(address) ? metaTools.filter(({ name }) => address.tools.includes(name)) : metaTools;
}

/** Returns the tool called `name`, if the query of the MCP address chooses this tool or its toolkit. Otherwise returns undefined. */
export function findDirect(view: CatalogView, asking: DirectRequest, name: string): Tool | undefined {
  for (const tool of view.tools.values())
    if (isDirectlyListed(tool, asking) && directName(tool.slug) === name) return tool;
  return undefined;
}

/**
 * Returns the tools that the MCP address names, ordered by slug. Returns an error if the address is wrong or names more than 200 tools.
 * `given`: further tools of svc to list.
 */
export function listDirect(
  view: CatalogView,
  asking: DirectRequest,
  given: readonly ListedTool[],
): { readonly tools: readonly ListedTool[] } | { readonly error: McpError } {
  const own = [...listedMetaTools(asking.address), ...given];
  const fault = addressFault(view, asking.address, own);
  if (fault !== undefined) return { error: addressInvalid(fault) };
  const tools = [...view.tools.values()].filter((tool) => isDirectlyListed(tool, asking));
  if (tools.length > directMax) {
    const fault = `The address names ${tools.length} tools; at most ${directMax} are listed. Name fewer toolkits, or leave them out and search`;
    return { error: addressInvalid(fault) };
  }
  return { tools: [...own, ...tools.map((tool) => listed(tool, view))] };
}

/** True if the client's MCP address names this tool or its toolkit (app), and the key may use the tool. False otherwise. */
export function isDirectlyListed(tool: Tool, { address, principal }: DirectRequest): boolean {
  return isNamed(tool, address) && isToolGranted(principal.binding, tool);
}

function isNamed(tool: Tool, { toolkits, tools }: McpAddress): boolean {
  return tool.callable && tool.kind !== "trigger" && (toolkits.includes(tool.toolkitSlug) || tools.includes(tool.slug));
}

function addressFault(view: CatalogView, address: McpAddress, own: readonly ListedTool[]): string | undefined {
  const toolkit = address.toolkits.find((slug) => !view.toolkits.has(slug));
  if (toolkit !== undefined) return unknown("toolkits", toolkit, view.toolkits.keys());
  const slug = address.tools.find((named) => !own.some(({ name }) => name === named) && !view.tools.has(named));
  if (slug !== undefined) return unknown("tools", slug, view.tools.keys());
  const idle = address.tools.find((named) => {
    const tool = view.tools.get(named);
    return tool !== undefined && !isNamed(tool, address);
  });
  return idle && `tools of the address names ${idle}, which cannot be called: leave it out`;
}

function unknown(parameter: string, slug: string, known: Iterable<string>): string {
  const meant = nearest(slug, known);
  const cure = meant === undefined ? "leave it out" : `did you mean ${meant}?`;
  return `${parameter} of the address names ${formatValue(slug)}, which this project does not have: ${cure}`;
}

function addressInvalid(message: string): McpError {
  return invalidParams(message, { reason: "ADDRESS_INVALID" });
}

function listed(
  { slug, name, toolkitSlug, class: accessClass, description, inputSchema }: Tool,
  view: CatalogView,
): ListedTool {
  const app = view.toolkits.get(toolkitSlug)?.name ?? toolkitSlug;
  return {
    name: directName(slug),
    title: `${app}: ${name.replaceAll("_", " ")}`,
    description: description.trim(),
    inputSchema: { ...inputSchema, type: "object" },
    annotations: {
      readOnlyHint: accessClass === "read",
      destructiveHint: accessClass === "destructive",
      openWorldHint: true,
    },
    needs: { accessClasses: [accessClass], toolkitSlugs: [toolkitSlug] },
  };
}
