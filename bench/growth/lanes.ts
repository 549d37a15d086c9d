import postgres from "postgres";
import { columnsOf } from "./columns.ts";

/** Tables with a row for each lane: its subscription, its one event and delivery, and the delivery's task. */
const laneTables = ["subscriptions", "events", "deliveries", "delivery_tasks", "delivery_lanes"];

/**
 * Creates lanes of waiting deliveries. They are copies of the one real subscription and its pending delivery under other ids, all due in
 * three hours. A table that this version does not have is left out.
 */
export async function fillLanes(databaseUrl: string, lanes: number): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    // The real delivery is postponed as well, so that nothing is due.
    await sql`update delivery_tasks set due_at = now() + interval '3 hours', lease_owner = null, lease_until = null`;
    await sql`update deliveries set next_attempt_at = now() + interval '3 hours' where state = 'pending'`;
    for (const table of laneTables) await copyRows(sql, table, lanes);
    await sql`analyze`;
  } finally {
    await sql.end();
  }
}

/**
 * Returns the SQL for the id of a copied row, derived from the copy's number and the name of the table. So related copies can refer to each
 * other.
 */
function idOf(table: string): string {
  return `(substr(md5('${table}' || number), 1, 12) || '7' || substr(md5('${table}' || number), 14, 3) || '8' || substr(md5('${table}' || number), 18, 15))::uuid`;
}

function copyValue(table: string, column: string): string {
  if (column === "id") return idOf(table);
  if (column === "subscription_id") return idOf("subscriptions");
  if (column === "event_id") return idOf("events");
  if (column === "delivery_id") return idOf("deliveries");
  if (column === "dedupe_key") return "md5('dedupe' || number)";
  return `s."${column}"`;
}

async function copyRows(sql: postgres.Sql, table: string, count: number): Promise<void> {
  const columns = await columnsOf(sql, table);
  if (columns.length === 0) return;
  const names = columns.map((column) => `"${column}"`).join(", ");
  const values = columns.map((column) => copyValue(table, column)).join(", ");
  await sql.unsafe(
    `insert into ${table} (${names})
     select ${values} from (select * from ${table} limit 1) s, generate_series(1, $1::int4) as number`,
    [count],
  );
}
