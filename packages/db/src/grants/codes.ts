import { type GrantId, isoTime } from "@svc/core";
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { grantClients, grantCodes } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A code as it is stored: everything but its text. */
export type GrantCode = typeof grantCodes.$inferSelect;

/** Stores a code. */
export async function insertGrantCode(db: Executor, code: GrantCode): Promise<void> {
  await db.orm.insert(grantCodes).values(code);
}

/** The code with this digest, also when it is spent or its time is over. */
export async function findGrantCode(db: Executor, digest: Buffer): Promise<GrantCode | undefined> {
  const [code] = await db.orm.select().from(grantCodes).where(eq(grantCodes.digest, digest));
  return code;
}

/** Spends a code, whether its time is over or not: of any number that try, one is answered true, and the others wait for its transaction. */
export async function spendGrantCode(db: Executor, digest: Buffer, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(grantCodes)
    .set({ spentAt: nowMs })
    .where(and(eq(grantCodes.digest, digest), isNull(grantCodes.spentAt)))
    .returning({ digest: grantCodes.digest });
  return spent.length > 0;
}

/** Notes what a code was changed into. */
export async function noteGrantOfCode(db: Executor, digest: Buffer, grantId: GrantId): Promise<void> {
  await db.orm.update(grantCodes).set({ grantId }).where(eq(grantCodes.digest, digest));
}

/** From the old end of grant_codes_expires. */
const sweepCodes = statement<{ digest: Buffer }>(
  "sweep_grant_codes",
  `delete from grant_codes where digest in (
     select digest from grant_codes where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning digest`,
);

/** Removes up to `limit` codes whose time was over at `beforeMs`; returns how many. */
export async function sweepGrantCodes(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepCodes(db, [isoTime(beforeMs), limit])).length;
}

/** A client that registered itself. */
export type GrantClient = typeof grantClients.$inferSelect;

/** Where a client's id says who registered it: the characters that all clients of one sender have in common. */
export const grantClientSender: { readonly from: number; readonly characters: number } = { from: 8, characters: 6 };

/** Ids of before 0.2 are shorter or random there, and each is a sender of its own. */
const sender = `coalesce(nullif(substr(id, ${grantClientSender.from}, ${grantClientSender.characters}), ''), id)`;

/**
 * Of clients that nobody gave a grant yet, beyond `$1`, those are forgotten whose sender registered the most, the oldest first: whoever
 * registers many pushes out its own. From the end of grant_clients_used, where those that were never used stand. One that is given its
 * first grant meanwhile stays: the outer condition is read again once that is committed.
 */
const forgetUnused = statement<{ id: string }>(
  "forget_unused_grant_clients",
  `delete from grant_clients where id in (
     select id from (
       select id, created_at, count(*) over () - $1::int4 as excess,
         count(*) over (partition by ${sender}) as siblings,
         row_number() over (partition by ${sender} order by created_at, id) as place
       from (select id, created_at from grant_clients where used_at is null order by created_at desc limit $1::int4 + 100) newest) ranked
     where excess > 0 order by siblings - place desc, created_at limit (select greatest(0, count(*) - $1::int4) from (
       select from grant_clients where used_at is null order by created_at desc limit $1::int4 + 100) counted))
     and used_at is null returning id`,
);

/** Stores a client; of those that were never given a grant at most `unusedMax` stay. */
export async function insertGrantClient(db: Executor, client: GrantClient, unusedMax: number): Promise<void> {
  await db.orm.insert(grantClients).values(client);
  await forgetUnused(db, [unusedMax]);
}

/** The client with this id. */
export async function findGrantClient(db: Executor, id: string): Promise<GrantClient | undefined> {
  const [client] = await db.orm.select().from(grantClients).where(eq(grantClients.id, id));
  return client;
}

const dayMs = 86_400_000;

/** Notes that a client was given a grant or tokens, once a day. */
export async function touchGrantClient(db: Executor, id: string, nowMs: number): Promise<void> {
  const isLate = or(isNull(grantClients.usedAt), lt(grantClients.usedAt, nowMs - dayMs));
  await db.orm
    .update(grantClients)
    .set({ usedAt: nowMs })
    .where(and(eq(grantClients.id, id), isLate));
}

/** From the old end of grant_clients_used. */
const sweepUsed = statement<{ id: string }>(
  "sweep_used_grant_clients",
  `delete from grant_clients where id in (
     select id from grant_clients where used_at < $1::timestamptz order by used_at, created_at limit $2::int4
     for update skip locked) returning id`,
);

/** From the old end of those in grant_clients_used that have no time of use. */
const sweepUnused = statement<{ id: string }>(
  "sweep_unused_grant_clients",
  `delete from grant_clients where id in (
     select id from grant_clients where used_at is null and created_at < $1::timestamptz order by created_at limit $2::int4
     for update skip locked) returning id`,
);

/** Removes up to `limit` clients that were last used before `usedMs`; returns how many. */
export async function sweepUsedGrantClients(db: Executor, usedMs: number, limit: number): Promise<number> {
  return (await sweepUsed(db, [isoTime(usedMs), limit])).length;
}

/** Removes up to `limit` clients that registered before `createdMs` and were never used; returns how many. */
export async function sweepUnusedGrantClients(db: Executor, createdMs: number, limit: number): Promise<number> {
  return (await sweepUnused(db, [isoTime(createdMs), limit])).length;
}
