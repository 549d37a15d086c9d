import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Clock,
  createId,
  digestSecret,
  Fault,
  generateToken,
  isObject,
  parseExactJson,
  type Sealer,
} from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { insertConsoleSession, seatKey } from "@svc/db/console/sessions";
import { endPersonSessions, findPersonBySubject, useAssertion } from "@svc/db/people/people";
import { answerPage, html } from "../authorization/html.ts";
import { type AuthorizationOptions, answerUnkept, readForm, serve } from "../authorization/serve.ts";
import { consolePath } from "../console/headers.ts";
import { type LinkOptions, withinLimit } from "../console/links.ts";
import type { ConsoleOrigin } from "../console/proof.ts";
import { type Sessions, sessionsOfKeyMax } from "../console/sessions.ts";
import { sessionCookie, userAgentOf } from "../console/sign-in.ts";
import type { PageHandler } from "../pages/pages.ts";
import { httpStatusOf } from "../rpc/connect-error.ts";
import { peopleFaults } from "./errors.ts";
import { answerInvitation } from "./invitation-page.ts";
import { peoplePaths } from "./paths.ts";
import type { People } from "./people.ts";
import type { SignInFlow } from "./provider.ts";

/** Dependencies of the pages with which people sign in. */
export type PeoplePagesOptions = AuthorizationOptions &
  Omit<LinkOptions, "db"> & {
    readonly people: People;
    readonly db: Database;
    readonly clock: Clock;
    readonly sealer: Sealer;
    readonly sessions: Sessions;
    readonly origin: ConsoleOrigin;
    readonly publicUrl: () => string;
  };

/**
 * A sign-in that has begun, as the browser's cookie keeps it. `to`: path of the page to open afterwards, relative to the console.
 * `invitation`: token of the invitation that the person opened, if there is one.
 */
type KeptFlow = SignInFlow & { readonly to: string; readonly invitation?: string | undefined };

const flowContext = "deployment/sign_in_flow";
/** Lifetime of a sign-in that has begun, in seconds. */
const flowSeconds = 600;

/**
 * Returns the pages with which people sign in with company accounts, by path. `start` sends the browser to the company's identity provider,
 * and `callback` takes it back. At `logout` the provider reports that a person has signed out (OpenID Connect Back-Channel Logout).
 */
export function createPeoplePages(options: PeoplePagesOptions): ReadonlyMap<string, PageHandler> {
  type Run = (req: IncomingMessage, res: ServerResponse, options: PeoplePagesOptions) => Promise<void>;
  const page =
    (run: Run) =>
    (req: IncomingMessage, res: ServerResponse): Promise<void> =>
      run(req, res, options).catch((error: unknown) => refuse(res, error));
  return new Map([
    [peoplePaths.start, serve({ GET: page(start), POST: page(startInvited) }, options)],
    [peoplePaths.callback, serve({ GET: page(finish) }, options)],
    [peoplePaths.invitation, serve({ GET: page(showInvitation) }, options)],
    [peoplePaths.logout, serve({ POST: (req, res) => logOut(req, res, options) }, options)],
  ]);
}

function start(req: IncomingMessage, res: ServerResponse, options: PeoplePagesOptions): Promise<void> {
  const to = queryOf(req).get("to") ?? "";
  return begin(res, options, { to: /^(?:p|admin)\/[\w/.~-]{0,300}$/.test(to) ? to : "" });
}

async function startInvited(req: IncomingMessage, res: ServerResponse, options: PeoplePagesOptions): Promise<void> {
  const refusal = options.origin.faultOf(req);
  if (refusal !== undefined) throw refusal;
  const invitation = (await readForm(req, options)).get("invitation") ?? "";
  await begin(res, options, { to: "", invitation: invitation.slice(0, tokenCharactersMax) });
}

const tokenCharactersMax = 100;

async function showInvitation(_: IncomingMessage, res: ServerResponse, { people, publicUrl }: PeoplePagesOptions) {
  const { authorization_endpoint: endpoint = people.settings.issuer } = await people.provider.describe();
  answerInvitation(res, { start: `${publicUrl()}${peoplePaths.start}`, providerOrigin: new URL(endpoint).origin });
}

/** Sends the browser to the provider, and keeps the values of the sign-in in an encrypted cookie. */
async function begin(
  res: ServerResponse,
  { people, publicUrl, sealer, origin }: PeoplePagesOptions,
  wanted: Pick<KeptFlow, "to" | "invitation">,
): Promise<void> {
  const { url, flow } = await people.provider.start(`${publicUrl()}${peoplePaths.callback}`);
  const kept: KeptFlow = { ...flow, ...wanted };
  const sealed = sealer.seal(Buffer.from(JSON.stringify(kept), "utf8"), flowContext).toString("base64url");
  redirect(res, url, [flowCookie(origin, sealed, flowSeconds)]);
}

async function finish(req: IncomingMessage, res: ServerResponse, options: PeoplePagesOptions): Promise<void> {
  const { people, publicUrl, origin } = options;
  const query = queryOf(req);
  const flow = keptFlow(req, options);
  const account = await withinLimit(options, req, query.get("state") ?? "", () =>
    people.provider.finish(new URL(`${publicUrl()}${peoplePaths.callback}?${query}`), flow),
  );
  const entered = await people.enter(account, flow.invitation);
  const { cookie, half } = await openSession(
    { ...entered, providerSession: account.providerSession ?? null },
    req,
    options,
  );
  // The half is in the fragment, so no server, log or referrer gets it. Without the cookie it opens nothing.
  const to = `${publicUrl()}${consolePath}${flow.to}#half=${half}`;
  redirect(res, to, [cookie, flowCookie(origin, "", 0)]);
}

/** Stores a console session of a person with the keys of the person's seats. Returns its cookie and the half that the page keeps. */
async function openSession(
  { person, keys, providerSession }: Awaited<ReturnType<People["enter"]>> & { readonly providerSession: string | null },
  req: IncomingMessage,
  { db, clock, origin, sessions }: PeoplePagesOptions,
): Promise<{ cookie: string; half: string }> {
  const [cookie, half, nowMs] = [generateToken(), generateToken(), clock.now()];
  const id = createId("ses", nowMs);
  await withTransaction(db, async (tx) => {
    await insertConsoleSession(tx, {
      ...{ id, cookieDigest: digestSecret(cookie), halfDigest: digestSecret(half), adminDigest: null },
      ...{ personId: person.id, providerSession, userAgent: userAgentOf(req), createdAt: nowMs, usedAt: nowMs },
    });
    for (const keyId of keys) await seatKey(tx, { sessionId: id, keyId, createdAt: nowMs }, sessionsOfKeyMax);
  });
  return { cookie: sessionCookie(origin, cookie, sessions.lifeMs / 1_000), half };
}

function keptFlow(req: IncomingMessage, { sealer, origin }: PeoplePagesOptions): KeptFlow {
  const sealed = origin.readCookie(req, flowCookieName(origin));
  if (sealed === undefined)
    throw peopleFaults.SIGN_IN_FAILED("this browser has not started it, or it took more than ten minutes");
  try {
    const kept = parseExactJson(sealer.open(Buffer.from(sealed, "base64url"), flowContext).toString("utf8"));
    if (isObject(kept)) return kept as unknown as KeptFlow;
  } catch {
    // The cookie is not one of this service, or its key has gone.
  }
  throw peopleFaults.SIGN_IN_FAILED("the browser's cookie of the sign-in cannot be read");
}

/**
 * Ends the sessions that a logout token of the provider names: those of one session at the provider, or all sessions of the person. A token
 * is accepted once.
 */
async function logOut(req: IncomingMessage, res: ServerResponse, options: PeoplePagesOptions): Promise<void> {
  const { people, db, sessions, clock } = options;
  const { settings, provider } = people;
  const form = await readForm(req, options);
  const required = ["iat", "jti", "events", "sub"];
  const claims = await provider.tokens.verify(form.get("logout_token") ?? "", {
    audience: settings.clientId,
    required,
  });
  const { events, nonce, jti = "", sub = "" } = claims;
  if (nonce !== undefined || !isObject(events) || !Object.hasOwn(events, logoutEvent))
    throw peopleFaults.TOKEN_REFUSED("it is not a logout token");
  const isFirst = await useAssertion(db, digestSecret(`logout ${jti}`), clock.now() + assertionMs);
  if (!isFirst) throw peopleFaults.TOKEN_REFUSED("it was used before");
  const person = await findPersonBySubject(db, { issuer: settings.issuer, subject: sub });
  if (person !== undefined) {
    await endPersonSessions(db, person.id, typeof claims["sid"] === "string" ? claims["sid"] : undefined);
    sessions.forget({ person: person.id });
  }
  answerUnkept(res, 200, {});
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";
/** Milliseconds for which svc remembers a used token. Tokens are accepted for five minutes and the tolerance of clocks. */
const assertionMs = 600_000;

function refuse(res: ServerResponse, error: unknown): void {
  if (!(error instanceof Fault)) throw error;
  const help = error.details[0]?.help ?? "";
  answerPage(res, {
    status: httpStatusOf(error.code),
    title: "You are not signed in",
    body: html`<p>${message(error.message)}</p><p>${help}</p><p><a href="..${consolePath}">Back to the sign-in page</a></p>`,
  });
}

function message(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function queryOf({ url = "" }: IncomingMessage): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at));
}

function redirect(res: ServerResponse, to: string, cookies: readonly string[]): void {
  const headers = { location: to, "set-cookie": [...cookies], "cache-control": "no-store", "content-length": 0 };
  res.writeHead(303, { ...headers, "referrer-policy": "no-referrer" }).end();
}

function flowCookieName(origin: ConsoleOrigin): string {
  return `${origin.cookieName()}_flow`;
}

function flowCookie(origin: ConsoleOrigin, value: string, maxAgeSeconds: number): string {
  // The browser comes back from another site. So it must send this cookie with a navigation that another site began.
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${origin.isSecure() ? "; Secure" : ""}`;
  return `${flowCookieName(origin)}=${value}; ${attributes}`;
}
