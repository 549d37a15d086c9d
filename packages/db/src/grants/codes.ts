import { type GrantId, isoTime } from "@svc/core";
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { grantClients, grantCodes } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** An OAuth authorization code as the database stores it: its digest and its data, without the code's text. */
export type GrantCode = typeof grantCodes.$inferSelect;

/** Stores an OAuth authorization code. Only the digest of the code's text is stored. */
export async function insertGrantCode(db: Executor, code: GrantCode): Promise<void> {
  await db.orm.insert(grantCodes).values(code);
}

/** Returns the code with this digest, even if it is spent (already exchanged) or expired; undefined if there is none. */
export async function findGrantCode(db: Executor, digest: Buffer): Promise<GrantCode | undefined> {
  const [code] = await db.orm.select().from(grantCodes).where(eq(grantCodes.digest, digest));
  return code;
}

/**
 * Marks an authorization code as spent (exchanged), even if the code has expired. Of concurrent calls with the same code, only the first
 * returns true. The other calls wait for the end of the first call's transaction, and then return false.
 */
export async function spendGrantCode(db: Executor, digest: Buffer, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(grantCodes)
    .set({ spentAt: nowMs })
    .where(and(eq(grantCodes.digest, digest), isNull(grantCodes.spentAt)))
    .returning({ digest: grantCodes.digest });
  return spent.length > 0;
}

/**
 * Stores which grant (a person's permission for an agent) was made when an authorization code was exchanged for tokens. If the code is
 * presented again, the grant can be ended.
 */
export async function noteGrantOfCode(db: Executor, digest: Buffer, grantId: GrantId): Promise<void> {
  await db.orm.update(grantCodes).set({ grantId }).where(eq(grantCodes.digest, digest));
}

/** Deletes expired OAuth authorization codes, oldest first, by the index grant_codes_expires. */
const sweepCodes = statement<{ digest: Buffer }>(
  "sweep_grant_codes",
  `delete from grant_codes where digest in (
     select digest from grant_codes where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning digest`,
);

/** Deletes up to `limit` OAuth authorization codes that had expired before `beforeMs`. Returns the number of deleted codes. */
export async function sweepGrantCodes(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepCodes(db, [isoTime(beforeMs), limit])).length;
}

/** An OAuth client that registered itself. */
export type GrantClient = typeof grantClients.$inferSelect;

/**
 * Position and length of the part of a client's id that identifies the sender of the registration. All clients that one sender registered
 * have the same characters there.
 */
export const grantClientSender: { readonly from: number; readonly characters: number } = { from: 8, characters: 6 };

/** SQL for the sender part of an OAuth client's id. It identifies the address that registered the client. */
const sender = `coalesce(nullif(substr(id, ${grantClientSender.from}, ${grantClientSender.characters}), ''), id)`;

/**
 * Deletes the oldest OAuth clients without a grant if there are more than $1 of them. Begins with addresses that registered many clients.
 */
const forgetUnused = statement<{ id: string }>(
  "forget_unused_grant_clients",
  // Ids from before version 0.2 are shorter or random in the sender part, so each such id counts as its own sender. `used_at is null` is
  // checked twice: a client that gets its first grant at the same time is kept.
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

/**
 * Stores an OAuth client, and then deletes clients without a grant (a person's permission for an agent) until at most `unusedMax` of them
 * are left.
 */
export async function insertGrantClient(db: Executor, client: GrantClient, unusedMax: number): Promise<void> {
  await db.orm.insert(grantClients).values(client);
  await forgetUnused(db, [unusedMax]);
}

/** Returns the client with this id; undefined if there is none. */
export async function findGrantClient(db: Executor, id: string): Promise<GrantClient | undefined> {
  const [client] = await db.orm.select().from(grantClients).where(eq(grantClients.id, id));
  return client;
}

const dayMs = 86_400_000;

/**
 * Stores that an OAuth client received a grant (a person's permission for an agent) or tokens now. Does nothing if the stored time is less
 * than a day old.
 */
export async function touchGrantClient(db: Executor, id: string, nowMs: number): Promise<void> {
  const isLate = or(isNull(grantClients.usedAt), lt(grantClients.usedAt, nowMs - dayMs));
  await db.orm
    .update(grantClients)
    .set({ usedAt: nowMs })
    .where(and(eq(grantClients.id, id), isLate));
}

/** Deletes OAuth clients that were last used before a time, oldest first. Finds them by the index grant_clients_used. */
const sweepUsed = statement<{ id: string }>(
  "sweep_used_grant_clients",
  `delete from grant_clients where id in (
     select id from grant_clients where used_at < $1::timestamptz order by used_at, created_at limit $2::int4
     for update skip locked) returning id`,
);

/**
 * Deletes OAuth clients that registered before a time and never received a grant, oldest first. Finds them by the index grant_clients_used.
 */
const sweepUnused = statement<{ id: string }>(
  "sweep_unused_grant_clients",
  `delete from grant_clients where id in (
     select id from grant_clients where used_at is null and created_at < $1::timestamptz order by created_at limit $2::int4
     for update skip locked) returning id`,
);

/** Deletes up to `limit` OAuth clients that last received a grant or tokens before `usedMs`. Returns the number of deleted clients. */
export async function sweepUsedGrantClients(db: Executor, usedMs: number, limit: number): Promise<number> {
  return (await sweepUsed(db, [isoTime(usedMs), limit])).length;
}

/**
 * Deletes up to `limit` OAuth clients that registered before `createdMs` and never received a grant. Returns the number of deleted clients.
 */
export async function sweepUnusedGrantClients(db: Executor, createdMs: number, limit: number): Promise<number> {
  return (await sweepUnused(db, [isoTime(createdMs), limit])).length;
}
