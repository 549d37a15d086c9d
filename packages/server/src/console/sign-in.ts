import type { IncomingMessage } from "node:http";
import {
  type Clock,
  createId,
  digestSecret,
  Fault,
  generateToken,
  isWellFormedApiKey,
  type JsonObject,
  type JsonValue,
  type KeyId,
  type PersonId,
} from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { spendConsoleLink } from "@svc/db/console/links";
import {
  type ConsoleSession,
  endAdministratorSeat,
  endConsoleSeat,
  endConsoleSession,
  findConsoleSession,
  insertConsoleSession,
  seatAdministrator,
  seatKey,
} from "@svc/db/console/sessions";
import type { ApiKey } from "@svc/db/keys/repo";
import { findPerson } from "@svc/db/people/people";
import { findProject } from "@svc/db/projects/repo";
import { isValidKey, type KeyCache } from "../auth/key-cache.ts";
import { serverFaults } from "../errors.ts";
import { consoleFaults } from "./errors.ts";
import { findGoodLink, type LinkOptions, withinLimit } from "./links.ts";
import { type PageCall, textField } from "./page-call.ts";
import type { ConsoleOrigin, SessionProof } from "./proof.ts";
import { type Sessions, sessionsOfKeyMax } from "./sessions.ts";

// The path /console/session, used by the console's pages.
// POST {"key": "svc_…"} or {"link": "…"} signs in. If the header Svc-Session names an open session, the new seat is added to this session.
// POST {"link": "…", "look": true} returns {"seat": {…}}, the seat that the link would give. The link stays usable.
// POST {} returns the seats of the session that Svc-Session and the cookie belong to.
// Signing in and POST {} return {"half": "…", "seats": [{"keyId", "keyName", "projectId", "projectName", "role"}]}. `role` is member,
// approver or admin. For the administrator's seat, keyId is "admin" and keyName, projectId and projectName are empty. `half` is the value
// for the header Svc-Session. The cookie is the other half of the proof that a request belongs to the session. If the request sent
// Svc-Session, `half` has the same value.
// DELETE signs out. DELETE {"seat": "key_…"} or {"seat": "admin"} removes one seat. Both return {}. If a person signs out, the answer is
// {"signOutUrl": "https://…"}, the address at which the person also signs out of the company account.
// Errors: SESSION_INVALID, API_KEY_INVALID, LINK_INVALID (401), ORIGIN_REFUSED (403), SIGN_INS_EXCEEDED (429), REQUEST_MALFORMED (400).

/** Dependencies of the handler with which a browser signs in to the console and signs out. */
export type SignInOptions = LinkOptions & {
  readonly keys: KeyCache;
  readonly sessions: Sessions;
  readonly origin: ConsoleOrigin;
  readonly adminToken: string | undefined;
  /**
   * Returns the address at which a person signs out of the company account; undefined if the provider has none or does not answer.
   * Undefined if no people sign in with company accounts.
   */
  readonly signOutUrl: ((personId: PersonId) => Promise<string | undefined>) | undefined;
};

const userAgentCharacters = 200;

/** The access in the console (seat) that a sign-in gives: the access of a key, or of the administrator. */
type Seat = { readonly keyId: KeyId } | { readonly adminDigest: Buffer };

/**
 * Creates the handlers of `/console/session`. POST signs in with a key or a link, shows what a link gives access to, or returns the open
 * session. DELETE ends the session, or removes one key from it.
 */
export function createSignIn(options: SignInOptions): { POST: PageCall; DELETE: PageCall } {
  const { sessions, origin } = options;
  return {
    async POST(body, req) {
      const proof = origin.proofOf(req);
      const wanted = { key: textField(body, "key"), link: textField(body, "link") };
      if (wanted.key === undefined && wanted.link === undefined)
        return answerOf(await openOr401(sessions, proof), proof, options);
      const secret = wanted.key ?? wanted.link ?? "";
      if (body["look"] === true) return withinLimit(options, req, secret, () => lookAt(wanted.link ?? "", options));
      return withinLimit(options, req, secret, async () => signIn(await seatOf(wanted, options), req, options));
    },
    async DELETE(body, req) {
      const session = await openOr401(sessions, origin.proofOf(req));
      const seat = textField(body, "seat");
      if (seat === undefined) await endConsoleSession(options.db, session.id);
      else await giveUp(seat, session, options);
      sessions.forget({ session: session.id });
      if (seat !== undefined) return {};
      const signOutUrl = session.personId === null ? undefined : await options.signOutUrl?.(session.personId);
      return { json: { ...(signOutUrl !== undefined && { signOutUrl }) }, cookie: sessionCookie(origin, "", 0) };
    },
  };
}

function openOr401(sessions: Sessions, proof: SessionProof | undefined): Promise<ConsoleSession> {
  if (proof === undefined || proof.isPortal) throw consoleFaults.SESSION_INVALID("the request has none");
  return sessions.open(proof);
}

/**
 * Returns the console session of the request, if it is still valid. A sign-in then adds its seat (a signed-in key) to this session. Returns
 * undefined if the request has no session, or if the session has ended.
 */
async function openIfAny(sessions: Sessions, proof: SessionProof | undefined): Promise<ConsoleSession | undefined> {
  try {
    return proof?.half === undefined || proof.isPortal ? undefined : await sessions.open(proof);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

async function seatOf(
  { key, link }: { key: string | undefined; link: string | undefined },
  options: SignInOptions,
): Promise<Seat> {
  if (key !== undefined && link !== undefined)
    throw consoleFaults.REQUEST_MALFORMED("link", "the request has a key and a link", "Send one of them.");
  if (key !== undefined) return seatOfKey(key, options);
  const { db, clock } = options;
  const found = await findGoodLink(options, "sign_in", link ?? "");
  // If two requests use the link at the same time, only one of them succeeds.
  if (!(await spendConsoleLink(db, found.link, clock.now())))
    throw consoleFaults.LINK_INVALID(
      "the link was used already: it works once",
      "Run `npx svc console` for another one.",
    );
  return { keyId: found.key.id };
}

/**
 * Returns to which project and key a sign-in link gives access. The link can still be used afterwards. A page shows the answer to its user
 * before it adds access to a further project.
 */
async function lookAt(link: string, options: SignInOptions): Promise<{ json: JsonObject }> {
  const { key } = await findGoodLink(options, "sign_in", link);
  return { json: { seat: await seatJson(key, options) } };
}

async function seatOfKey(text: string, { keys, clock, adminToken }: SignInOptions): Promise<Seat> {
  const digest = digestSecret(text);
  if (adminToken !== undefined && digest.equals(digestSecret(adminToken))) return { adminDigest: digest };
  const key = await keys.find(digest);
  if (key === undefined || key.purpose !== "" || !isValidKey(key, clock.now()))
    throw serverFaults.API_KEY_INVALID(text.startsWith("svc_") && !isWellFormedApiKey(text));
  return { keyId: key.id };
}

async function signIn(seat: Seat, req: IncomingMessage, options: SignInOptions) {
  const { db, clock, sessions, origin } = options;
  const proof = origin.proofOf(req);
  const known = await openIfAny(sessions, proof);
  if (known !== undefined) {
    await take(seat, known, options);
    sessions.forget({ session: known.id });
    return answerOf(await reread(known, db), proof, options);
  }
  const [cookie, half] = [generateToken(), generateToken()];
  const nowMs = clock.now();
  const row = {
    ...{ id: createId("ses", nowMs), cookieDigest: digestSecret(cookie), halfDigest: digestSecret(half) },
    ...{ adminDigest: null, personId: null, providerSession: null },
    ...{ userAgent: userAgentOf(req), createdAt: nowMs, usedAt: nowMs },
  };
  await withTransaction(db, async (tx) => {
    await insertConsoleSession(tx, row);
    await take(seat, row, { db: tx, clock });
  });
  const { json } = await answerOf(await reread(row, db), { half }, options);
  return { json, cookie: sessionCookie(origin, cookie, sessions.lifeMs / 1_000) };
}

async function take(
  seat: Seat,
  { id }: Pick<ConsoleSession, "id">,
  { db, clock }: { db: Parameters<typeof seatKey>[0]; clock: Clock },
): Promise<void> {
  if ("adminDigest" in seat) await seatAdministrator(db, id, seat.adminDigest);
  else await seatKey(db, { sessionId: id, keyId: seat.keyId, createdAt: clock.now() }, sessionsOfKeyMax);
}

async function reread({ cookieDigest }: Pick<ConsoleSession, "cookieDigest">, db: Database): Promise<ConsoleSession> {
  const session = await findConsoleSession(db, cookieDigest);
  if (session === undefined) throw consoleFaults.SESSION_INVALID("it ended meanwhile");
  return session;
}

async function giveUp(seat: string, { id, seats }: ConsoleSession, { db }: SignInOptions): Promise<void> {
  if (seat === "admin") return endAdministratorSeat(db, id);
  const key = seats.find((one) => one.id === seat);
  if (key === undefined)
    throw consoleFaults.SESSION_INVALID("it has no such seat", "Send the keyId of one of its seats, or admin.");
  await endConsoleSeat(db, { id, keyId: key.id });
}

/**
 * Returns the answer that describes a sign-in session to the console's page. A session has a seat for each project that the user signed in
 * to. Seats whose keys have ended are left out.
 */
async function answerOf(
  session: ConsoleSession,
  proof: Pick<SessionProof, "half"> | undefined,
  options: SignInOptions,
): Promise<{ json: JsonObject }> {
  const { clock, sessions } = options;
  const valid = session.seats.filter((key) => isValidKey(key, clock.now()));
  const person = session.personId === null ? undefined : await findPerson(options.db, session.personId);
  const named = valid.map((key) =>
    key.purpose === "person" ? { ...key, name: person?.mail || person?.name || key.name } : key,
  );
  const seats: JsonValue[] = await Promise.all(named.map((key) => seatJson(key, options)));
  if (sessions.isAdministrator(session))
    seats.push({ keyId: "admin", keyName: "", projectId: "", projectName: "", role: "admin" });
  return { json: { half: proof?.half ?? "", seats } };
}

async function seatJson(
  { id, name, projectId, role }: Pick<ApiKey, "id" | "name" | "projectId" | "role">,
  { db }: Pick<SignInOptions, "db">,
): Promise<JsonObject> {
  const project = await findProject(db, projectId);
  return { keyId: id, keyName: name, projectId, projectName: project?.name ?? "", role };
}

/** Returns the text of the cookie of a console session. It is the half of the session's proof that scripts cannot read. */
export function sessionCookie(origin: ConsoleOrigin, value: string, maxAgeSeconds: number): string {
  const secure = origin.isSecure() ? "; Secure" : "";
  return `${origin.cookieName()}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * Returns the User-Agent header of a request, cut to the length that a session stores. It shows a person which browser a session belongs
 * to.
 */
export function userAgentOf(req: IncomingMessage): string {
  return (req.headers["user-agent"] ?? "").slice(0, userAgentCharacters);
}
