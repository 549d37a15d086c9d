import { setImmediate } from "node:timers/promises";
import { mcpToolDigest } from "@svc/catalog";
import { createSlices, isObject } from "@svc/core";
import type { McpOperation, McpResult, McpSession } from "./session.ts";

/** Maximum numbers of pages and of tools that svc reads from an MCP server, and maximum length of a tool's name. */
const [pagesMax, toolsMax, nameMax] = [64, 2_000, 200];
/** Maximum characters of all pages of a list together, and of the descriptions that are kept. */
const [listMax, keptMax] = [8 * 1024 * 1024, 1024 * 1024];

/**
 * A tool in the list of an MCP server. `digest`: undefined for a tool that is too large to be called. `described`: the server's description
 * as a JSON text, if headers of a call are made from it; otherwise undefined.
 */
type ListedTool = { readonly digest: string | undefined; readonly described: string | undefined };

/** The tools of an MCP server, by their names at the server. */
export type ListedTools = { readonly kind: "listed"; readonly tools: ReadonlyMap<string, ListedTool> };

/**
 * Reads the whole list of a server's tools. `onPage` gets each of the server's responses as a JSON text, together at most 8 MiB. Resolves to
 * the failure of the first page that could not be read. Never rejects.
 */
export async function listTools(
  session: McpSession,
  operation: McpOperation,
  onPage: (text: string) => void = () => {},
): Promise<ListedTools | Exclude<McpResult, { kind: "message" }>> {
  const tools = new Map<string, ListedTool>();
  let [pages, characters, kept] = [0, 0, 0];
  let cursor: string | undefined;
  do {
    if (!session.hasTools) break;
    const page = await session.listTools(cursor, operation);
    if (page.kind !== "message") return page;
    const { value, text } = page.message;
    const { result } = value;
    if (!isObject(result)) return { kind: "other", reason: "it does not list its tools", isSent: true };
    characters += text.length;
    kept += await addTools(tools, result["tools"]);
    if (characters > listMax || kept > keptMax) return { kind: "other", reason: "its list is too long", isSent: true };
    onPage(text);
    pages++;
    const next = result["nextCursor"];
    if (next === cursor) break;
    cursor = typeof next === "string" && next !== "" ? next : undefined;
  } while (cursor !== undefined && pages < pagesMax && tools.size < toolsMax);
  return { kind: "listed", tools };
}

/** Adds the tools of a page to those that were read before. Returns the number of characters that are kept of their descriptions. */
async function addTools(tools: Map<string, ListedTool>, page: unknown): Promise<number> {
  const { rest } = createSlices(setImmediate);
  let kept = 0;
  for (const tool of Array.isArray(page) ? page : []) {
    await rest();
    const name: unknown = isObject(tool) ? tool["name"] : undefined;
    if (typeof name !== "string" || name.length > nameMax || tools.size >= toolsMax) continue;
    const digest = mcpToolDigest(tool);
    const text = digest === undefined ? "" : JSON.stringify(tool);
    const described = text.includes('"x-mcp-header"') ? text : undefined;
    tools.set(name, { digest, described });
    kept += described?.length ?? 0;
  }
  return kept;
}
