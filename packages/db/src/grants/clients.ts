import { isoTime } from "@svc/core";
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { grantClients } from "../schema/index.ts";
import { statement } from "../sql/statement.ts";

/** A client that registered itself. */
export type GrantClient = typeof grantClients.$inferSelect;

/**
 * Clients that nobody gave a grant yet, beyond the newest `$1`, are forgotten: whoever registers many pushes out his own. From the end
 * of grant_clients_used, where those that were never used stand. One that is given its first grant meanwhile stays: the outer condition is
 * read again once that is committed.
 */
const forgetUnused = statement<{ id: string }>(
  "forget_unused_grant_clients",
  `delete from grant_clients where id in (
     select id from grant_clients where used_at is null order by created_at desc offset $1::int4 limit 100)
     and used_at is null returning id`,
);

/** Stores a client; of those that were never given a grant the newest `unusedMax` stay. */
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
