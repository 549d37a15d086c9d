import { createId, idOfUuid, isoTime, type KeyId, type PersonId, uuidOfId } from "@svc/core";
import { and, asc, eq, gt, isNotNull, lte } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { consoleSessions, people, personSeats, usedAssertions } from "../schema/index.ts";
import { namesBut } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";
import { endSeat } from "./seats.ts";

/** A person who signs in with an account of the identity provider. Times are in epoch milliseconds. */
export type Person = typeof people.$inferSelect;

/** Facts about a person that the identity provider reports. `isAdministrator`: true if the person's groups give this right. */
export type PersonFacts = Pick<Person, "issuer" | "subject" | "mail" | "name" | "isAdministrator">;

/**
 * Stores a person who signs in, and returns the row. If the person is known, the id stays and the facts are replaced. The caller stores the
 * refresh token afterwards, because its encryption depends on the id.
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

/**
 * Stores the facts about a person that the identity provider returned at a regular check. `refresh`: the next refresh token, encrypted.
 * Stores nothing and returns false if the access of the person has ended in the meantime.
 */
export async function confirmPerson(
  db: Executor,
  id: PersonId,
  change: Pick<Person, "mail" | "name" | "isAdministrator" | "refresh">,
  nowMs: number,
): Promise<boolean> {
  const confirmed = await db.orm
    .update(people)
    .set({ ...change, confirmedAt: nowMs })
    .where(and(eq(people.id, id), isNotNull(people.refresh)))
    .returning({ id: people.id });
  return confirmed.length > 0;
}

/**
 * Replaces the encrypted refresh token of a person by the next one that the identity provider gave. Stores nothing if the access of the
 * person has ended in the meantime.
 */
export async function replacePersonRefresh(db: Executor, id: PersonId, refresh: Buffer | null): Promise<void> {
  await db.orm
    .update(people)
    .set({ refresh })
    .where(and(eq(people.id, id), isNotNull(people.refresh)));
}

/** Stores the sealed refresh token of a person who signs in. Null if the provider gave none. */
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
 * Claims up to `limit` people whom the identity provider must confirm again, and returns them. These have a refresh token, and no node has
 * checked them since `beforeMs`. Other nodes then do not check them for a while.
 */
export async function claimPeople(
  db: Executor,
  { nowMs, beforeMs, limit }: { nowMs: number; beforeMs: number; limit: number },
): Promise<Person[]> {
  return (await claim(db, [isoTime(nowMs), isoTime(beforeMs), limit])).map((row) => columns.read(row));
}

/**
 * Reads a page of people by the primary key, each with whether the access must end. `offset 0` keeps PostgreSQL from reading the seats of
 * all people.
 */
const unaskedPage = statement<{ id: string; isOver: boolean }>(
  "list_unasked_people",
  `select p.id::text as id, p.refresh is null and p.signed_in_at <= $2::timestamptz and exists (
       select from person_seats s cross join lateral (select revoked_at from api_keys where id = s.key_id offset 0) k
       where s.person_id = p.id and k.revoked_at is null offset 0) as "isOver"
   from (select id, refresh, signed_in_at from people where id > $1::uuid order by id limit $3::int4) p order by p.id`,
);

/**
 * Returns people whose access must end because svc has no refresh token to check them with the identity provider. They signed in at
 * `signedInMs` or before, and still have a valid key. Reads `limit` people after the id `after`. `next`: where the next page begins.
 */
export async function listUnaskedPeople(
  db: Executor,
  { after, signedInMs, limit }: { after: PersonId | undefined; signedInMs: number; limit: number },
): Promise<{ readonly over: readonly PersonId[]; readonly next: PersonId | undefined }> {
  const bound = after === undefined ? "00000000-0000-0000-0000-000000000000" : uuidOfId(after);
  const rows = await unaskedPage(db, [bound, isoTime(signedInMs), limit]);
  const ids = rows.map(({ id }) => idOfUuid("per", id));
  return { over: ids.filter((_, at) => rows[at]?.isOver), next: rows.length === limit ? ids.at(-1) : undefined };
}

/**
 * Ends the access of a person: ends the sessions, revokes the keys of the seats and the keys made with them, and deletes the refresh token.
 * Roles that an invitation gave stay, so that the person can sign in again if the provider allows it. Returns the ended keys.
 * `signedInMs`: ends nothing if the person signed in after this time. Undefined: ends the access in any case.
 */
export function endPerson(db: Executor, id: PersonId, nowMs: number, signedInMs?: number): Promise<readonly KeyId[]> {
  return withTransaction(db, async (tx) => {
    const isMeant = signedInMs === undefined ? undefined : lte(people.signedInAt, signedInMs);
    const isOf = and(eq(people.id, id), isMeant);
    const [locked] = await tx.orm.select({ id: people.id }).from(people).where(isOf).for("update");
    if (locked === undefined) return [];
    await tx.orm.update(people).set({ refresh: null, isAdministrator: false }).where(eq(people.id, id));
    await tx.orm.delete(consoleSessions).where(eq(consoleSessions.personId, id));
    const seats = await tx.orm.select().from(personSeats).where(eq(personSeats.personId, id));
    const ended: KeyId[] = [];
    for (const seat of seats) ended.push(...(await endSeat(tx, seat, nowMs)));
    return ended;
  });
}

/**
 * Deletes a person and all of the person's seats (roles in projects, each with a key). Call `endPerson` first, so that no valid key is left.
 */
export async function deletePerson(db: Executor, id: PersonId): Promise<void> {
  await db.orm.delete(people).where(eq(people.id, id));
}

/**
 * Ends the console sessions of a person that belong to one session at the identity provider. If `providerSession` is undefined, ends all of
 * them.
 */
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
 * Stores that an identity token of the provider was used, because each is accepted only once. Returns false if it was used before. `digest`:
 * digest of the token's id. The row is deleted some time after `expiresAt`.
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
