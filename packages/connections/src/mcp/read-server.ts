import type { CatalogViews, McpServerQuery, McpServerReading, OauthDocument, Toolkit } from "@svc/catalog";
import type { CallableAccount } from "../account-access.ts";
import type { AppAnswer } from "../app-transport.ts";
import { oauthOf } from "../toolkit-clients.ts";
import { type DiscoveryOptions, discoverOauth, replaceMissingClient } from "./discover.ts";
import { listTools } from "./list-tools.ts";
import { type ListingAccountOptions, listingRequest } from "./listing-account.ts";
import { type McpResult, openSession } from "./session.ts";

/** Objects that are needed to ask an MCP server for its tools. */
export type McpReadingOptions = DiscoveryOptions & ListingAccountOptions & { readonly views: CatalogViews };

/** Maximum time in milliseconds to find a credential for an MCP server, to open a session and to read its whole list of tools. */
const timeoutMs = 30_000;

/**
 * Returns a function that asks an MCP server for its tools. The function sends the credential of a connected account if the project's
 * toolkit has the server's address. A failure of the server is returned, not thrown.
 */
export function createMcpReader(options: McpReadingOptions): (query: McpServerQuery) => Promise<McpServerReading> {
  return (query) => readServer(options, query);
}

/**
 * A server that is asked. `toolkit`: the project's toolkit of the server, if there is one. `endMs`: in milliseconds of `performance.now()`.
 */
type AskedServer = { readonly toolkit: Toolkit | undefined; readonly endMs: number };

/** The answer of a server. `refused`: the account whose credential it refused (401); undefined if it refused none. */
type Asked = { readonly reading: McpServerReading; readonly refused?: CallableAccount | undefined };

async function readServer(options: McpReadingOptions, query: McpServerQuery): Promise<McpServerReading> {
  const toolkit = await knownToolkit(options, query);
  const server = { toolkit, endMs: performance.now() + timeoutMs };
  const { reading, refused } = await ask(options, query, server);
  if (refused === undefined || toolkit === undefined || query.takesOauth) return reading;
  const { id: accountId, entityId } = refused;
  await options.accounts.refused({ projectId: query.projectId, toolkit, entityId, accountId }, refused);
  // The token was renewed, or the account is expired now, and the second answer says so.
  return (await ask(options, query, server)).reading;
}

async function ask(options: McpReadingOptions, query: McpServerQuery, { toolkit, endMs }: AskedServer): Promise<Asked> {
  const { url, projectId } = query;
  const oauth = toolkit && schemeDocumentOf(toolkit);
  const plain = { method: "POST", url, headers: { "user-agent": "svc/0.1" }, body: undefined };
  const found = await listingRequest(options, query, { toolkit, request: plain, endMs });
  // Without a credential, the server may list other tools, and those of the toolkit would count as gone. But its answer says how it uses OAuth.
  const isNeeded = query.accountId !== "" || !query.takesOauth;
  if ("kind" in found && isNeeded) return { reading: found };
  const { request, account, accountId } =
    "kind" in found ? { request: plain, account: undefined, accountId: undefined } : found;
  const operation = { request, endMs };
  const failed = async (failure: Exclude<McpResult, { kind: "message" }>): Promise<Asked> => ({
    reading: await withOauth(options, query, { failed: failure, known: oauth }),
    refused: isUnauthorized(failure) ? account : undefined,
  });
  const session = await openSession(options.network, { projectId, toolkit: { ownerProjectId: projectId } }, operation);
  if ("kind" in session) return failed(session);
  const pages: string[] = [];
  const listed = await listTools(session, operation, (page) => pages.push(page));
  if (listed.kind !== "listed") return failed(listed);
  const { protocol, server } = session;
  const client =
    oauth !== undefined && query.takesOauth
      ? await replaceMissingClient(options, query, { known: oauth, isTrial: query.isTrial })
      : undefined;
  return { reading: { kind: "listing", listing: { ...server, protocol, pages }, oauth, client, accountId } };
}

function isUnauthorized(failure: McpResult): boolean {
  return failure.kind === "answer" && failure.answer.kind === "answer" && failure.answer.status === 401;
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
