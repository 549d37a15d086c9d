import { createId, isoTime, type KeyId, type PersonId } from "@svc/core";
import { and, asc, eq, gt } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { consoleSessions, people, personSeats, usedAssertions } from "../schema/index.ts";
import { namesBut } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { endSeat } from "./seats.ts";

/** A person who signs in with an account of the identity provider. Times are in epoch milliseconds. */
export type Person = typeof people.$inferSelect;

/** Facts about a person from the identity provider, and the right that follows from the person's groups. */
export type PersonFacts = Pick<Person, "issuer" | "subject" | "mail" | "name" | "isAdministrator">;

/**
 * Stores a person who signs in, and returns the row. A known person keeps the id and gets the new facts. The caller stores the refresh token
 * afterwards, because it is encrypted for the id.
 */
export async function enterPerson(db: Executor, facts: PersonFacts, nowMs: number): Promise<Person> {
  const { issuer, subject, ...changing } = facts;
  const times = { signedInAt: nowMs, checkedAt: nowMs, confirmedAt: nowMs };
  const [person] = await db.orm
    .insert(people)
    .values({ ...facts, ...times, id: createId("per", nowMs), createdAt: nowMs, refresh: null })
    .onConflictDoUpdate({ target: [people.issuer, people.subject], set: { ...changing, ...times } })
    .returning();
  if (person === undefined) throw new Error("an upsert returned no row");
  return person;
}

/** Stores what the provider reports when a node asks it again. `refresh`: the sealed next refresh token. */
export async function confirmPerson(
  db: Executor,
  id: PersonId,
  change: Pick<Person, "mail" | "name" | "isAdministrator" | "refresh">,
  nowMs: number,
): Promise<void> {
  await db.orm
    .update(people)
    .set({ ...change, confirmedAt: nowMs })
    .where(eq(people.id, id));
}

/** Stores the sealed refresh token of a person. Null if the provider gave none. */
export async function setPersonRefresh(db: Executor, id: PersonId, refresh: Buffer | null): Promise<void> {
  await db.orm.update(people).set({ refresh }).where(eq(people.id, id));
}

/** Returns the person with this id; undefined if there is none. */
export async function findPerson(db: Executor, id: PersonId): Promise<Person | undefined> {
  const [person] = await db.orm.select().from(people).where(eq(people.id, id));
  return person;
}

/** Returns the person with this account at the identity provider; undefined if the person has never signed in. */
export async function findPersonBySubject(
  db: Executor,
  { issuer, subject }: Pick<Person, "issuer" | "subject">,
): Promise<Person | undefined> {
  const [person] = await db.orm
    .select()
    .from(people)
    .where(and(eq(people.issuer, issuer), eq(people.subject, subject)));
  return person;
}

const columns = selectList(people, namesBut(people), "p");

/** Claims people whom no node has checked for a time, oldest first, by the index people_checked. Skips rows that another node has locked. */
const claim = statement<RawRow<Person>>(
  "claim_people",
  `update people p set checked_at = $1::timestamptz where p.id in (
     select id from people where refresh is not null and checked_at < $2::timestamptz
     order by checked_at limit $3::int4 for update skip locked) returning ${columns.text}`,
);

/**
 * Claims up to `limit` people with a refresh token whom no node has checked since `beforeMs`, and returns them. No other node then checks
 * them for the same time.
 */
export async function claimPeople(
  db: Executor,
  { nowMs, beforeMs, limit }: { nowMs: number; beforeMs: number; limit: number },
): Promise<Person[]> {
  return (await claim(db, [isoTime(nowMs), isoTime(beforeMs), limit])).map((row) => columns.read(row));
}

/**
 * Ends the access of a person: ends the sessions, revokes the keys of the seats and the keys made with them, and deletes the refresh token.
 * Roles that an invitation gave stay, so that the person can sign in again if the provider allows it. Returns the ended keys.
 */
export function endPerson(db: Executor, id: PersonId, nowMs: number): Promise<readonly KeyId[]> {
  return withTransaction(db, async (tx) => {
    const [locked] = await tx.orm.select({ id: people.id }).from(people).where(eq(people.id, id)).for("update");
    if (locked === undefined) return [];
    await tx.orm.update(people).set({ refresh: null, isAdministrator: false }).where(eq(people.id, id));
    await tx.orm.delete(consoleSessions).where(eq(consoleSessions.personId, id));
    const seats = await tx.orm.select().from(personSeats).where(eq(personSeats.personId, id));
    const ended: KeyId[] = [];
    for (const seat of seats) ended.push(...(await endSeat(tx, seat, nowMs)));
    return ended;
  });
}

/** Deletes a person with the seats. Call it after `endPerson`, so that no valid key is left. */
export async function deletePerson(db: Executor, id: PersonId): Promise<void> {
  await db.orm.delete(people).where(eq(people.id, id));
}

/** Ends the sessions that a person has in one session of the provider, or all of them if `providerSession` is undefined. */
export async function endPersonSessions(
  db: Executor,
  id: PersonId,
  providerSession: string | undefined,
): Promise<void> {
  const isMeant = providerSession === undefined ? undefined : eq(consoleSessions.providerSession, providerSession);
  await db.orm.delete(consoleSessions).where(and(eq(consoleSessions.personId, id), isMeant));
}

/** Returns people in the order of their ids, beginning after the id `after`. */
export function listPeople(db: Executor, page: { after: PersonId | undefined; limit: number }): Promise<Person[]> {
  return db.orm
    .select()
    .from(people)
    .where(page.after === undefined ? undefined : gt(people.id, page.after))
    .orderBy(asc(people.id))
    .limit(page.limit);
}

/**
 * Stores that a token of the provider was used. Returns false if it was used before. `digest`: digest of the token's id. The row is deleted
 * some time after `expiresAt`.
 */
export async function useAssertion(db: Executor, digest: Buffer, expiresAt: number): Promise<boolean> {
  const used = await db.orm
    .insert(usedAssertions)
    .values({ digest, expiresAt })
    .onConflictDoNothing()
    .returning({ digest: usedAssertions.digest });
  return used.length > 0;
}

/** Deletes used tokens of the provider that have expired, oldest first, by the index used_assertions_expires. */
const sweepUsed = statement<{ digest: Buffer }>(
  "sweep_used_assertions",
  `delete from used_assertions where digest in (
     select digest from used_assertions where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning digest`,
);

/** Deletes up to `limit` used tokens of the provider that had expired before `beforeMs`; returns how many. */
export async function sweepUsedAssertions(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepUsed(db, [isoTime(beforeMs), limit])).length;
}
