import {
  type CatalogViews,
  isPlayed,
  type McpServerQuery,
  type McpServerReading,
  type OauthDocument,
  type SandboxMode,
  type Toolkit,
} from "@svc/catalog";
import type { ProjectId } from "@svc/core";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { AccountAccess } from "../account-access.ts";
import type { AppAnswer, AppRequest } from "../app-transport.ts";
import { oauthOf } from "../toolkit-clients.ts";
import { type DiscoveryOptions, discoverOauth, replaceMissingClient } from "./discover.ts";
import { listTools } from "./list-tools.ts";
import { type McpResult, openSession } from "./session.ts";

/** Objects that are needed to ask an MCP server for its tools. */
export type McpReadingOptions = DiscoveryOptions & {
  readonly accounts: AccountAccess;
  readonly views: CatalogViews;
  /** For which toolkits svc plays the app itself. The made-up credentials of their accounts are never sent to a server. */
  readonly sandboxMode: SandboxMode;
};

/** Maximum time in milliseconds to find a credential for an MCP server, to open a session and to read its whole list of tools. */
const timeoutMs = 30_000;

/**
 * Returns a function that asks an MCP server for its tools. The function sends the credential of a connected account if the project's
 * toolkit has the server's address. A failure of the server is returned, not thrown.
 */
export function createMcpReader(options: McpReadingOptions): (query: McpServerQuery) => Promise<McpServerReading> {
  return (query) => readServer(options, query);
}

async function readServer(options: McpReadingOptions, query: McpServerQuery): Promise<McpServerReading> {
  const { url, projectId } = query;
  const toolkit = await knownToolkit(options, query);
  const oauth = toolkit && schemeDocumentOf(toolkit);
  const plain = { method: "POST", url, headers: { "user-agent": "svc/0.1" }, body: undefined };
  const endMs = performance.now() + timeoutMs;
  const request = toolkit === undefined ? plain : await authorized(options, { projectId, toolkit, endMs }, plain);
  // Without a credential, the server may list other tools, and those of the toolkit would count as gone.
  if (request === undefined && !query.takesOauth) return unusableAccounts;
  const operation = { request: request ?? plain, endMs };
  const session = await openSession(options.network, { projectId, toolkit: { ownerProjectId: projectId } }, operation);
  if ("kind" in session) return withOauth(options, query, { failed: session, known: oauth });
  const pages: string[] = [];
  const listed = await listTools(session, operation, (page) => pages.push(page));
  if (listed.kind !== "listed") return withOauth(options, query, { failed: listed, known: oauth });
  const { protocol, server } = session;
  const isNeeded = oauth !== undefined && query.takesOauth;
  const client = isNeeded
    ? await replaceMissingClient(options, query, { known: oauth, isTrial: query.isTrial })
    : undefined;
  return { kind: "listing", listing: { ...server, protocol, pages }, oauth, client };
}

/** Returns the failure of a query. If the server wants a credential, finds out how it authorizes its callers with OAuth. */
async function withOauth(
  options: McpReadingOptions,
  { url, slug, projectId, takesOauth, isTrial }: McpServerQuery,
  {
    failed,
    known,
  }: { readonly failed: Exclude<McpResult, { kind: "message" }>; readonly known: OauthDocument | undefined },
): Promise<McpServerReading> {
  const failure = failureOf(failed);
  if (failure.kind !== "unauthorized" || !takesOauth) return failure;
  const headers = failed.kind === "answer" && failed.answer.kind === "answer" ? failed.answer.headers : {};
  const server = { url, slug, projectId, challenge: headers["www-authenticate"] ?? "" };
  const found = await discoverOauth(options, server, { known, isTrial });
  if (found.kind === "unusable") return { ...failure, message: found.message };
  return { ...failure, oauth: found.scheme, client: found.client };
}

/** Returns the private toolkit with the query's slug if it has the address of the query; otherwise undefined. */
async function knownToolkit(
  { views }: McpReadingOptions,
  { url, slug, projectId }: McpServerQuery,
): Promise<Toolkit | undefined> {
  const toolkit = slug === "" ? undefined : (await views.forProject(projectId)).toolkits.get(slug);
  // A credential goes only to the address for which it was connected.
  return toolkit?.ownerProjectId === projectId && toolkit.baseUrl === url ? toolkit : undefined;
}

/** Returns the scheme of OAuth of a toolkit as its definition has it; undefined if it has none with an issuer or a client of its own. */
function schemeDocumentOf(toolkit: Toolkit): OauthDocument | undefined {
  const scheme = oauthOf(toolkit);
  if (scheme === undefined || (scheme.issuer === undefined && scheme.clientId === undefined)) return undefined;
  const { type, authorizeUrl, tokenUrl, defaultScopes, refresh, issuer = "", resource = "", clientId } = scheme;
  return {
    ...{ type, authorizeUrl, tokenUrl, defaultScopes, refresh, issuer, resource },
    ...(clientId !== undefined && { clientId }),
  };
}

const unusableAccounts: McpServerReading = {
  kind: "failed",
  message: "none of the accounts that are connected to the toolkit could be used; connect one again",
};

/** A private toolkit of a project. `endMs`: end of the search for an account, in milliseconds of `performance.now()`. */
type AuthorizedToolkit = { readonly toolkit: Toolkit; readonly projectId: ProjectId; readonly endMs: number };

/**
 * Returns the request with the credential of a connected account, or without one if the project has connected none. Undefined if none of
 * the connected accounts works.
 */
async function authorized(
  { accounts, db, clock, sandboxMode }: McpReadingOptions,
  { toolkit, projectId, endMs }: AuthorizedToolkit,
  request: AppRequest,
): Promise<AppRequest | undefined> {
  if (isPlayed(toolkit, sandboxMode)) return request;
  const listed = async (state: "active" | "expired", limit: number) => {
    const filter = { toolkitSlug: toolkit.slug, entityId: "", state } as const;
    const page = { limit, after: undefined };
    const rows = await connectedAccountsForProject(db, projectId).list(filter, page, clock.now());
    return rows.filter(({ isPrivate }) => isPrivate);
  };
  const rows = await listed("active", 100);
  for (const { id, entityId } of rows.reverse()) {
    if (performance.now() >= endMs) return undefined;
    const account = await accounts.resolve({ projectId, toolkit, entityId, accountId: id });
    if ("kind" in account) continue;
    const placed = await accounts.authorize({ projectId, toolkit, entityId, accountId: id }, account, request);
    if (!("kind" in placed)) return placed;
  }
  const needsCredential = !toolkit.auth.some(({ type }) => type === "none");
  return needsCredential && (rows.length > 0 || (await listed("expired", 100)).length > 0) ? undefined : request;
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
