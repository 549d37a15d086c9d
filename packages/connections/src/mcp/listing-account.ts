import { isPlayed, type McpServerQuery, type SandboxMode, type Toolkit } from "@svc/catalog";
import { type AccountId, type Clock, formatValue, type ProjectId, parseId } from "@svc/core";
import { toolkitSourcesForProject } from "@svc/db/catalog/sources";
import type { Database } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import type { AccountAccess, AccountFault, CallableAccount } from "../account-access.ts";
import type { AppRequest } from "../app-transport.ts";

/** Objects that are needed to find the account that lists the tools of an MCP server. */
export type ListingAccountOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly accounts: AccountAccess;
  /** For which toolkits svc plays the app itself. The made-up credentials of their accounts are never sent to a server. */
  readonly sandboxMode: SandboxMode;
};

/**
 * The request that lists the tools of an MCP server. `account`: the account whose credential the request has; undefined if it has none.
 * `accountId`: the account that lists the tools from now on; undefined if the server needs none.
 */
export type ListingRequest = {
  readonly request: AppRequest;
  readonly account: CallableAccount | undefined;
  readonly accountId: AccountId | undefined;
};

/** Why the tools of an MCP server cannot be listed: its account is missing or does not work. */
export type NoListingRequest = { readonly kind: "no_account" | "wrong_account"; readonly message: string };

/**
 * An MCP server that is asked for its tools. `toolkit`: the project's private toolkit of the server; undefined if it has none yet.
 * `request`: the request without a credential. `endMs`: end of the search for an account, in milliseconds of `performance.now()`.
 */
type AskedServer = { readonly toolkit: Toolkit | undefined; readonly request: AppRequest; readonly endMs: number };

/**
 * Returns the request that lists the tools of an MCP server, with the credential of an account. This is the account that the query names,
 * else the one that listed the tools before, else the first active account of the toolkit. If there is no such account, the request has no
 * credential. If the account cannot be used, returns the reason and tries no other account, because the server may list other tools to it.
 */
export async function listingRequest(
  options: ListingAccountOptions,
  query: Pick<McpServerQuery, "projectId" | "slug" | "accountId">,
  { toolkit, request, endMs }: AskedServer,
): Promise<ListingRequest | NoListingRequest> {
  const { projectId, accountId: given, slug } = query;
  const named = parseId("acc", given);
  if (given !== "" && (named === undefined || toolkit === undefined)) {
    const message = `${formatValue(given)} is not an account of the toolkit ${formatValue(slug)} with this address`;
    return { kind: "wrong_account", message };
  }
  if (toolkit === undefined) return { request, account: undefined, accountId: undefined };
  const source = await toolkitSourcesForProject(options.db, projectId).find(slug);
  const accountId = named ?? source?.listingAccountId ?? undefined;
  const plain = { request, account: undefined, accountId };
  const isSent = !isPlayed(toolkit, options.sandboxMode);
  if (accountId === undefined) return isSent ? firstActive(options, { projectId, toolkit, endMs }, request) : plain;
  if (!isSent && named === undefined) return plain;
  const found = await withAccount(options, { projectId, toolkit, entityId: "", accountId }, request);
  if (!("kind" in found)) return isSent ? { ...found, accountId } : plain;
  if (named !== undefined && found.kind === "no_account") return { kind: "wrong_account", message: found.message };
  return { kind: "no_account", message: `the account that lists the tools cannot be used: ${found.message}` };
}

/** The account of a private toolkit with this id. If `entityId` is empty, the account may belong to any entity. */
type NamedAccount = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly entityId: string;
  readonly accountId: AccountId;
};

async function withAccount(
  { accounts }: ListingAccountOptions,
  query: NamedAccount,
  request: AppRequest,
): Promise<{ readonly request: AppRequest; readonly account: CallableAccount } | AccountFault> {
  const account = await accounts.resolve(query);
  if ("kind" in account) return account;
  const placed = await accounts.authorize(query, account, request);
  return "kind" in placed ? placed : { request: placed, account };
}

type FirstActiveQuery = { readonly toolkit: Toolkit; readonly projectId: ProjectId; readonly endMs: number };

/**
 * Returns the request with the credential of the first active account that works, or without one if the project has connected none. Returns
 * the reason if none of the connected accounts works.
 */
async function firstActive(
  options: ListingAccountOptions,
  { toolkit, projectId, endMs }: FirstActiveQuery,
  request: AppRequest,
): Promise<ListingRequest | NoListingRequest> {
  const listed = async (state: "active" | "expired", limit: number) => {
    const filter = { toolkitSlug: toolkit.slug, entityId: "", state } as const;
    const page = { limit, after: undefined };
    const rows = await connectedAccountsForProject(options.db, projectId).list(filter, page, options.clock.now());
    return rows.filter(({ isPrivate }) => isPrivate);
  };
  const rows = await listed("active", 100);
  for (const { id, entityId } of rows.reverse()) {
    if (performance.now() >= endMs) return unusableAccounts;
    const found = await withAccount(options, { projectId, toolkit, entityId, accountId: id }, request);
    // An account without a credential sees what everybody sees, so svc need not remember it.
    if (!("kind" in found)) return { ...found, accountId: found.account.scheme === "none" ? undefined : id };
  }
  const needsCredential = !toolkit.auth.some(({ type }) => type === "none");
  const isUnusable = needsCredential && (rows.length > 0 || (await listed("expired", 100)).length > 0);
  return isUnusable ? unusableAccounts : { request, account: undefined, accountId: undefined };
}

const unusableAccounts: NoListingRequest = {
  kind: "no_account",
  message: "none of the accounts that are connected to the toolkit could be used",
};
