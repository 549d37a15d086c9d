import postgres from "postgres";
import { columnsOf } from "./columns.ts";
import { withoutIndexes } from "./indexes.ts";

/** Number of past days over which events are spread. */
export const filledDays = 30;

const batchRows = 50_000;

/** Number of connections that fill the store at the same time, each in batches. */
const fillers = 2;

/**
 * Fills a store with `events` finished events, each with a delivery, spread over the last 30 days. They are copies of the real ones, with
 * ids of their own time, inserted in the order of time. One in a hundred belongs to another toolkit, so that a filter has to search for it.
 * No other client that writes to the store may be connected.
 */
export async function fillEvents(databaseUrl: string, events: number, progress: (text: string) => void): Promise<void> {
  const connection = { synchronous_commit: "off", maintenance_work_mem: "256MB" };
  const sql = postgres(databaseUrl, { max: fillers, onnotice: () => {}, connection });
  try {
    await withoutIndexes(sql, ["events", "deliveries"], () => insertCopies(sql, events, progress));
    await Promise.all([sql`vacuum analyze events`, sql`vacuum analyze deliveries`]);
    await sql`checkpoint`;
  } finally {
    await sql.end();
  }
}

async function insertCopies(sql: postgres.Sql, events: number, progress: (text: string) => void): Promise<void> {
  const text = fillText(await columnsOf(sql, "events"), await columnsOf(sql, "deliveries"));
  const models = await readModels(sql);
  const stepMs = (filledDays * 86_400_000) / events;
  let next = 0;
  const fill = async () => {
    for (let first = next; first < events; first = next) {
      next += batchRows;
      progress(`filling a store: ${first.toLocaleString("en-US")} of ${events.toLocaleString("en-US")} events`);
      await sql.unsafe(text, [
        first,
        Math.min(batchRows, events - first),
        models.from,
        stepMs,
        models.event,
        models.delivery,
      ]);
    }
  };
  await Promise.all(Array.from({ length: fillers }, fill));
  progress("making the indexes of a store");
}

/** Reads the real rows to copy, and the time in milliseconds when the oldest one was received. */
async function readModels(sql: postgres.Sql): Promise<{ from: string; event: string; delivery: string }> {
  const [row] = await sql<{ from: string; event: string; delivery: string }[]>`
    select ((extract(epoch from now()) * 1000)::bigint - ${filledDays * 86_400_000}::bigint)::text as from,
      (select max(id::text) from events) as event,
      (select max(id::text) from deliveries where state = 'delivered') as delivery`;
  if (row === undefined) throw new Error("a store without rows cannot be filled: there is nothing to copy");
  return row;
}

/** Returns a UUIDv7 of a time, whose random part is derived from a text. */
function idAt(ms: string, salt: string): string {
  return `(lpad(to_hex(${ms}), 12, '0') || overlay(overlay(substr(md5(${salt}), 1, 20) placing '7' from 1 for 1) placing '8' from 5 for 1))::uuid`;
}

/** The values that differ in a copy. Every other column is copied unchanged. */
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
    select number, to_timestamp(ms / 1000.0) as at, ${idAt("ms", "'event' || number")} as event_id,
      ${idAt("ms + 1", "'delivery' || number")} as delivery_id
    from (select number, $3::bigint + (number * $4::float8)::bigint as ms
      from generate_series($1::bigint, $1::bigint + $2::bigint - 1) as number) numbers
  ), stored as (
    insert into events (${names(eventColumns)})
    select ${select(eventColumns, eventValues, "s")} from t, (select * from events where id = $5::uuid) s
  )
  insert into deliveries (${names(deliveryColumns)})
  select ${select(deliveryColumns, deliveryValues, "d")} from t, (select * from deliveries where id = $6::uuid) d`;
}
