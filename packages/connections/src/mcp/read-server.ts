import type { CatalogViews, McpServerQuery, McpServerReading } from "@svc/catalog";
import type { Clock } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { AccountAccess } from "../account-access.ts";
import type { AppAnswer, AppRequest } from "../app-transport.ts";
import type { NetworkTransport } from "../network-transport.ts";
import { listTools } from "./list-tools.ts";
import { type McpResult, openSession } from "./session.ts";

/** Objects that are needed to ask an MCP server for its tools. */
export type McpReadingOptions = {
  readonly network: Pick<NetworkTransport, "exchange">;
  readonly accounts: AccountAccess;
  readonly views: CatalogViews;
  readonly db: Database;
  readonly clock: Clock;
  /** True if the accounts are made up, because svc plays the apps itself. Their credentials are never sent to a server. */
  readonly isSandbox: boolean;
};

/** Maximum time in milliseconds to open a session with an MCP server and to read its whole list of tools. */
const timeoutMs = 30_000;

/**
 * Creates the function that asks an MCP server for its tools. It uses the credential of the account that the project connected first to the
 * toolkit with the query's slug, if the toolkit has the same address. The function never rejects because of the server.
 */
export function createMcpReader(options: McpReadingOptions): (query: McpServerQuery) => Promise<McpServerReading> {
  return (query) => readServer(options, query);
}

async function readServer(options: McpReadingOptions, query: McpServerQuery): Promise<McpServerReading> {
  const { url, projectId } = query;
  const plain = { method: "POST", url, headers: { "user-agent": "svc/0.1" }, body: undefined };
  const request = (await authorized(options, query, plain)) ?? plain;
  const operation = { request, endMs: performance.now() + timeoutMs };
  const session = await openSession(options.network, { projectId, toolkit: { ownerProjectId: projectId } }, operation);
  if ("kind" in session) return failureOf(session);
  const listed = await listTools(session, operation);
  if (listed.kind !== "listed") return failureOf(listed);
  const { protocol, server } = session;
  return { kind: "listing", listing: { ...server, protocol, pages: listed.pages } };
}

/** Returns the request with the credential of a connected account; undefined if the project has no account that may be used. */
async function authorized(
  { accounts, views, db, clock, isSandbox }: McpReadingOptions,
  { url, slug, projectId }: McpServerQuery,
  request: AppRequest,
): Promise<AppRequest | undefined> {
  const toolkit = slug === "" ? undefined : (await views.forProject(projectId)).toolkits.get(slug);
  // A credential goes only to the address for which it was connected.
  if (isSandbox || toolkit?.ownerProjectId !== projectId || toolkit.baseUrl !== url) return undefined;
  const filter = { toolkitSlug: slug, entityId: "", state: "active" } as const;
  const rows = await connectedAccountsForProject(db, projectId).list(
    filter,
    { limit: 100, after: undefined },
    clock.now(),
  );
  for (const { id, entityId, isPrivate } of rows.reverse()) {
    if (!isPrivate) continue;
    const account = await accounts.resolve({ projectId, toolkit, entityId, accountId: id });
    if ("kind" in account) continue;
    const placed = await accounts.authorize({ projectId, toolkit, entityId, accountId: id }, account, request);
    if (!("kind" in placed)) return placed;
  }
  return undefined;
}

function failureOf(result: Exclude<McpResult, { kind: "message" }>): McpServerReading {
  if (result.kind === "other") return { kind: "not_mcp", message: result.reason.slice(0, 300) };
  const { answer } = result;
  switch (answer.kind) {
    case "refused":
      return { kind: "refused", message: answer.message };
    case "answer":
      return failureOfStatus(answer);
    case "too_large":
      return { kind: "failed", message: "its answer has more than 8 MiB" };
    default:
      return { kind: "failed", message: answer.message };
  }
}

function failureOfStatus({ status }: AppAnswer & { readonly kind: "answer" }): McpServerReading {
  if (status === 401 || status === 403) return { kind: "unauthorized", message: `it answered ${status}` };
  if (status === 429 || status >= 500) return { kind: "failed", message: `it answered ${status}` };
  return { kind: "not_mcp", message: `it answered ${status}` };
}
