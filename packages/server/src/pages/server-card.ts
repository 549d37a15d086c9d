import type { McpServer } from "@svc/node";
import type { ServiceUrlsOf } from "../authorization/metadata.ts";
import { serverCardPath } from "../http/mcp-path.ts";
import type { PageHandler } from "./pages.ts";
import { jsonFile, type PublicFile } from "./public-files.ts";

/** Media type of a server card. */
const mediaType = "application/mcp-server-card+json";

/**
 * Creates the handler of the MCP server card, a public document about the MCP server at this address (SEP-2127). MCP clients read it before
 * they connect. It names the server and the supported versions of the protocol, but no tools.
 */
export function createServerCard(
  publicFile: PublicFile,
  server: Pick<McpServer, "info" | "versions">,
  urlsOf: ServiceUrlsOf,
): ReadonlyMap<string, PageHandler> {
  const serve = publicFile((req) => {
    const text = JSON.stringify(cardOf(server, urlsOf(req).resource));
    return jsonFile(mediaType, text, { cacheControl: "public, max-age=3600", vary: "host" });
  });
  return new Map([[serverCardPath, serve]]);
}

function cardOf({ info, versions }: Pick<McpServer, "info" | "versions">, url: string): object {
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    name: `${namespaceOf(url)}/${info.name}`,
    title: info.title,
    version: info.version,
    description: "Tools and events of many apps, for agents that act with the connected accounts of people",
    remotes: [{ type: "streamable-http", url, supportedProtocolVersions: versions }],
  };
}

/** Returns the host of an address in the order of reverse DNS names. Returns IP addresses unchanged, with hyphens in place of colons. */
function namespaceOf(url: string): string {
  const { hostname } = new URL(url);
  if (hostname.startsWith("[")) return hostname.slice(1, -1).replaceAll(":", "-");
  return /^[\d.]+$/.test(hostname) ? hostname : hostname.split(".").toReversed().filter(Boolean).join(".");
}
