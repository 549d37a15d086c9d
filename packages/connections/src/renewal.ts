import type { Toolkit } from "@svc/catalog";
import type { ConnectedAccount } from "@svc/db/connections/account";
import {
  type AccountKey,
  type AccountRefreshLease,
  type AccountRefreshOutcome,
  claimAccountRefresh,
  settleAccountRefresh,
} from "@svc/db/connections/refresh";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { isUnavailable } from "@svc/db/driver";
import type { OperationalFilters } from "@svc/db/events/operational";
import { type Credential, openCredential, sealCredential, type TokenSet, tokenOf } from "./credential.ts";
import { keepsOrigin } from "./definition.ts";
import { expireWithEvent } from "./expire-account.ts";
import type { RenewalObserver } from "./observer.ts";
import type { ConnectionsOptions } from "./options.ts";
import { schemeOf } from "./place-credential.ts";
import { type OauthClient, requestToken, type TokenEndpointAnswer, type TokenRequest } from "./token-endpoint.ts";
import { timesOf, toTokenSet } from "./token-times.ts";

const backoffMinMs = 30_000;

const backoffMaxMs = 15 * 60_000;

/**
 * Result of renewing a token. `failed`: there was no usable answer of the app, and the account is unchanged. `ended`: the account is no
 * longer active.
 */
export type Renewal =
  | { readonly kind: "renewed"; readonly credential: Credential }
  | { readonly kind: "failed" | "ended"; readonly message: string };

/** Renews access tokens of connected accounts. Over all nodes, only one renewal of an account runs at a time. */
export type Renewals = {
  /**
   * Resolves when the account has an access token other than `used`, or cannot get one. If `used` is undefined, any access token will do.
   */
  renew(key: AccountKey, toolkit: Toolkit, used: string | undefined): Promise<Renewal>;
};

/** Dependencies of renewing the access tokens of connected accounts. */
export type RenewalOptions = Pick<ConnectionsOptions, "db" | "clock" | "sealer" | "oauth" | "sandboxMode"> & {
  /** Applies the filters of subscriptions to the operational events about expired accounts. */
  readonly filters: OperationalFilters;
  readonly renewalObserver?: RenewalObserver;
};

/**
 * Duration of a lease in milliseconds. During a lease, only one node renews the credential. The duration allows two requests to a token
 * endpoint.
 */
export const leaseMs = 60_000;
const waitMaxMs = 10_000;
const pollMs = 100;

/**
 * Creates the part of a node that renews the credentials of accounts. Calls that need the same renewal share it. Only one node renews an
 * account's credential at a time; the lease (exclusive right for a limited time) in the account's row says which node. The nodes without
 * the lease wait.
 */
export function createRenewals(options: RenewalOptions): Renewals {
  const underWay = new Map<string, Promise<Renewal>>();
  return {
    renew(key, toolkit, used) {
      const name = `${key.id} ${used ?? ""}`;
      const known = underWay.get(name);
      if (known !== undefined) return known;
      const renewal = renewOrWait(options, key, toolkit, used).finally(() => underWay.delete(name));
      underWay.set(name, renewal);
      return renewal;
    },
  };
}

async function renewOrWait(
  options: RenewalOptions,
  key: AccountKey,
  toolkit: Toolkit,
  used: string | undefined,
): Promise<Renewal> {
  const { db, clock } = options;
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const nowMs = clock.now();
    const lease: AccountRefreshLease = { ...key, leaseUntilMs: nowMs + leaseMs };
    const claimed = await claimAccountRefresh(db, lease, nowMs);
    if (claimed !== undefined) return renewClaimed(options, claimed, { lease, toolkit, used });
    const found = await whatIsThere(options, key, used);
    if (found.kind !== "failed" || waitedMs >= waitMaxMs) return found;
    await clock.wait(pollMs);
  }
}

function ended(row: ConnectedAccount | undefined): Renewal {
  const why = row === undefined ? "gone" : row.state;
  return { kind: "ended", message: row?.lastError || `the account is ${why}` };
}

/**
 * True if the account now has a token other than `used`, the token that the caller has sent. The caller then uses that token. False if the
 * account still has the token `used`, or if `used` is undefined; the token must then be renewed.
 */
function isAnother(credential: Credential, used: string | undefined): boolean {
  const token = tokenOf(credential);
  return used !== undefined && token !== undefined && token.access_token !== used;
}

/**
 * Renews the token of an account, and releases the caller's `lease` (the temporary right to renew). Returns the outcome. If the account no
 * longer has the token `used`, sends nothing and returns the new token.
 */
export async function renewClaimed(
  options: RenewalOptions,
  row: ConnectedAccount,
  { lease, toolkit, used }: { lease: AccountRefreshLease; toolkit: Toolkit; used: string | undefined },
): Promise<Renewal> {
  const { db, clock, sealer } = options;
  const credential = row.credential && openCredential(sealer, row, row.credential);
  if (row.credential === null || credential === null || isAnother(credential, used)) {
    await settleAccountRefresh(db, lease, { updatedAt: row.updatedAt });
    return credential === null ? ended(row) : { kind: "renewed", credential };
  }
  const startedAt = clock.now();
  const answer = await askForToken(options, row, credential, toolkit);
  const settled = await settleAnswer(options, row, { lease, credential, replacing: row.credential, answer });
  options.renewalObserver?.renewed({
    accountId: row.id,
    projectId: row.projectId,
    toolkitSlug: row.toolkitSlug,
    scheme: row.scheme,
    outcome: settled === "superseded" ? settled : settled.kind,
    error: answer.kind === "token" ? "" : answer.message,
    sandbox: row.isSandbox,
    durationMs: clock.now() - startedAt,
  });
  return settled === "superseded" ? whatIsThere(options, lease, used) : settled;
}

type Answered = { lease: AccountRefreshLease; credential: Credential; replacing: Buffer; answer: TokenEndpointAnswer };

/**
 * Stores the answer of the app's token endpoint to a renewal: the new token, or the error. Returns the result of the renewal. Returns
 * `superseded` if the account was changed in the meantime.
 */
async function settleAnswer(
  options: RenewalOptions,
  row: ConnectedAccount,
  { lease, credential, replacing, answer }: Answered,
): Promise<Renewal | "superseded"> {
  const { db, clock } = options;
  const nowMs = clock.now();
  if (answer.kind === "token") {
    const renewed = withToken(credential, answer, nowMs);
    const outcome = outcomeOf(options, row, renewed, { scopes: answer.scopes, nowMs });
    const isKept = await keepToken(options, lease, outcome, replacing);
    return isKept ? { kind: "renewed", credential: renewed } : "superseded";
  }
  const lastError = `the token could not be renewed: ${answer.message}`;
  if (endsAccount(answer, row)) {
    const outcome = {
      ...{ state: "expired" as const, lastError, refreshAt: null, updatedAt: nowMs },
      ...(answer.kind === "refused" && triedAs(row, false, nowMs)),
    };
    const isEnded = await expireWithEvent(options, row, { lastError, nowMs }, (tx) =>
      settleAccountRefresh(tx, lease, outcome),
    );
    return isEnded ? { kind: "ended", message: lastError } : "superseded";
  }
  const token = tokenOf(credential);
  const refreshAt = row.scheme === "oauth2" && token !== undefined ? retryAt(token, nowMs) : null;
  await settleAccountRefresh(db, lease, { lastError, refreshAt, updatedAt: nowMs });
  return { kind: "failed", message: lastError };
}

function outcomeOf(
  options: RenewalOptions,
  row: ConnectedAccount,
  renewed: Credential,
  { scopes, nowMs }: { scopes: readonly string[]; nowMs: number },
): AccountRefreshOutcome {
  return {
    ...(renewed.scheme === "oauth2" && "access_token" in renewed ? timesOf(renewed) : never),
    ...(scopes.length === 0 ? {} : { grantedScopes: [...scopes] }),
    credential: sealCredential(options.sealer, row, renewed),
    lastError: "",
    updatedAt: nowMs,
    ...triedAs(row, true, nowMs),
  };
}

/**
 * Returns the fields of an account's row that record whether the app accepted the credential. In the sandbox, returns an empty object,
 * because no app was asked.
 */
function triedAs({ isSandbox }: ConnectedAccount, isTaken: boolean, nowMs: number): Partial<AccountRefreshOutcome> {
  return isSandbox ? {} : { credentialTriedAt: nowMs, isCredentialTaken: isTaken };
}

const keepTries = 20;
const keepPauseMs = 1_000;

/**
 * Stores a new token. The app may already have ended the old token, so the new token is kept in memory while the database is unavailable.
 */
async function keepToken(
  { db, clock }: RenewalOptions,
  lease: AccountRefreshLease,
  outcome: AccountRefreshOutcome,
  replacing: Buffer,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await settleAccountRefresh(db, lease, outcome, replacing);
    } catch (error) {
      if (!isUnavailable(error) || tries === keepTries) throw error;
      await clock.wait(keepPauseMs);
    }
  }
}

/**
 * Reads the account again, because a concurrent request may have deleted the account or renewed its token. If the account was deleted, the
 * result says that it has ended. If the token was renewed, the result is the new token. Otherwise the result is a failure, because another
 * node is renewing the token.
 */
async function whatIsThere(
  { db, sealer }: RenewalOptions,
  key: AccountKey,
  used: string | undefined,
): Promise<Renewal> {
  const row = await connectedAccountsForProject(db, key.projectId).find(key.id);
  if (row?.state !== "active" || row.credential === null) return ended(row);
  const credential = openCredential(sealer, row, row.credential);
  if (isAnother(credential, used)) return { kind: "renewed", credential };
  return { kind: "failed", message: "another node renews it" };
}

const never = { refreshAt: null, expiresAt: null };

/**
 * True if the app's answer ends the account. False for all answers except refusals. Also false if the app refuses the deployment's OAuth
 * client, because the person's consent may still be valid.
 */
function endsAccount(answer: TokenEndpointAnswer, { scheme }: ConnectedAccount): boolean {
  if (answer.kind !== "refused") return false;
  return scheme === "client_credentials" || !/^(?:invalid|unauthorized)_client$/.test(answer.error);
}

function withToken(credential: Credential, answer: TokenEndpointAnswer & { kind: "token" }, nowMs: number): Credential {
  if (credential.scheme === "client_credentials") {
    return { ...credential, token: toTokenSet({ ...answer, refreshToken: undefined }, { nowMs }) };
  }
  const { refresh_token: refreshToken } = tokenOf(credential) ?? {};
  const { verified_reference } = credential;
  return {
    scheme: "oauth2",
    ...toTokenSet(answer, { nowMs, refreshToken }),
    ...(verified_reference === undefined ? {} : { verified_reference }),
  };
}

async function askForToken(
  { oauth }: RenewalOptions,
  row: ConnectedAccount,
  credential: Credential,
  toolkit: Toolkit,
): Promise<TokenEndpointAnswer> {
  const scheme = schemeOf(toolkit, row.scheme);
  const known = await oauth.clientOf(toolkit);
  let client: OauthClient | undefined = known;
  let request: TokenRequest | undefined;
  if (credential.scheme === "client_credentials" && scheme?.type === "client_credentials") {
    const tokenUrl = row.isSandbox ? (known?.tokenUrl ?? scheme.tokenUrl) : scheme.tokenUrl;
    client = { clientId: credential.client_id, clientSecret: credential.client_secret, tokenUrl };
    request = { grant: "client", scopes: scheme.defaultScopes };
  } else {
    const refreshToken = tokenOf(credential)?.refresh_token;
    request = refreshToken === undefined ? undefined : { grant: "refresh", refreshToken };
  }
  const fault = keepsOrigin(row, toolkit) ? faultOf(client, toolkit) : "the definition now sends credentials elsewhere";
  if (fault !== undefined) return { kind: "failed", message: fault };
  if (client === undefined || request === undefined) return { kind: "failed", message: "it cannot be renewed" };
  const { projectId } = row;
  return requestToken(client, request, (url, init) => oauth.fetch(url, init, { projectId, toolkit }));
}

function faultOf(client: OauthClient | undefined, { slug }: Toolkit): string | undefined {
  if (client === undefined) return `there is no OAuth client for ${slug}`;
  if (URL.canParse(client.tokenUrl)) return undefined;
  return `this deployment does not bind token_url of ${slug}`;
}

/**
 * Returns when to try again after a failed renewal, in epoch milliseconds. The pause doubles with each failure, from 30 seconds to 15
 * minutes.
 */
function retryAt(token: TokenSet, nowMs: number): number {
  const dueMs = timesOf(token).refreshAt ?? nowMs;
  // The pause is as long as the time since the renewal was due, so it doubles each time.
  return nowMs + Math.min(Math.max(nowMs - dueMs, backoffMinMs), backoffMaxMs);
}
