import postgres from "postgres";
import { columnsOf } from "./columns.ts";

/** How long the fill reaches back. */
export const filledDays = 30;

const batchRows = 50_000;

/**
 * Makes a store of `events` settled events, each with a delivery, over the last 30 days: copies of the real ones in it under ids of
 * their own time, oldest first, as they would have come. One in a hundred is of another toolkit, so that a filter has to look for it.
 */
export async function fillEvents(databaseUrl: string, events: number, progress: (text: string) => void): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(functionText);
    const eventColumns = await columnsOf(sql, "events");
    const deliveryColumns = await columnsOf(sql, "deliveries");
    const [range] = await sql<{ from: string }[]>`
      select ((extract(epoch from now()) * 1000)::bigint - ${filledDays * 86_400_000}::bigint)::text as from`;
    const from = range?.from ?? "";
    const stepMs = (filledDays * 86_400_000) / events;
    for (let first = 0; first < events; first += batchRows) {
      progress(`filling a store: ${first.toLocaleString("en-US")} of ${events.toLocaleString("en-US")} events`);
      const count = Math.min(batchRows, events - first);
      await sql.unsafe(fillText(eventColumns, deliveryColumns), [first, count, from, stepMs]);
    }
    await sql`vacuum analyze events`;
    await sql`vacuum analyze deliveries`;
    await sql`checkpoint`;
  } finally {
    await sql.end();
  }
}

/** A UUIDv7 of a time, its random part made of a text. */
const functionText = `create or replace function pg_temp.id_at(ms bigint, salt text) returns uuid language sql immutable as $$
  select (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(salt), 1, 3) || '8' || substr(md5(salt), 4, 15))::uuid $$`;

/** What a copy has of its own; every other column is that of the row it is copied from. */
const eventValues: Readonly<Record<string, string>> = {
  id: "t.event_id",
  occurred_at: "t.at",
  received_at: "t.at",
  dedupe_key: "md5('dedupe' || t.number)",
  toolkit_slug: "case when t.number % 100 = 0 then 'calendar' else s.toolkit_slug end",
  trigger_slug: "case when t.number % 100 = 0 then 'calendar.events_changed' else s.trigger_slug end",
};

const deliveryValues: Readonly<Record<string, string>> = {
  id: "t.delivery_id",
  event_id: "t.event_id",
  last_attempt_at: "t.at",
  received_at: "t.at",
  created_at: "t.at",
};

function fillText(eventColumns: readonly string[], deliveryColumns: readonly string[]): string {
  const select = (columns: readonly string[], values: Readonly<Record<string, string>>, source: string) =>
    columns.map((column) => values[column] ?? `${source}."${column}"`).join(", ");
  const names = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(", ");
  return `with t as materialized (
    select number, to_timestamp(ms / 1000.0) as at, pg_temp.id_at(ms, 'event' || number) as event_id,
      pg_temp.id_at(ms + 1, 'delivery' || number) as delivery_id
    from (select number, $3::bigint + (number * $4::float8)::bigint as ms
      from generate_series($1::bigint, $1::bigint + $2::bigint - 1) as number) numbers
  ), stored as (
    insert into events (${names(eventColumns)})
    select ${select(eventColumns, eventValues, "s")} from t, (select * from events order by id desc limit 1) s
  )
  insert into deliveries (${names(deliveryColumns)})
  select ${select(deliveryColumns, deliveryValues, "d")}
  from t, (select * from deliveries where state = 'delivered' order by id desc limit 1) d`;
}
