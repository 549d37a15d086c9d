import { type Action, isPlayed } from "@svc/catalog";
import { type AccountId, type Batcher, createBatcher, formatValue, LeastRecentlyUsed, SealError } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type CallableAccountRow, findActiveAccounts, findCallableAccount } from "@svc/db/connections/find-callable";
import { expireAccount, noteCredentialTry } from "@svc/db/connections/refresh";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { isUnavailable } from "@svc/db/driver";
import type {
  AccountAccess,
  AccountFault,
  AccountQuery,
  CallableAccount,
  ReadAccounts,
  SeenAccounts,
} from "./account-access.ts";
import type { AppRequest } from "./app-transport.ts";
import { type Credential, openCredential, tokenOf } from "./credential.ts";
import { belongsTo, definitionOf, keepsOrigin } from "./definition.ts";
import { expireWithEvent } from "./expire-account.ts";
import { placeCredential, placeMask, schemeOf } from "./place-credential.ts";
import { createRenewals, type RenewalOptions, type Renewals } from "./renewal.ts";
import { runsOut } from "./token-times.ts";
import { needsCredential } from "./trial-tool.ts";

/** Time in milliseconds for which the next step of a call may use an account row that an earlier step of the call has read. */
const rowFreshMs = 5_000;

/** Row of a connected account that is kept in memory while one tool call runs. `used`: the access token that the call has used. */
type CachedAccount = { row: CallableAccountRow; readAtMs: number; used: string | undefined };

/** A decrypted credential, and the encrypted value from which it was decrypted. */
type OpenedCredential = { readonly sealed: Buffer; readonly credential: Credential };

/** Maximum number of decrypted credentials that a node keeps in memory. Above it, the least recently used one is removed. */
const openedMax = 1_000;

type ActiveQuery = Parameters<typeof findActiveAccounts>[1];

type Context = RenewalOptions & {
  readonly renewals: Renewals;
  readonly held: WeakMap<CallableAccount, CachedAccount>;
  /**
   * Decrypted credentials, each kept for `rowFreshMs` milliseconds after its decryption. So all rows of a map (a step that makes one call
   * per row) use the same decrypted credential.
   */
  readonly opened: LeastRecentlyUsed<AccountId, OpenedCredential>;
  /**
   * Database writes in progress, by account. Each write records that an app accepted the account's credential. All calls that a `map` step
   * makes for its rows share one write.
   */
  readonly noting: Map<AccountId, Promise<void>>;
  /** Accounts with the scopes that calls lacked, as this node has recorded them. So many calls of one account cause one write. */
  readonly lacking: LeastRecentlyUsed<string, true>;
  readonly active: Batcher<ActiveQuery, CallableAccountRow[]>;
};

/**
 * Creates the access to accounts in the database. While an account's token is valid, a call makes at most one database statement. It writes
 * only once an hour for each account: it then records that the app accepted the credential.
 */
export function createAccountAccess(options: RenewalOptions): AccountAccess {
  const active = createActiveLookups(options.db);
  const context: Context = {
    ...options,
    renewals: createRenewals(options),
    held: new WeakMap(),
    opened: new LeastRecentlyUsed(openedMax),
    noting: new Map(),
    lacking: new LeastRecentlyUsed(openedMax),
    active,
  };
  return {
    resolve: (query) => resolve(context, query),
    authorize: (query, account, request) => authorize(context, query, account, request),
    preview(toolkit, account, request) {
      const scheme = schemeOf(toolkit, account.scheme);
      return scheme === undefined ? request : placeMask(scheme, account.variables, request);
    },
    refused: (query, account) => refused(context, query, account),
    taken: (query, account, action) => taken(context, query, account, action),
    lacked: (query, account, scopes) => lacked(context, query, account, scopes),
  };
}

async function resolve(context: Context, query: AccountQuery): Promise<CallableAccount | AccountFault> {
  const { projectId, toolkit, entityId, accountId } = query;
  const readNowMs = context.clock.now();
  const { row, readAtMs } =
    accountId === undefined
      ? await findOfEntity(context, query, isPlayed(toolkit, context.sandboxMode))
      : { row: await findCallableAccount(context.db, projectId, accountId), readAtMs: readNowMs };
  if (row === undefined) return accountId === undefined ? whyNone(context, query) : noSuchAccount(query);
  const isAsked = belongsTo(row, toolkit) && (accountId === undefined || entityId === "" || row.entityId === entityId);
  if (!isAsked) return noSuchAccount(query);
  const fault = await faultOfRow(context, query, row);
  if (fault !== undefined) return fault;
  const account = {
    id: row.id,
    entityId: row.entityId,
    scheme: row.scheme,
    variables: row.variables,
    grantedScopes: row.grantedScopes,
  };
  context.held.set(account, { row, readAtMs, used: undefined });
  return account;
}

/**
 * Returns a function that looks up an account. Lookups of the same account at the same time (for example from rows of a map) share one
 * statement.
 */
function createActiveLookups(db: Database): Context["active"] {
  return createBatcher<ActiveQuery, CallableAccountRow[]>({
    sizeMax: 200,
    concurrency: 4,
    besideMin: 32,
    splits: (error) => !isUnavailable(error),
    run(queries) {
      const found = new Map<string, Promise<CallableAccountRow[]>>();
      return Promise.all(
        queries.map((query) => {
          const { projectId, toolkitSlug, isPrivate, isSandbox, entityId } = query;
          const key = JSON.stringify([projectId, toolkitSlug, isPrivate, isSandbox, entityId]);
          const rows = found.get(key) ?? findActiveAccounts(db, query);
          found.set(key, rows);
          return rows;
        }),
      );
    },
  });
}

/**
 * Returns the account for a call of this entity (customer or user). If the entity has several, returns the account of the scheme that the
 * app's toolkit declares first. If it has none, returns the project's own account.
 */
async function findOfEntity(
  context: Pick<Context, "active" | "clock">,
  query: AccountQuery,
  isSandbox: boolean,
): Promise<Omit<ReadAccounts, "rows"> & { readonly row: CallableAccountRow | undefined }> {
  const { projectId, toolkit, entityId, seen } = query;
  const isPrivate = toolkit.ownerProjectId !== "";
  const asked = { toolkitSlug: toolkit.slug, isPrivate, isSandbox, projectId, entityId };
  const { rows, readAtMs } = await readActive(context, asked, seen);
  const rank = ({ scheme, entityId: owner }: CallableAccountRow) => {
    const place = toolkit.auth.findIndex(({ type }) => type === scheme);
    if (place < 0) return undefined;
    if (scheme === "client_credentials") return owner === "" ? toolkit.auth.length + place : undefined;
    return owner === entityId ? place : undefined;
  };
  const ranked = rows.flatMap((row) => {
    const place = rank(row);
    return place === undefined ? [] : [{ row, place }];
  });
  return { row: ranked.sort((a, b) => a.place - b.place)[0]?.row, readAtMs };
}

async function readActive(
  { active, clock }: Pick<Context, "active" | "clock">,
  asked: ActiveQuery,
  seen: SeenAccounts | undefined,
): Promise<ReadAccounts> {
  const name = seen === undefined ? "" : JSON.stringify(asked);
  const readAtMs = clock.now();
  const known = seen?.get(name);
  if (known !== undefined && readAtMs - known.readAtMs < rowFreshMs) return known;
  const read = { rows: await active.add(asked), readAtMs };
  seen?.set(name, read);
  return read;
}

function noSuchAccount({ toolkit, entityId, accountId }: AccountQuery): AccountFault {
  const owner = entityId === "" ? "this project" : `entity ${formatValue(entityId)}`;
  return { kind: "no_account", message: `${owner} has no account ${accountId ?? ""} of toolkit ${toolkit.slug}` };
}

async function whyNone(context: Context, query: AccountQuery): Promise<AccountFault> {
  const { db, sandboxMode } = context;
  const { projectId, toolkit, entityId } = query;
  const definition = definitionOf(toolkit, sandboxMode);
  const row = await connectedAccountsForProject(db, projectId).findUnusable(definition, entityId);
  if (row?.state === "expired") return unusable(`${row.id} is expired${reasonOf(row)}; ${again(row)}`);
  const { row: elsewhere } = row === undefined ? await findOfEntity(context, query, !definition.isSandbox) : {};
  if (elsewhere !== undefined) return madeElsewhere(elsewhere);
  const owner = entityId === "" ? "no entity is named, and the project itself" : `entity ${formatValue(entityId)}`;
  const cure =
    row === undefined ? "connect one with InitiateConnection" : `${row.id} waits for consent: open its authorizeUrl`;
  return { kind: "no_account", message: `${owner} has no active account of toolkit ${toolkit.slug}; ${cure}` };
}

/**
 * Returns the error for a credential from the wrong environment: a made-up credential of the sandbox for a real app, or a real credential
 * for the sandbox.
 */
function madeElsewhere(row: CallableAccountRow): AccountFault {
  const owner = row.entityId === "" ? "this project" : `entity ${formatValue(row.entityId)}`;
  const where = row.isSandbox ? "in the sandbox" : "outside the sandbox";
  return { kind: "no_account", message: `the account of ${owner} was made ${where} (${row.id}); ${again(row)}` };
}

function unusable(message: string): AccountFault {
  return { kind: "account_unusable", message };
}

function reasonOf({ lastError }: Pick<CallableAccountRow, "lastError">): string {
  return lastError === "" ? "" : ` (${lastError})`;
}

/**
 * Returns advice for the caller of a tool whose connected account does not work any more. The advice says how to connect the account again.
 */
function again({ scheme }: Pick<CallableAccountRow, "scheme">): string {
  return scheme === "client_credentials" ? "set the credential again with SetProjectCredential" : "connect again";
}

const stateFaults = {
  pending: "waits for consent: open its authorizeUrl, or connect again",
  superseded: "was superseded by a newer account: use that one",
  revoked: "was deleted: connect again",
};

async function faultOfRow(
  context: Context,
  { projectId, toolkit }: AccountQuery,
  row: CallableAccountRow,
): Promise<AccountFault | undefined> {
  const { clock, sandboxMode } = context;
  if (row.isSandbox !== isPlayed(toolkit, sandboxMode)) return madeElsewhere(row);
  if (row.state === "expired") return unusable(`${row.id} is expired${reasonOf(row)}; ${again(row)}`);
  if (row.state !== "active") return unusable(`${row.id} ${stateFaults[row.state]}`);
  if (!keepsOrigin(row, toolkit)) {
    return unusable(
      `the definition of ${toolkit.slug} now sends credentials to another place than when ${row.id} was made; ${again(row)}`,
    );
  }
  if (schemeOf(toolkit, row.scheme) === undefined) {
    return unusable(`toolkit ${toolkit.slug} does not declare ${row.scheme} any more; connect again`);
  }
  const nowMs = clock.now();
  if (row.credential === null || (row.expiresAt !== null && row.expiresAt <= nowMs)) {
    const lastError = "its credential ran out";
    const { id, credential } = row;
    if (credential !== null) {
      const account = { projectId, id, toolkitSlug: toolkit.slug, entityId: row.entityId };
      const change = { credential, lastError, isRefused: false, nowMs };
      await expireWithEvent(context, account, change, (tx) => expireAccount(tx, account, change));
    }
    return unusable(`${id} is expired (${lastError}); ${again(row)}`);
  }
  return undefined;
}

async function authorize(
  context: Context,
  query: AccountQuery,
  account: CallableAccount,
  request: AppRequest,
): Promise<AppRequest | AccountFault> {
  const held = await holdRow(context, query, account);
  if ("kind" in held) return held;
  const opened = openHeld(context, query, held.row);
  if ("kind" in opened) return opened;
  const current = await currentCredential(context, query, held.row, opened);
  if ("kind" in current) return current;
  held.used = tokenOf(current)?.access_token;
  const scheme = schemeOf(query.toolkit, held.row.scheme);
  if (scheme === undefined) return unusable(`toolkit ${query.toolkit.slug} does not declare ${held.row.scheme}`);
  const placed = placeCredential(scheme, current, held.row.variables, request);
  return "fault" in placed ? unusable(`${account.id}: ${placed.fault}; ${again(held.row)}`) : placed;
}

/**
 * Returns the database row of an account. If the cached row is fresh, returns it. Otherwise reads the row and checks that the account can
 * be used for this call. If it cannot, returns the fault.
 */
async function holdRow(
  context: Context,
  query: AccountQuery,
  account: CallableAccount,
): Promise<CachedAccount | AccountFault> {
  const known = context.held.get(account);
  const nowMs = context.clock.now();
  if (known !== undefined && nowMs - known.readAtMs < rowFreshMs) return known;
  const row = await findCallableAccount(context.db, query.projectId, account.id);
  if (row === undefined || !belongsTo(row, query.toolkit)) return noSuchAccount({ ...query, accountId: account.id });
  const fault = await faultOfRow(context, query, row);
  if (fault !== undefined) return fault;
  const held = { row, readAtMs: nowMs, used: undefined };
  context.held.set(account, held);
  return held;
}

/** Returns the credential in an account's row. Each call reads the row, so a credential that was replaced or deleted is no longer used. */
function openHeld(
  { sealer, opened, clock }: Context,
  { projectId }: AccountQuery,
  { id, credential: sealed, scheme }: CallableAccountRow,
): Credential | AccountFault {
  const known = opened.get(id);
  if (sealed !== null && known?.sealed.equals(sealed) === true) return known.credential;
  try {
    if (sealed !== null) {
      const entry = { sealed, credential: openCredential(sealer, { projectId, id }, sealed) };
      opened.set(id, entry);
      void clock.wait(rowFreshMs).then(() => opened.get(id) === entry && opened.delete(id));
      return entry.credential;
    }
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
  }
  return unusable(
    `the credential of ${id} cannot be decrypted with this deployment's vault keys; ${again({ scheme })}`,
  );
}

async function currentCredential(
  { clock, renewals }: Context,
  { projectId, toolkit }: AccountQuery,
  row: CallableAccountRow,
  credential: Credential,
): Promise<Credential | AccountFault> {
  const token = tokenOf(credential);
  const isRenewable = credential.scheme === "client_credentials" || token?.refresh_token !== undefined;
  if (!isRenewable || (token !== undefined && !runsOut(token, clock.now()))) return credential;
  const isGood = token?.expires_at !== undefined && token.expires_at > clock.now();
  // The token is still valid, so it is used although the last renewal failed. The refresher renews it later.
  if (isGood && row.lastError !== "") return credential;
  const renewal = await renewals.renew({ projectId, id: row.id }, toolkit, token?.access_token);
  if (renewal.kind === "renewed") return renewal.credential;
  if (renewal.kind === "ended") return unusable(`${row.id} is expired (${renewal.message}); ${again(row)}`);
  return isGood ? credential : unusable(`${row.id}: ${renewal.message}; try again later`);
}

async function refused(context: Context, query: AccountQuery, account: CallableAccount): Promise<boolean> {
  const { db, clock, renewals, held } = context;
  const { projectId, toolkit } = query;
  const row = await findCallableAccount(db, projectId, account.id);
  if (row?.state !== "active" || row.credential === null || !belongsTo(row, toolkit)) return false;
  const isSandbox = isPlayed(toolkit, context.sandboxMode);
  if (row.isSandbox !== isSandbox) return false;
  const credential = openHeld(context, query, row);
  if ("kind" in credential || credential.scheme === "none") return false;
  const token = tokenOf(credential);
  const used = held.get(account)?.used ?? token?.access_token;
  held.delete(account);
  if (token !== undefined && token.access_token !== used) return true;
  if (credential.scheme === "client_credentials" || token?.refresh_token !== undefined) {
    return (await renewals.renew({ projectId, id: row.id }, toolkit, used)).kind === "renewed";
  }
  const lastError = "the app refused the credential (401)";
  const refusal = { credential: row.credential, lastError, isRefused: !isSandbox, nowMs: clock.now() };
  const expiring = { projectId, id: row.id, toolkitSlug: toolkit.slug, entityId: row.entityId };
  await expireWithEvent(context, expiring, refusal, (tx) => expireAccount(tx, expiring, refusal));
  return false;
}

/** Minimum interval in milliseconds between two records that the app accepted an account's credential. */
const takenFreshMs = 3_600_000;

async function taken(
  { db, clock, held, noting }: Context,
  { projectId }: AccountQuery,
  account: CallableAccount,
  action: Action,
): Promise<void> {
  const row = held.get(account)?.row;
  if (row === undefined || row.isSandbox || row.scheme === "none" || !needsCredential(action)) return;
  const nowMs = clock.now();
  const { id, isCredentialTaken, credentialTriedAt } = row;
  if (isCredentialTaken === true && nowMs - (credentialTriedAt ?? 0) < takenFreshMs) return;
  const known = noting.get(id);
  if (known !== undefined) return known;
  const note = noteCredentialTry(db, { projectId, id }, { isTaken: true, nowMs }).finally(() => noting.delete(id));
  noting.set(id, note);
  return note;
}

async function lacked(
  { db, lacking }: Context,
  { projectId }: AccountQuery,
  { id, scheme }: CallableAccount,
  scopes: readonly string[],
): Promise<void> {
  const key = [id, ...scopes].join(" ");
  if (scheme !== "oauth2" || scopes.length === 0 || lacking.get(key)) return;
  await connectedAccountsForProject(db, projectId).addExtraScopes(id, scopes);
  lacking.set(key, true);
}
