import type { McpServer } from "@svc/node";
import type { ServiceUrlsOf } from "../authorization/metadata.ts";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import { serverCardPath } from "../http/mcp-path.ts";
import type { PageHandler } from "./pages.ts";
import { answerFile, createFile } from "./static-files.ts";

/** Media type of a server card. */
const mediaType = "application/mcp-server-card+json";

/** Headers that let pages of any origin read the card and ask whether it has changed. The card has only public data. */
const anyOrigin = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET",
  "access-control-allow-headers": "Content-Type, If-None-Match",
  "access-control-expose-headers": "ETag",
} as const;

/**
 * Creates the handler of the MCP server card, a public document about the MCP server at this address (SEP-2127). MCP clients read it before
 * they connect. It names the server and the supported versions of the protocol, but no tools.
 */
export function createServerCard(
  server: Pick<McpServer, "info" | "versions">,
  urlsOf: ServiceUrlsOf,
): ReadonlyMap<string, PageHandler> {
  const serve: PageHandler = (req, res) => {
    for (const [name, value] of Object.entries(anyOrigin)) res.setHeader(name, value);
    const { method = "" } = req;
    if (method === "OPTIONS") return void res.writeHead(204, { allow: "GET, HEAD, OPTIONS" }).end();
    if (method !== "GET" && method !== "HEAD")
      return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, "GET"), 405, { allow: "GET, HEAD, OPTIONS" });
    const body = Buffer.from(JSON.stringify(cardOf(server, urlsOf(req).resource)));
    const file = createFile("server-card.json", { body, br: undefined, gzip: undefined });
    if (file !== undefined)
      answerFile({ ...file, type: mediaType, cacheControl: "public, max-age=3600", vary: "host" }, req, res);
  };
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
