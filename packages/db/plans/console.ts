import type { Executor } from "../src/connect.ts";
import {
  findConsoleLink,
  insertConsoleLink,
  restoreConsoleLink,
  retargetConsoleLink,
  spendConsoleLink,
  sweepConsoleLinks,
} from "../src/console/links.ts";
import { countPortalSessions, portalLinksForProject, sweepPortalKeys } from "../src/console/portal.ts";
import {
  endAdministratorSeat,
  endConsoleSeat,
  endConsoleSession,
  findConsoleSession,
  insertConsoleSession,
  listConsoleSeats,
  listConsoleSessions,
  seatAdministrator,
  seatKey,
  sweepConsoleSessions,
  touchConsoleSession,
} from "../src/console/sessions.ts";
import { findKeyById } from "../src/keys/repo.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const sessionId = seededId("ses", 7);
const keyId = seededId("key", 1);
const digest = Buffer.alloc(32, 7);
const session = {
  id: seededId("ses", 500_000),
  cookieDigest: digest,
  halfDigest: digest,
  adminDigest: null,
  personId: null,
  providerSession: null,
};
const link = {
  ...{ id: seededId("lnk", 500_000), digest, target: {}, projectId: seededId("prj", 1), keyId },
  ...{ purpose: "sign_in" as const, createdAt: nowMs, expiresAt: nowMs, spentAt: null },
};

// Recorded query plans of statements on the console's sessions, their keys (seats) and its links.
plan("a session that nobody has", (db) => findConsoleSession(db, digest));
plan("read_console_seats", (db) => listConsoleSeats(db, sessionId));
plan("store a session", (db) =>
  insertConsoleSession(db, { ...session, userAgent: "", createdAt: nowMs, usedAt: nowMs }),
);
plan("give a session the administrator's seat", (db) => seatAdministrator(db, sessionId, digest));
plan(["give a session the seat of a key", "end_old_console_seats"], (db) =>
  seatKey(db, { sessionId, keyId, createdAt: nowMs }, 50),
);
plan(["take the seat of a key out of a session", "end_seatless_console_session"], (db) =>
  endConsoleSeat(db, { id: sessionId, keyId }),
);
plan("end_seatless_console_session, after the administrator's seat", (db) => endAdministratorSeat(db, sessionId));
plan("end a session", (db) => endConsoleSession(db, sessionId));
plan("note the use of a session", (db) => touchConsoleSession(db, sessionId, nowMs));
plan("the sessions of a key", (db) => listConsoleSessions(db, keyId, { after: undefined, limit: 51 }), {
  statistics: ["fresh"],
});
plan("sweep_console_sessions", (db) => sweepConsoleSessions(db, seededAt(500), 100));
plan("store a link", (db) => insertConsoleLink(db, link));
plan("a link by its token", (db) => findConsoleLink(db, digest));
plan("give a link another target", (db) => retargetConsoleLink(db, seededId("lnk", 7), {}));
plan("spend a link", (db) => spendConsoleLink(db, { id: seededId("lnk", 7) }, nowMs));
plan("restore a link", (db) => restoreConsoleLink(db, { id: seededId("lnk", 7) }));
plan("sweep_console_links", (db) => sweepConsoleLinks(db, seededAt(500), 100));
plan("a key by its id", (db) => findKeyById(db, keyId));

const portal = (db: Executor) => portalLinksForProject(db, seededId("prj", 1));
const portalLink = {
  ...{ entityId: "ada", isReadOnly: false, createdAt: nowMs, expiresAt: nowMs + 86_400_000 },
  ...{ toolkitSlug: "events", makerKeyId: keyId },
};
const portalPage = { nowMs, after: seededId("lnk", 7), limit: 51 };

async function revokeMade(db: Executor): Promise<void> {
  const made = await portal(db).create(portalLink, 1_000);
  if (made === undefined) throw new Error("it was not made");
  await portal(db).revoke({ id: made.id }, nowMs);
}

// Recorded query plans of statements on portal links and their keys.
plan(["lock_portal_links", "make a portal link"], (db) => portal(db).create(portalLink, 1_000));
plan("a page of portal links", (db) => portal(db).list({ ...portalPage, entityId: "" }));
plan("a page of an entity's portal links", (db) => portal(db).list({ ...portalPage, entityId: "ada" }));
plan("end a portal link", revokeMade);
plan("end the portal links of an entity", (db) => portal(db).revoke({ entityId: "ada" }, nowMs));
plan("sweep_portal_keys", (db) => sweepPortalKeys(db, seededAt(500), 100));
plan("count_portal_sessions", (db) => countPortalSessions(db, nowMs));
