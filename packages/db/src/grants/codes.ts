import { type GrantId, isoTime } from "@svc/core";
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { grantClients, grantCodes } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A code as stored: everything except its text. */
export type GrantCode = typeof grantCodes.$inferSelect;

/** Stores a code. */
export async function insertGrantCode(db: Executor, code: GrantCode): Promise<void> {
  await db.orm.insert(grantCodes).values(code);
}

/** Returns the code with this digest, even if it is spent or expired. */
export async function findGrantCode(db: Executor, digest: Buffer): Promise<GrantCode | undefined> {
  const [code] = await db.orm.select().from(grantCodes).where(eq(grantCodes.digest, digest));
  return code;
}

/** Spends a code, expired or not. Of concurrent calls one returns true; the others wait for its transaction. */
export async function spendGrantCode(db: Executor, digest: Buffer, nowMs: number): Promise<boolean> {
  const spent = await db.orm
    .update(grantCodes)
    .set({ spentAt: nowMs })
    .where(and(eq(grantCodes.digest, digest), isNull(grantCodes.spentAt)))
    .returning({ digest: grantCodes.digest });
  return spent.length > 0;
}

/** Stores the grant that a code was exchanged for. */
export async function noteGrantOfCode(db: Executor, digest: Buffer, grantId: GrantId): Promise<void> {
  await db.orm.update(grantCodes).set({ grantId }).where(eq(grantCodes.digest, digest));
}

/** Reads the index grant_codes_expires from its oldest entries. */
const sweepCodes = statement<{ digest: Buffer }>(
  "sweep_grant_codes",
  `delete from grant_codes where digest in (
     select digest from grant_codes where expires_at < $1::timestamptz order by expires_at limit $2::int4
     for update skip locked) returning digest`,
);

/** Deletes up to `limit` codes that had expired before `beforeMs`; returns how many. */
export async function sweepGrantCodes(db: Executor, beforeMs: number, limit: number): Promise<number> {
  return (await sweepCodes(db, [isoTime(beforeMs), limit])).length;
}

/** A client that registered itself. */
export type GrantClient = typeof grantClients.$inferSelect;

/** Position of the sender in a client's id: clients registered by one sender share these characters. */
export const grantClientSender: { readonly from: number; readonly characters: number } = { from: 8, characters: 6 };

/** Ids from before 0.2 are shorter or random there; each counts as its own sender. */
const sender = `coalesce(nullif(substr(id, ${grantClientSender.from}, ${grantClientSender.characters}), ''), id)`;

/**
 * Deletes the clients without a grant beyond `$1`, from the senders with the most registrations, oldest first, so that a sender with many
 * registrations displaces its own. From the end of grant_clients_used, which has the never used ones. A client that gets its first grant
 * meanwhile stays, because the outer condition is checked again after that commit.
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

/** Stores a client; keeps at most `unusedMax` clients without a grant. */
export async function insertGrantClient(db: Executor, client: GrantClient, unusedMax: number): Promise<void> {
  await db.orm.insert(grantClients).values(client);
  await forgetUnused(db, [unusedMax]);
}

/** Returns the client with this id. */
export async function findGrantClient(db: Executor, id: string): Promise<GrantClient | undefined> {
  const [client] = await db.orm.select().from(grantClients).where(eq(grantClients.id, id));
  return client;
}

const dayMs = 86_400_000;

/** Stores once a day that a client received a grant or tokens. */
export async function touchGrantClient(db: Executor, id: string, nowMs: number): Promise<void> {
  const isLate = or(isNull(grantClients.usedAt), lt(grantClients.usedAt, nowMs - dayMs));
  await db.orm
    .update(grantClients)
    .set({ usedAt: nowMs })
    .where(and(eq(grantClients.id, id), isLate));
}

/** Reads the index grant_clients_used from its oldest entries. */
const sweepUsed = statement<{ id: string }>(
  "sweep_used_grant_clients",
  `delete from grant_clients where id in (
     select id from grant_clients where used_at < $1::timestamptz order by used_at, created_at limit $2::int4
     for update skip locked) returning id`,
);

/** From the old end of the never used clients in grant_clients_used. */
const sweepUnused = statement<{ id: string }>(
  "sweep_unused_grant_clients",
  `delete from grant_clients where id in (
     select id from grant_clients where used_at is null and created_at < $1::timestamptz order by created_at limit $2::int4
     for update skip locked) returning id`,
);

/** Deletes up to `limit` clients last used before `usedMs`; returns how many. */
export async function sweepUsedGrantClients(db: Executor, usedMs: number, limit: number): Promise<number> {
  return (await sweepUsed(db, [isoTime(usedMs), limit])).length;
}

/** Deletes up to `limit` clients registered before `createdMs` and never used; returns how many. */
export async function sweepUnusedGrantClients(db: Executor, createdMs: number, limit: number): Promise<number> {
  return (await sweepUnused(db, [isoTime(createdMs), limit])).length;
}
