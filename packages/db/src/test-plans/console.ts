import {
  findConsoleLink,
  insertConsoleLink,
  restoreConsoleLink,
  retargetConsoleLink,
  spendConsoleLink,
  sweepConsoleLinks,
} from "../console/links.ts";
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
} from "../console/sessions.ts";
import { findKeyById } from "../keys/repo.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const sessionId = seededId("ses", 7);
const keyId = seededId("key", 1);
const digest = Buffer.alloc(32, 7);
const session = { id: seededId("ses", 500_000), cookieDigest: digest, halfDigest: digest, adminDigest: null };
const link = {
  ...{ id: seededId("lnk", 500_000), digest, target: {}, projectId: seededId("prj", 1), keyId },
  ...{ purpose: "sign_in" as const, createdAt: nowMs, expiresAt: nowMs, spentAt: null },
};

/** Sessions, seats and links of the console. */
export const consolePlans: readonly Plan[] = [
  {
    name: "a session that nobody has",
    run: (db) => findConsoleSession(db, digest),
    reads: { console_sessions: "console_sessions_cookie(cookie_digest)" },
  },
  {
    name: "read_console_seats",
    run: (db) => listConsoleSeats(db, sessionId),
    reads: {
      console_seats: "console_seats_key(session_id)",
      api_keys: "api_keys_pkey(id)",
      project_policies: "project_policies_pkey(project_id)",
    },
  },
  {
    name: "store a session",
    run: (db) => insertConsoleSession(db, { ...session, userAgent: "", createdAt: nowMs, usedAt: nowMs }),
    reads: {},
  },
  {
    name: "give a session the administrator's seat",
    run: (db) => seatAdministrator(db, sessionId, digest),
    reads: { console_sessions: "console_sessions_pkey(id)" },
  },
  {
    name: "give a session the seat of a key",
    words: `insert into "console_seats"`,
    run: (db) => seatKey(db, { sessionId, keyId, createdAt: nowMs }, 50),
    reads: {},
  },
  {
    name: "end_old_console_seats",
    run: (db) => seatKey(db, { sessionId, keyId, createdAt: nowMs }, 50),
    reads: {
      console_seats: [
        "console_seats_of_key(key_id)",
        "console_seats_of_key(key_id, session_id)",
        "console_seats_key(session_id, key_id)",
      ],
    },
  },
  {
    name: "take the seat of a key out of a session",
    words: `delete from "console_seats"`,
    run: (db) => endConsoleSeat(db, { id: sessionId, keyId }),
    reads: { console_seats: ["console_seats_key(session_id, key_id)", "console_seats_of_key(key_id, session_id)"] },
  },
  {
    name: "end_seatless_console_session",
    run: (db) => endConsoleSeat(db, { id: sessionId, keyId }),
    reads: { console_sessions: "console_sessions_pkey(id)", console_seats: "console_seats_key(session_id)" },
  },
  {
    name: "end_seatless_console_session",
    variant: "after the administrator's seat",
    run: (db) => endAdministratorSeat(db, sessionId),
    reads: { console_sessions: "console_sessions_pkey(id)", console_seats: "console_seats_key(session_id)" },
  },
  {
    name: "end a session",
    run: (db) => endConsoleSession(db, sessionId),
    reads: { console_sessions: "console_sessions_pkey(id)" },
  },
  {
    name: "note the use of a session",
    run: (db) => touchConsoleSession(db, sessionId, nowMs),
    reads: { console_sessions: "console_sessions_pkey(id)" },
  },
  {
    name: "the sessions of a key",
    statistics: ["fresh"],
    run: (db) => listConsoleSessions(db, keyId, { after: undefined, limit: 51 }),
    reads: { console_seats: "console_seats_of_key(key_id)", console_sessions: "console_sessions_pkey(id)" },
  },
  {
    name: "sweep_console_sessions",
    run: (db) => sweepConsoleSessions(db, seededAt(500), 100),
    reads: { console_sessions: ["console_sessions_used(used_at)", "console_sessions_pkey(id)"] },
  },
  { name: "store a link", run: (db) => insertConsoleLink(db, link), reads: {} },
  {
    name: "a link by its token",
    run: (db) => findConsoleLink(db, digest),
    reads: { console_links: "console_links_digest(digest)" },
  },
  {
    name: "give a link another target",
    run: (db) => retargetConsoleLink(db, seededId("lnk", 7), {}),
    reads: { console_links: "console_links_pkey(id)" },
  },
  {
    name: "spend a link",
    run: (db) => spendConsoleLink(db, { id: seededId("lnk", 7) }, nowMs),
    reads: { console_links: "console_links_pkey(id)" },
  },
  {
    name: "restore a link",
    run: (db) => restoreConsoleLink(db, { id: seededId("lnk", 7) }),
    reads: { console_links: "console_links_pkey(id)" },
  },
  {
    name: "sweep_console_links",
    run: (db) => sweepConsoleLinks(db, seededAt(500), 100),
    reads: { console_links: ["console_links_expires(expires_at)", "console_links_pkey(id)"] },
  },
  { name: "a key by its id", run: (db) => findKeyById(db, keyId), reads: { api_keys: "api_keys_pkey(id)" } },
];
