import postgres from "postgres";
import type { PostKind } from "../post-kinds.ts";
import type { PeerEvent, PeerOutcome } from "./delivery-message.ts";

/** A connection pool of postgres.js, which is also the server's driver. Statements are prepared and pipelined. */
export type PeerPool = postgres.Sql;

/** Opens a pool. It connects at the first statement. */
export function openPool(databaseUrl: string, connectionsMax: number): PeerPool {
  return postgres(databaseUrl, { max: connectionsMax, onnotice: () => {} });
}

/** Creates the two tables of a peer: one for events, one for their outcomes. Each has one index, its primary key. */
export async function createTables(sql: PeerPool): Promise<void> {
  await sql`create table events (
    id text primary key,
    toolkit_slug text not null,
    trigger_slug text not null,
    received_at timestamptz not null,
    payload text not null
  )`;
  await sql`create table outcomes (
    event_id text primary key,
    at timestamptz not null default now(),
    duration_ms integer not null,
    status_code integer not null,
    error text not null
  )`;
}

/** Returns the values of an event's row, in the order of `insertEventSql`. */
export function eventValues(kind: PostKind, event: PeerEvent, payload: string): string[] {
  return [event.id, kind.toolkitSlug, kind.triggerSlug, event.receivedAt, payload];
}

/** Returns the SQL that inserts one event, whose five parameters start at number `first`. */
export function insertEventSql(first: number): string {
  const places = Array.from({ length: 5 }, (_, index) => `$${first + index}`).join(", ");
  return `insert into events (id, toolkit_slug, trigger_slug, received_at, payload) values (${places})`;
}

/** Records the outcome of one delivery. */
export async function recordOutcome(sql: PeerPool, eventId: string, outcome: PeerOutcome): Promise<void> {
  await sql`insert into outcomes (event_id, duration_ms, status_code, error)
    values (${eventId}, ${outcome.durationMs}, ${outcome.statusCode}, ${outcome.error})`;
}

/** Records the outcomes of many deliveries in one statement. */
export async function recordOutcomes(
  sql: PeerPool,
  outcomes: readonly (PeerOutcome & { eventId: string })[],
): Promise<void> {
  const column = <T>(value: (outcome: PeerOutcome & { eventId: string }) => T) => outcomes.map(value);
  await sql`insert into outcomes (event_id, duration_ms, status_code, error)
    select * from unnest(
      ${column(({ eventId }) => eventId)}::text[], ${column(({ durationMs }) => durationMs)}::int4[],
      ${column(({ statusCode }) => statusCode)}::int4[], ${column(({ error }) => error)}::text[]
    )`;
}

/** Returns the number of successful deliveries. */
export async function countDelivered(sql: PeerPool): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int4 as count from outcomes where error = ''`;
  return row?.count ?? 0;
}
