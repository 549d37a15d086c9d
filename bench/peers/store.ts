import { Pool } from "pg";
import type { PeerOutcome } from "./delivery-message.ts";

/** A pool of node-postgres; its statements are named, so the server parses each of them once a connection. */
export function openPool(databaseUrl: string, connectionsMax: number): Pool {
  return new Pool({ connectionString: databaseUrl, max: connectionsMax });
}

/** The two tables a peer keeps: what came, and what became of it. One index each, the primary key. */
export async function createTables(pool: Pool): Promise<void> {
  await pool.query(`
    create table events (
      id text primary key,
      toolkit_slug text not null,
      trigger_slug text not null,
      received_at timestamptz not null,
      payload text not null
    );
    create table outcomes (
      event_id text primary key,
      at timestamptz not null default now(),
      duration_ms integer not null,
      status_code integer not null,
      error text not null
    )`);
}

/** Records what became of one delivery. */
export async function recordOutcome(pool: Pool, eventId: string, outcome: PeerOutcome): Promise<void> {
  await pool.query({
    name: "record_outcome",
    text: "insert into outcomes (event_id, duration_ms, status_code, error) values ($1, $2, $3, $4)",
    values: [eventId, outcome.durationMs, outcome.statusCode, outcome.error],
  });
}

/** Records what became of many deliveries in one statement. */
export async function recordOutcomes(pool: Pool, outcomes: readonly (PeerOutcome & { eventId: string })[]): Promise<void> {
  await pool.query({
    name: "record_outcomes",
    text: `insert into outcomes (event_id, duration_ms, status_code, error)
      select * from unnest($1::text[], $2::int4[], $3::int4[], $4::text[])`,
    values: [
      outcomes.map(({ eventId }) => eventId),
      outcomes.map(({ durationMs }) => durationMs),
      outcomes.map(({ statusCode }) => statusCode),
      outcomes.map(({ error }) => error),
    ],
  });
}

/** Deliveries recorded with success. */
export async function countDelivered(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>("select count(*)::int4 as count from outcomes where error = ''");
  return rows[0]?.count ?? 0;
}
