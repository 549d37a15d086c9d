import { setImmediate } from "node:timers/promises";
import { mcpToolDigest } from "@svc/catalog";
import { createSlices, isObject } from "@svc/core";
import type { McpOperation, McpResult, McpSession } from "./session.ts";

/** Maximum numbers of pages and of tools that svc reads from an MCP server. */
const [pagesMax, toolsMax] = [64, 2_000];

/**
 * The tools of an MCP server. `pages`: the server's responses as JSON texts. `tools`: for each tool name, the server's description of the
 * tool and the digest of this description.
 */
export type ListedTools = {
  readonly kind: "listed";
  readonly pages: readonly string[];
  readonly tools: ReadonlyMap<string, { readonly described: unknown; readonly digest: string }>;
};

/** Reads the whole list of a server's tools. Resolves to the failure of the first page that could not be read. Never rejects. */
export async function listTools(
  session: McpSession,
  operation: McpOperation,
): Promise<ListedTools | Exclude<McpResult, { kind: "message" }>> {
  const pages: string[] = [];
  const tools = new Map<string, { described: unknown; digest: string }>();
  const { rest } = createSlices(setImmediate);
  let cursor: string | undefined;
  do {
    if (!session.hasTools) break;
    const page = await session.listTools(cursor, operation);
    if (page.kind !== "message") return page;
    const result = page.message.value["result"];
    if (!isObject(result)) return { kind: "other", reason: "it does not list its tools", isSent: true };
    pages.push(page.message.text);
    for (const described of Array.isArray(result["tools"]) ? result["tools"] : []) {
      if (isObject(described) && typeof described["name"] === "string")
        tools.set(described["name"], { described, digest: mcpToolDigest(described) });
      await rest();
    }
    const next = result["nextCursor"];
    if (next === cursor) break;
    cursor = typeof next === "string" && next !== "" ? next : undefined;
  } while (cursor !== undefined && pages.length < pagesMax && tools.size <= toolsMax);
  return { kind: "listed", pages, tools };
}
