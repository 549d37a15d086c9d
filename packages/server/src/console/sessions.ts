import { timingSafeEqual } from "node:crypto";
import { type Clock, digestSecret, type KeyId, type PersonId, type Principal, type ProjectId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type ConsoleSession, findConsoleSession, touchConsoleSession } from "@svc/db/console/sessions";
import { consoleSessionIdleMs } from "@svc/node";
import { createFreshCache } from "../auth/fresh-cache.ts";
import { isValidKey, type KeyLookupWait, projectPrincipalOf } from "../auth/key-cache.ts";
import type { KeyUse } from "../auth/key-use.ts";
import { storeDeadlineMs } from "../store-deadline.ts";
import { consoleFaults } from "./errors.ts";
import type { SessionProof } from "./proof.ts";

/** Cache of console sessions. Entries are at most one second old. */
export type Sessions = {
  /**
   * Returns the open console session to which a proof belongs. The two parts of the proof, a cookie and a value that the page sends, must
   * belong to the same session. Rejects with SESSION_INVALID or ORIGIN_REFUSED. Also rejects if the database is unavailable, or if `wait`,
   * which limits how many lookups run at once, refuses the lookup.
   */
  open(proof: SessionProof, wait?: KeyLookupWait): Promise<ConsoleSession>;
  /**
   * Returns the principal of a call from the console: an API key of the session, or the administrator. Rejects with SESSION_INVALID or
   * ORIGIN_REFUSED if the request proves no valid session. Also rejects if the database is unavailable, or if `wait` rejects.
   */
  authenticate(proof: SessionProof, wait?: KeyLookupWait): Promise<Principal>;
  /**
   * True if the session may act as the administrator: a user signed in with the administrator token, and this token has not changed since.
   * False otherwise.
   */
  isAdministrator(session: ConsoleSession): boolean;
  /**
   * Removes sessions from the cache: the given session, or all sessions with the given key, or of the given project or person. The node that
   * changes one of them calls this function.
   */
  forget(
    what: { session: ConsoleSession["id"] } | { key: KeyId } | { project: ProjectId } | { person: PersonId },
  ): void;
  /** Lifetime of a session from its sign-in, in milliseconds. Use of the session does not extend it. */
  readonly lifeMs: number;
};

/** Maximum open sessions of one key. If there are more, svc closes the oldest. */
export const sessionsOfKeyMax = 50;
const touchMs = 60_000;

/** Creates the store of console sign-in sessions, which are kept in the database. */
export function createSessions({
  db,
  clock,
  use,
  adminToken,
  hasAdministrators,
  lifeMs,
}: {
  db: Database;
  clock: Clock;
  use: KeyUse;
  adminToken: string | undefined;
  /** True if a person with the role administrator may administer the deployment at the address of the console. */
  hasAdministrators: boolean;
  lifeMs: number;
}): Sessions {
  const adminDigest = adminToken === undefined ? undefined : digestSecret(adminToken);
  const isPersonAdministrator = (session: ConsoleSession) => hasAdministrators && session.isAdministrator;
  const isOver = ({ createdAt, usedAt }: ConsoleSession, nowMs: number) =>
    nowMs >= createdAt + lifeMs || nowMs >= usedAt + consoleSessionIdleMs;
  const isAdministrator = (session: ConsoleSession) =>
    isPersonAdministrator(session) ||
    (adminDigest !== undefined && session.adminDigest !== null && timingSafeEqual(adminDigest, session.adminDigest));
  const load = async (digest: Buffer) => {
    const session = await findConsoleSession(db, digest);
    const nowMs = clock.now();
    if (session === undefined || isOver(session, nowMs) || nowMs - session.usedAt < touchMs) return session;
    await touchConsoleSession(db, session.id, nowMs);
    return { ...session, usedAt: nowMs };
  };
  const cache = createFreshCache({ clock, deadlineMs: storeDeadlineMs, load });
  const open: Sessions["open"] = async ({ originFault, cookie, half }, wait = (lookup) => lookup) => {
    if (originFault !== undefined) throw originFault;
    if (cookie === undefined) throw consoleFaults.SESSION_INVALID("the request has no cookie of the console");
    if (half === undefined)
      throw consoleFaults.SESSION_INVALID("the request has the cookie alone, without the header Svc-Session");
    const found = cache.find(digestSecret(cookie));
    const session = found instanceof Promise ? await wait(found) : found;
    const isOpen = session !== undefined && timingSafeEqual(session.halfDigest, digestSecret(half));
    if (!isOpen || isOver(session, clock.now())) throw consoleFaults.SESSION_INVALID("it has ended, or never existed");
    return session;
  };
  const authenticate: Sessions["authenticate"] = async (proof, wait) => {
    const session = await open(proof, wait);
    const { seat } = proof;
    // The request must name its seat (key of the session), even if the session has only one. Otherwise a page of one project could receive
    // another project's data.
    if (seat === undefined)
      throw consoleFaults.SESSION_INVALID("the request names no seat", "Send the id of a key, or admin, as Svc-Seat.");
    if (seat === "admin") {
      if (isPersonAdministrator(session)) return { kind: "admin", personId: session.personId ?? undefined };
      if (isAdministrator(session)) return { kind: "admin" };
      throw consoleFaults.SESSION_INVALID(
        "it has no seat of the administrator",
        "Sign in with the administrator's token.",
      );
    }
    if (!seat.startsWith("key_")) throw consoleFaults.SEAT_MALFORMED(seat);
    const key = session.seats.find(({ id }) => id === seat);
    // The key of a portal link makes calls only in a session of the portal, and such a session uses no other key.
    if (key === undefined || (key.purpose === "portal") !== proof.isPortal)
      throw consoleFaults.SESSION_INVALID(
        "it has no seat of that key",
        proof.isPortal ? portalHelp : "Sign in with a key of the project.",
      );
    if (!isValidKey(key, clock.now()))
      throw consoleFaults.SESSION_INVALID(
        proof.isPortal ? "its portal link has ended" : "the key of its seat is revoked or expired",
        proof.isPortal ? portalHelp : "Sign in with another key of the project.",
      );
    if (key.purpose === "person" && session.personId === null)
      throw consoleFaults.SESSION_INVALID("the key of its seat belongs to a person, who must sign in");
    use.note(key.id);
    const principal = projectPrincipalOf(key);
    return session.personId === null ? principal : { ...principal, personId: session.personId };
  };
  return {
    open,
    authenticate,
    isAdministrator,
    lifeMs,
    forget(what) {
      cache.forgetWhere(({ id, seats, personId }) => {
        if ("session" in what) return id === what.session;
        if ("person" in what) return personId === what.person;
        return seats.some((key) => ("key" in what ? key.id === what.key : key.projectId === what.project));
      });
    },
  };
}

const portalHelp = "Ask the sender of the portal link for another one.";
