import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createId,
  digestSecret,
  Fault,
  generateToken,
  isoTime,
  type JsonObject,
  type ProjectId,
  parseId,
} from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import {
  type ConsoleSession,
  endConsoleSession,
  findConsoleSession,
  insertConsoleSession,
  seatKey,
} from "@svc/db/console/sessions";
import { eventTypesForProject, type StoredEventSettings } from "@svc/db/event-types/repo";
import type { CallerKey } from "@svc/db/keys/repo";
import { findProject } from "@svc/db/projects/repo";
import { imageTypeOf } from "@svc/node";
import { createFreshCache } from "../auth/fresh-cache.ts";
import { isValidKey } from "../auth/key-cache.ts";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import { allowFrames } from "../pages/page-headers.ts";
import { answerFile, type StaticFile } from "../pages/static-files.ts";
import { storeDeadlineMs } from "../store-deadline.ts";
import { consoleFaults } from "./errors.ts";
import { portalPath } from "./headers.ts";
import { findGoodLink, type GoodLink, withinLimit } from "./links.ts";
import { type PageAnswer, type PageCall, type PageCallOptions, textField } from "./page-call.ts";
import type { BuiltConsole } from "./read-files.ts";
import { sessionsOfKeyMax } from "./sessions.ts";
import { type SignInOptions, userAgentOf } from "./sign-in.ts";

// The path /portal/session, used by the pages of the portal. A session of the portal has one seat: that of the key of its link.
// POST {"link": "…"} opens a session. The link stays usable until it expires or is revoked. If the request also proves an open session of
// another customer, it opens none and returns {"replaces": {"from", "to"}}, each with "projectId", "entityId" and "projectName". With
// "replace": true, it ends that session and opens the new one. A session of the same customer is always replaced.
// POST {} returns the session that Svc-Portal-Session and the cookie belong to.
// Both return {"half": "…", "seat": {"keyId", "projectId", "projectName", "entityId", "readOnly", "expiresAt"},
// "portal": {"name", "color", "logo"}}. `half` is the value for the header Svc-Portal-Session, `keyId` that for Svc-Seat. `logo` is a data
// URL, or empty.
// DELETE ends the session and returns {}.
// Errors: SESSION_INVALID, LINK_INVALID (401), ORIGIN_REFUSED (403), SIGN_INS_EXCEEDED (429), REQUEST_MALFORMED (400).

/** Dependencies of the handler that opens and ends portal sessions (the sign-ins of customers in the portal). */
export type PortalOptions = Pick<SignInOptions, "db" | "clock" | "limit" | "addressOf" | "sessions" | "origin">;

/**
 * Creates the handlers of `/portal/session`. POST opens a session with a portal link, or returns the data of the open session. DELETE ends
 * the session.
 */
export function createPortalSession(options: PortalOptions): { POST: PageCall; DELETE: PageCall } {
  const { db, sessions } = options;
  return {
    async POST(body, req) {
      const link = textField(body, "link");
      if (link !== undefined)
        return withinLimit(options, req, link, async () => {
          const good = await findGoodLink(options, "portal", link);
          const former = await findFormer(req, options);
          if (former !== undefined && body["replace"] !== true && isOfOther(former.key, good.key))
            return { json: { replaces: await customersOf(options, former.key, good.key) } };
          return openSession(good, req, options, former?.session);
        });
      const { session, half } = await requireSession(req, options);
      return { json: await sessionJson(session, half, await settingsOf(session, options), options) };
    },
    async DELETE(_body, req) {
      const { session, half } = await requireSession(req, options);
      await endConsoleSession(db, session.id);
      sessions.forget({ session: session.id });
      return { cookie: cookieText(options, half, "", 0) };
    },
  };
}

async function requireSession(
  req: IncomingMessage,
  { origin, sessions }: PortalOptions,
): Promise<{ readonly session: ConsoleSession; readonly half: string }> {
  const proof = origin.proofOf(req);
  if (proof?.isPortal !== true || proof.half === undefined)
    throw consoleFaults.SESSION_INVALID("the request has none", "Open the portal link again.");
  return { session: await sessions.open(proof), half: proof.half };
}

/** A portal session that the browser already has when it opens a portal link. `key`: the key of that earlier session. */
type FormerSession = { readonly session: ConsoleSession; readonly key: CallerKey };

/**
 * Returns the open portal session of the browser that sends the request. A new session will replace it. Undefined if the request proves no
 * session, or if the session or its key has ended.
 */
async function findFormer(
  req: IncomingMessage,
  { origin, sessions, clock }: PortalOptions,
): Promise<FormerSession | undefined> {
  const proof = origin.proofOf(req);
  if (proof?.isPortal !== true) return undefined;
  const session = await sessions.open(proof).catch((error: unknown) => {
    if (error instanceof Fault && error.code === "unauthenticated") return undefined;
    throw error;
  });
  const key = session?.seats.find(({ purpose }) => purpose === "portal");
  return session !== undefined && key !== undefined && isValidKey(key, clock.now()) ? { session, key } : undefined;
}

/** Project and entity (customer or user) of a portal. */
type Customer = Pick<CallerKey, "projectId" | "entityId">;

function isOfOther(one: Customer, other: Customer): boolean {
  return one.projectId !== other.projectId || one.entityId !== other.entityId;
}

async function customersOf({ db }: PortalOptions, from: Customer, to: Customer): Promise<JsonObject> {
  const read = async ({ projectId, entityId }: Customer) => ({
    ...{ projectId, entityId, projectName: await nameOfPortal(db, projectId) },
  });
  return { from: await read(from), to: await read(to) };
}

/** Returns the name under which customers know a project: that of its portal, or else its own. */
async function nameOfPortal(db: Database, projectId: ProjectId): Promise<string> {
  const name = (await eventTypesForProject(db, projectId).settings())?.portal?.name ?? "";
  return name === "" ? ((await findProject(db, projectId))?.name ?? "") : name;
}

/**
 * Opens a portal session for a valid portal link. Ends the session `former`, because the browser replaces its cookie with that of the new
 * session.
 */
async function openSession(
  { link, key }: GoodLink,
  req: IncomingMessage,
  options: PortalOptions,
  former: ConsoleSession | undefined,
): Promise<PageAnswer> {
  const { db, clock, origin, sessions } = options;
  const settings = await eventTypesForProject(db, link.projectId).settings();
  const half = origin.newPortalHalf((settings?.portal?.origins ?? []).length > 0);
  const [cookie, nowMs] = [generateToken(), clock.now()];
  const row = {
    ...{ id: createId("ses", nowMs), cookieDigest: digestSecret(cookie), halfDigest: digestSecret(half) },
    ...{ adminDigest: null, personId: null, providerSession: null },
    ...{ userAgent: userAgentOf(req), createdAt: nowMs, usedAt: nowMs },
  };
  await withTransaction(db, async (tx) => {
    await insertConsoleSession(tx, row);
    await seatKey(tx, { sessionId: row.id, keyId: key.id, createdAt: nowMs }, sessionsOfKeyMax);
    if (former !== undefined) await endConsoleSession(tx, former.id);
  });
  if (former !== undefined) sessions.forget({ session: former.id });
  const session = await findConsoleSession(db, row.cookieDigest);
  if (session === undefined) throw consoleFaults.SESSION_INVALID("it ended meanwhile", "Open the portal link again.");
  const maxAgeSeconds = Math.ceil(Math.min(sessions.lifeMs, link.expiresAt - nowMs) / 1_000);
  return {
    json: await sessionJson(session, half, settings, options),
    cookie: cookieText(options, half, cookie, maxAgeSeconds),
  };
}

function cookieText({ origin }: PortalOptions, half: string, value: string, maxAgeSeconds: number): string {
  const { name, attributes } = origin.portalCookie(half);
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; ${attributes}`;
}

async function settingsOf({ seats }: ConsoleSession, { db }: PortalOptions): Promise<StoredEventSettings | undefined> {
  const [key] = seats;
  return key && eventTypesForProject(db, key.projectId).settings();
}

async function sessionJson(
  { seats }: ConsoleSession,
  half: string,
  settings: StoredEventSettings | undefined,
  { db, clock }: PortalOptions,
): Promise<JsonObject> {
  const key = seats.find(({ purpose }) => purpose === "portal");
  const expiresAt = key?.expiresAt ?? 0;
  if (key === undefined || key.revokedAt !== null || expiresAt <= clock.now())
    throw consoleFaults.SESSION_INVALID("its portal link has ended", "Ask the sender for another one.");
  const { id: keyId, projectId, entityId } = key;
  const projectName = (await findProject(db, projectId))?.name ?? "";
  const readOnly = key.accessClasses.length > 0;
  const { name = "", color = "" } = settings?.portal ?? {};
  return {
    half,
    seat: { keyId, projectId, projectName, entityId, readOnly, expiresAt: isoTime(expiresAt) },
    portal: { name, color, logo: logoUrl(settings?.logo ?? null) },
  };
}

/** Returns the project's logo for the portal as a data URL. Returns an empty text if the project has no logo. */
function logoUrl(logo: Buffer | null): string {
  const type = logo === null ? undefined : imageTypeOf(logo);
  return logo === null || type === undefined ? "" : `data:${type};base64,${logo.toString("base64")}`;
}

/**
 * Creates the handler of GET and HEAD below `/portal/`. A path with the id of a project is the portal's page, which only the sites that the
 * project names may embed. A path below `/portal/assets/` is a file of the build.
 */
export function createPortalPages({
  built,
  db,
  clock,
  mapError,
}: Pick<PortalOptions, "db" | "clock"> & Pick<PageCallOptions, "mapError"> & { readonly built: BuiltConsole }) {
  const files = "files" in built ? built.files : undefined;
  const cache = createFreshCache({
    clock,
    deadlineMs: storeDeadlineMs,
    load: (id) => originsOf(id.toString("latin1") as ProjectId),
  });
  const originsOf = async (projectId: ProjectId) => (await eventTypesForProject(db, projectId).settings())?.portal;
  const answerPage = async (projectId: ProjectId, page: StaticFile, req: IncomingMessage, res: ServerResponse) => {
    try {
      const look = await cache.find(Buffer.from(projectId, "latin1"));
      allowFrames(res, look?.origins ?? []);
      answerFile(page, req, res);
    } catch (error) {
      answerError(res, mapError(error, undefined));
    }
  };
  return (path: string, req: IncomingMessage, res: ServerResponse): void => {
    const { method = "" } = req;
    const rest = path.slice(portalPath.length);
    const projectId = parseId("prj", rest.split("/", 1)[0] ?? "");
    const isAsset = rest.startsWith("assets/");
    const file = isAsset || projectId !== undefined ? files?.get(isAsset ? rest : "portal.html") : undefined;
    if (method !== "GET" && method !== "HEAD") {
      answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, "GET"), 405, { allow: "GET, HEAD" });
    } else if (file === undefined) answerError(res, serverFaults.CALL_UNKNOWN(path), 404);
    else if (projectId === undefined) answerFile(file, req, res);
    else void answerPage(projectId, file, req, res);
  };
}
