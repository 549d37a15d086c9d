import { createHash } from "node:crypto";
import { isPlayed, type Toolkit } from "@svc/catalog";
import { digestSecret, equalConstantTime } from "@svc/core";
import type { ConnectedAccount } from "@svc/db/connections/account";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { restoreConsoleLink, spendConsoleLink } from "@svc/db/console/links";
import { isUniqueViolation } from "@svc/db/driver";
import { activate } from "./activate-account.ts";
import { type Credential, openCredential } from "./credential.ts";
import { findToolkit, keepsOrigin } from "./definition.ts";
import { errorWords } from "./error-words.ts";
import { type OauthAnswer, page, redirect } from "./oauth-page.ts";
import { type ConsentState, consentMs, consentTotalMs, createStateSealer, type StateSealer } from "./oauth-state.ts";
import type { ConnectionsOptions } from "./options.ts";
import { schemeOf } from "./place-credential.ts";
import { probe } from "./probe.ts";
import { requestToken } from "./token-endpoint.ts";
import { toTokenSet } from "./token-times.ts";

/** Headers of a browser's request that the OAuth pages read. Names are in lower case. */
export type OauthRequestHeaders = { readonly cookie?: string | undefined };

/** An account whose user has given consent at the app, and whose browser has come back to svc. The account is not active yet. */
type Consent = Pick<ConnectedAccount, "projectId" | "entityId"> & { readonly accountId: ConnectedAccount["id"] };

/**
 * Function that completes an OAuth consent by calling `complete`, and does what the server must do around it, such as an entry in the audit
 * log. Returns the result of `complete`: the reason why the consent failed, or undefined if it succeeded.
 */
export type EnterConsent = (
  consent: Consent,
  complete: () => Promise<string | undefined>,
) => Promise<string | undefined>;

/**
 * The two pages that a person's browser visits while the person connects an account over OAuth, served at `/oauth/start`,
 * `/oauth/callback` and below `/oauth/callback/`.
 */
export type OauthPages = {
  handleOauthStart(url: URL, headers: OauthRequestHeaders): Promise<OauthAnswer>;
  handleOauthCallback(url: URL, headers: OauthRequestHeaders, enter?: EnterConsent): Promise<OauthAnswer>;
};

/** Dependencies of the OAuth pages, which a person's browser visits when connecting an account. */
export type OauthPagesOptions = Omit<ConnectionsOptions, "guard" | "isOauthRegistered">;

type Context = OauthPagesOptions & { readonly states: StateSealer };

/** Creates the OAuth pages. They return HTTP answers, and reject only if the database is unavailable. */
export function createOauthPages(options: OauthPagesOptions): OauthPages {
  const context: Context = { ...options, states: createStateSealer(options.sealer) };
  return {
    handleOauthStart: (url) => start(context, url),
    handleOauthCallback: (url, headers, enter = (_consent, work) => work()) =>
      callback({ ...context, enter }, url, headers),
  };
}

const badLink = () =>
  page(400, "This link does not work", "It is incomplete, or was not made by this service. Ask for a new one.");
const oldLink = () => page(400, "This link has expired", "Links are valid for 10 minutes. Ask for a new one.");
const usedLink = () => page(400, "This link has been used", "A link works once. Ask for a new one.");
const otherBrowser = () =>
  page(
    400,
    "Another browser started this",
    "The consent must come back to the browser that it was started in. Ask for a new link and stay in one browser.",
  );

async function start(context: Context, url: URL): Promise<OauthAnswer> {
  const { states, clock, sealer, publicUrl, oauth } = context;
  const state = states.open("start", url.searchParams.get("state") ?? "");
  if (state === undefined) return badLink();
  if (state.expiresAt <= clock.now()) return oldLink();
  await sealer.ready([state.projectId]);
  const account = await connectedAccountsForProject(context.db, state.projectId).find(state.accountId);
  if (account?.state !== "pending" || account.credential === null || account.refreshLeaseUntil !== null)
    return usedLink();
  const toolkit = await findToolkit(context.views, account);
  if (toolkit !== undefined && account.isSandbox !== isPlayed(toolkit, context.sandboxMode)) return badLink();
  if (toolkit !== undefined && !keepsOrigin(account, toolkit))
    return page(400, "The app's definition has changed", "It now names another address. Ask for a new link.");
  const client = toolkit && (await oauth.clientOf(toolkit));
  const scheme = toolkit && schemeOf(toolkit, "oauth2");
  const credential = openCredential(sealer, account, account.credential);
  const address = URL.parse(client?.authorizeUrl ?? "");
  if (client === undefined || address === null || scheme?.type !== "oauth2" || !("code_verifier" in credential)) {
    return page(400, "This app cannot be connected now", "The service holds no registration with the app.");
  }
  // Loaded at the first consent, because many nodes never connect an account by OAuth.
  const { calculatePKCECodeChallenge, generateRandomState } = await import("oauth4webapi");
  const browser = generateRandomState();
  const scopes = [...new Set([...scheme.defaultScopes, ...account.extraScopes])];
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: callbackUrlOf(publicUrl(), client.issuer),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    state: states.seal("callback", {
      ...state,
      expiresAt: clock.now() + consentMs,
      browser: digestSecret(browser).toString("base64url"),
    }),
    code_challenge: await calculatePKCECodeChallenge(credential.code_verifier),
    code_challenge_method: "S256",
    ...(client.resource === undefined ? {} : { resource: client.resource }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return redirect(address.href, { "set-cookie": cookieOf(publicUrl(), state, browser, consentMs / 1000) });
}

async function callback(
  context: Context & { readonly enter: EnterConsent },
  url: URL,
  headers: OauthRequestHeaders,
): Promise<OauthAnswer> {
  const { states, clock, db, sealer, publicUrl, enter } = context;
  const state = states.open("callback", url.searchParams.get("state") ?? "");
  if (state === undefined) return badLink();
  const browser = cookiesOf(headers.cookie ?? "").get(cookieNameOf(state)) ?? "";
  if (!equalConstantTime(digestSecret(browser).toString("base64url"), state.browser)) return otherBrowser();
  const nowMs = clock.now();
  if (state.expiresAt <= nowMs) return oldLink();
  await sealer.ready([state.projectId]);
  const accounts = connectedAccountsForProject(db, state.projectId);
  const account = await accounts.claimPending(state.accountId, nowMs - consentTotalMs, nowMs);
  if (account === undefined) return usedLink();
  const { id: accountId, projectId, entityId } = account;
  const failure = await enter({ projectId, accountId, entityId }, () =>
    spending(context, state, () => complete(context, account, url)),
  );
  if (failure !== undefined) await accounts.abandon(account.id, failure, clock.now());
  return finish(publicUrl(), state, failure);
}

/**
 * Runs `work`, which completes an OAuth consent, and marks the connect link that led to the consent as used. If the consent fails, the link
 * becomes valid again. Returns the reason of the failure, or undefined.
 */
async function spending(
  { db, clock }: Context,
  { linkId: id }: ConsentState,
  work: () => Promise<string | undefined>,
): Promise<string | undefined> {
  if (id === undefined) return work();
  if (!(await spendConsoleLink(db, { id }, clock.now()))) return "the link was used already: its account is connected";
  const restore = () => restoreConsoleLink(db, { id });
  const failure = await work().catch(async (error: unknown) => {
    await restore();
    throw error;
  });
  if (failure !== undefined) await restore();
  return failure;
}

/**
 * Returns the last page that the person's browser shows after the consent. If the consent failed, the page states the reason. The page
 * contains no secret of the token exchange. It also deletes the cookie of this consent.
 */
function finish(publicUrl: string, state: ConsentState, failure: string | undefined): OauthAnswer {
  const headers = { "set-cookie": cookieOf(publicUrl, state, "", 0) };
  if (state.redirectUrl !== "") {
    const target = new URL(state.redirectUrl);
    target.searchParams.set("connectedAccountId", state.accountId);
    target.searchParams.set("status", failure === undefined ? "active" : "failed");
    if (failure !== undefined) target.searchParams.set("reason", failure);
    return redirect(target.href, headers);
  }
  return failure === undefined
    ? page(200, "Connected", "The account is connected. You can close this page.", headers)
    : page(400, "Not connected", `The account was not connected: ${failure}. Close this page and try again.`, headers);
}

/**
 * Exchanges the OAuth authorization code for tokens and activates the connected account. Returns the reason if this failed, or undefined.
 */
async function complete(
  context: Context,
  account: ConnectedAccount,
  { pathname, searchParams: parameters }: URL,
): Promise<string | undefined> {
  const { clock, sealer, oauth, publicUrl } = context;
  const error = parameters.get("error");
  const code = parameters.get("code") ?? "";
  if (error !== null) {
    // Otherwise no consent could succeed any more, if an app asks for a scope that its issuer does not know.
    if (error === "invalid_scope")
      await connectedAccountsForProject(context.db, account.projectId).clearExtraScopes(account, account.entityId);
    const words = errorWords(error, [code, parameters.get("state") ?? ""]);
    return `consent was not given: the app answered ${words}`;
  }
  if (code === "") return "the app sent the browser back without a code";
  const toolkit = await findToolkit(context.views, account);
  if (toolkit !== undefined && account.isSandbox !== isPlayed(toolkit, context.sandboxMode))
    return "the sandbox was turned on or off before consent was given";
  // Otherwise the code and the verifier would go to a token endpoint that was published after the consent was started.
  if (toolkit !== undefined && !keepsOrigin(account, toolkit))
    return "the toolkit cannot be connected by this link: its definition now sends credentials elsewhere";
  const client = toolkit && (await oauth.clientOf(toolkit));
  const scheme = toolkit && schemeOf(toolkit, "oauth2");
  const verifier = account.credential && openCredential(sealer, account, account.credential);
  if (
    toolkit === undefined ||
    client === undefined ||
    scheme?.type !== "oauth2" ||
    verifier === null ||
    !("code_verifier" in verifier)
  ) {
    return "the toolkit cannot be connected on this deployment any more";
  }
  // RFC 9207: an answer of another issuer is refused, so that its code is never sent to this app's token endpoint.
  const issuer = parameters.get("iss");
  const redirectUri = callbackUrlOf(publicUrl(), client.issuer);
  const isForeign = scheme.issuer !== undefined && issuer !== null && issuer !== scheme.issuer;
  // Not every issuer names itself. So each issuer of a project's own client also has a callback address of its own.
  if (isForeign || callbackOf(pathname) !== callbackOf(redirectUri))
    return "the answer to the consent came from another issuer than the toolkit names";
  if (issuer === null && scheme.issuer !== undefined && !account.isSandbox) {
    const read = await oauth.readIssuer(scheme.issuer, account.projectId);
    if (read.kind === "found" && read.namesItself)
      return "the answer to the consent does not name its issuer, although this issuer names itself in each answer";
  }
  const { code_verifier: codeVerifier } = verifier;
  const party = { projectId: account.projectId, toolkit };
  const answer = await requestToken(client, { grant: "code", code, redirectUri, codeVerifier }, (url, init) =>
    oauth.fetch(url, init, party),
  );
  if (answer.kind !== "token") return `the code could not be exchanged: ${answer.message}`;
  const kept = scheme.refresh ? answer : { ...answer, refreshToken: undefined };
  const credential: Credential = { scheme: "oauth2", ...toTokenSet(kept, { nowMs: clock.now() }) };
  return activateConsented(context, { account, toolkit, credential, grantedScopes: answer.scopes });
}

async function activateConsented(
  context: Context,
  consented: { account: ConnectedAccount; toolkit: Toolkit; credential: Credential; grantedScopes: readonly string[] },
): Promise<string | undefined> {
  const { account, toolkit, grantedScopes } = consented;
  const { projectId, entityId, variables } = account;
  // The app has just issued the token, so the token needs no test. This call only finds out the app's own id of the account. If the call
  // fails, the account is stored without this id.
  const probed = await probe({ projectId, toolkit, entityId, variables, credential: consented.credential }, context);
  const reference = probed.kind === "taken" ? probed.reference : undefined;
  const credential = {
    ...consented.credential,
    ...(reference === undefined ? {} : { verified_reference: reference }),
  };
  try {
    const isTaken = probed.kind === "taken" && !isPlayed(toolkit, context.sandboxMode);
    const ready = { projectId, toolkit, entityId, variables, credential, grantedScopes, isTaken, pending: account };
    return (await activate(context, ready)) === undefined ? "the account was deleted meanwhile" : undefined;
  } catch (error) {
    if (!isUniqueViolation(error, "account_references_key")) throw error;
    return "the app's own id of the account is held by another account";
  }
}

/** Path of the callback addresses. The address for an issuer continues with a slash and 16 hexadecimal digits. */
const callbackPath = "/oauth/callback";

/**
 * Returns the address to which apps send the browser after the person's consent. The operator registers the address without an issuer in the
 * settings of each app's OAuth client. `issuer`: issuer of a project's own client; each issuer sends browsers to another address, so that no
 * issuer gets the code of another.
 */
export function callbackUrlOf(publicUrl: string, issuer: string | undefined): string {
  const base = `${publicUrl.replace(/\/$/, "")}${callbackPath}`;
  return issuer === undefined ? base : `${base}/${issuerKeyOf(issuer)}`;
}

/** Returns the 16 hexadecimal digits that stand for an issuer in addresses: the beginning of a SHA-256. */
export function issuerKeyOf(issuer: string): string {
  return createHash("sha256").update(issuer).digest("hex").slice(0, 16);
}

/** Returns the part of an address or a path from `callbackPath` on, which is the same behind a proxy that changes what precedes it. */
function callbackOf(address: string): string {
  return address.slice(address.lastIndexOf(callbackPath));
}

/** Returns the name of the cookie for a consent. Each consent has its own cookie, so that several consents can run in one browser. */
function cookieNameOf({ accountId }: ConsentState): string {
  return `svc_oauth_${accountId}`;
}

function cookieOf(publicUrl: string, state: ConsentState, value: string, maxAge: number): string {
  const { protocol, pathname } = new URL(publicUrl);
  const secure = protocol === "https:" ? "; Secure" : "";
  const path = `${pathname.replace(/\/$/, "")}/oauth`;
  return `${cookieNameOf(state)}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
}

function cookiesOf(header: string): Map<string, string> {
  const pairs = header.split(";").map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()] as const;
  });
  return new Map(pairs);
}
