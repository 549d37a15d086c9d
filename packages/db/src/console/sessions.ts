import { isoTime, type KeyId, noConfirmRule, type SessionId, uuidOfId } from "@svc/core";
import { and, eq, lt, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { projectConfirmDocument } from "../documents/asks.ts";
import type { ApiKey, CallerKey } from "../keys/repo.ts";
import { findPerson } from "../people/people.ts";
import { apiKeys, consoleSeats, consoleSessions, projectPolicies } from "../schema/index.ts";
import type { ProjectHold } from "../schema/words.ts";
import { fieldsOf, namesBut } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, selectList, values } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

/** A console session (a signed-in browser) as stored: all of its data except its two secrets, of which only digests are stored. */
export type ConsoleSessionRow = typeof consoleSessions.$inferSelect;

/**
 * A session with its seats: the keys that the session may use for calls. Keys that have ended are included. `isAdministrator`: true if the
 * session belongs to a person with the role administrator.
 */
export type ConsoleSession = ConsoleSessionRow & {
  readonly seats: readonly CallerKey[];
  readonly isAdministrator: boolean;
};

/** Returns the session whose cookie has this digest, even if it has expired; undefined if there is none. */
export async function findConsoleSession(db: Executor, cookieDigest: Buffer): Promise<ConsoleSession | undefined> {
  const [session] = await db.orm.select().from(consoleSessions).where(eq(consoleSessions.cookieDigest, cookieDigest));
  if (session === undefined) return undefined;
  const person = session.personId === null ? undefined : await findPerson(db, session.personId);
  const seats = await listConsoleSeats(db, session.id);
  return { ...session, seats, isAdministrator: person?.isAdministrator === true };
}

const keyColumns = selectList(apiKeys, namesBut(apiKeys), "k");
const policyColumns = selectList(projectPolicies, ["quotas"], "p");

/** Reads the keys that a session may use (its seats), each with policies of its project. */
const readSeats = compose(
  "read_console_seats",
  { of: values(fieldsOf(consoleSeats, "sessionId")) },
  // `offset 0` makes PostgreSQL look up each key and policy by its id. A join might read all of them.
  ({ of }) => query<
    RawRow<ApiKey> & { quotas: unknown; projectConfirm: string | null; hold: ProjectHold; movedTo: string }
  >`
    select ${keyColumns.text}, ${policyColumns.text}, p.confirm::text as "projectConfirm", o.hold, o.moved_to as "movedTo" from console_seats t
    cross join lateral (select * from api_keys one where one.id = t.key_id offset 0) k
    cross join lateral (select * from projects one where one.id = k.project_id offset 0) o
    left join lateral (select * from project_policies one where one.project_id = k.project_id offset 0) p on true
    where t.session_id = ${of.sessionId} order by t.created_at`,
);

/** Returns the keys that a session may use (its seats), in the order in which they were added. */
export async function listConsoleSeats(db: Executor, id: SessionId): Promise<CallerKey[]> {
  const rows = await readSeats(db, { of: { sessionId: id } });
  return rows.map((row) => {
    const { quotas, projectConfirm: stored, ...key } = keyColumns.read(policyColumns.read(row));
    const projectConfirm = stored === null ? noConfirmRule : projectConfirmDocument.read(JSON.parse(stored));
    return { ...key, quotas: quotas ?? {}, projectConfirm, hold: row.hold, movedTo: row.movedTo };
  });
}

/** Stores a new console session (a browser's sign-in). */
export async function insertConsoleSession(db: Executor, session: ConsoleSessionRow): Promise<void> {
  await db.orm.insert(consoleSessions).values(session);
}

/** Gives a session the administrator's seat (the right to act as administrator), or removes it if `adminDigest` is null. */
export async function seatAdministrator(db: Executor, id: SessionId, adminDigest: Buffer | null): Promise<void> {
  await db.orm.update(consoleSessions).set({ adminDigest }).where(eq(consoleSessions.id, id));
}

/**
 * Removes a key's seat (its sign-in) from all console sessions except the newest ones. `$2` is the number of sessions that keep the seat.
 * Uses the index console_seats_of_key.
 */
const endOldSeats = statement<{ id: string }>(
  "end_old_console_seats",
  `delete from console_seats where key_id = $1::uuid and session_id in (
     select session_id from console_seats where key_id = $1::uuid order by session_id desc offset $2::int4)
   returning session_id as id`,
);

/** Deletes a session that has neither a key nor an administrator's right. */
const endSeatless = statement<{ id: string }>(
  "end_seatless_console_session",
  `delete from console_sessions where id = $1::uuid and admin_digest is null
     and not exists (select from console_seats t where t.session_id = $1::uuid) returning id`,
);

/**
 * Gives a session the right to use a key. Only the `most` newest sessions of the key keep this right. A session that loses its last key is
 * deleted.
 */
export async function seatKey(
  db: Executor,
  seat: { sessionId: SessionId; keyId: KeyId; createdAt: number },
  most: number,
): Promise<void> {
  await db.orm.insert(consoleSeats).values(seat).onConflictDoNothing();
  for (const { id } of await endOldSeats(db, [uuidOfId(seat.keyId), most])) await endSeatless(db, [id]);
}

/**
 * Removes the seat of a key (the right to use it) from a session. Deletes the session if that was its last seat. Returns false if the
 * session has no such seat.
 */
export function endConsoleSeat(db: Executor, { id, keyId }: { id: SessionId; keyId: KeyId }): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    const ended = await tx.orm
      .delete(consoleSeats)
      .where(and(eq(consoleSeats.sessionId, id), eq(consoleSeats.keyId, keyId)))
      .returning({ id: consoleSeats.sessionId });
    await endSeatless(tx, [uuidOfId(id)]);
    return ended.length > 0;
  });
}

/** Removes the administrator's seat (the right to act as administrator) from a session. Deletes the session if that was its last seat. */
export function endAdministratorSeat(db: Executor, id: SessionId): Promise<void> {
  return withTransaction(db, async (tx) => {
    await seatAdministrator(tx, id, null);
    await endSeatless(tx, [uuidOfId(id)]);
  });
}

/** Ends a console session: deletes it with all its seats (the rights to use keys). */
export async function endConsoleSession(db: Executor, id: SessionId): Promise<void> {
  await db.orm.delete(consoleSessions).where(eq(consoleSessions.id, id));
}

/** Stores `usedAt` as the time at which a console session was last used. If a later time is already stored, that time stays. */
export async function touchConsoleSession(db: Executor, id: SessionId, usedAt: number): Promise<void> {
  await db.orm
    .update(consoleSessions)
    .set({ usedAt })
    .where(and(eq(consoleSessions.id, id), lt(consoleSessions.usedAt, usedAt)));
}

/** A console session that uses a key, as the list of the key's sessions shows it. */
export type ListedConsoleSession = Pick<ConsoleSessionRow, "id" | "userAgent" | "createdAt" | "usedAt">;

/**
 * Returns the console sessions that may use a key, newest first. Begins after the session id `after`. Uses the index console_seats_of_key.
 */
export async function listConsoleSessions(
  db: Executor,
  keyId: KeyId,
  page: { after: SessionId | undefined; limit: number },
): Promise<ListedConsoleSession[]> {
  const ids = db.orm
    .select({ sessionId: consoleSeats.sessionId })
    .from(consoleSeats)
    .where(
      and(eq(consoleSeats.keyId, keyId), page.after === undefined ? undefined : lt(consoleSeats.sessionId, page.after)),
    )
    .orderBy(sql`${consoleSeats.sessionId} desc`)
    .limit(page.limit)
    .as("seat");
  const { id, userAgent, createdAt, usedAt } = consoleSessions;
  const session = db.orm
    .select({ id, userAgent, createdAt, usedAt })
    .from(consoleSessions)
    .where(eq(consoleSessions.id, ids.sessionId))
    .offset(0)
    .as("session");
  const rows = await db.orm.select().from(ids).crossJoinLateral(session).orderBy(sql`${ids.sessionId} desc`);
  return rows.map((row) => row.session);
}

/** Deletes console sessions that were last used before a given time, oldest first. Finds them by the index console_sessions_used. */
const sweepSessions = statement<{ id: string }>(
  "sweep_console_sessions",
  `delete from console_sessions where id in (
     select id from console_sessions where used_at < $1::timestamptz order by used_at limit $2::int4
     for update skip locked) returning id`,
);

/** Deletes up to `limit` console sessions that were not used since `beforeMs`. Returns the number of deleted sessions. */
export async function sweepConsoleSessions(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepSessions(db, [isoTime(beforeMs), limit])).length;
}
