import { openDatabase } from "@svc/db/connect";
import { until } from "./until.ts";

/**
 * Ends all leases in a table of tasks that exist at the time of the call. A lease is a node's time-limited right to do a task. The effect
 * is the same as if the nodes had been killed and their leases had expired. If a running node has locked a row, this function tries the row
 * again until it succeeds.
 */
export async function endLeases(databaseUrl: string, table: "delivery_tasks" | "job_tasks"): Promise<void> {
  const db = openDatabase({ url: databaseUrl, connectionsMax: 1 });
  try {
    const tasks = db.sql(table);
    const [held] = await db.sql<{ last: string | null }[]>`select max(lease_until)::text as last from ${tasks}`;
    const last = held?.last ?? null;
    await until(async () => {
      await db.sql`update ${tasks} set lease_until = now() where ctid = any(array(
        select ctid from ${tasks} where lease_until > now() and lease_until <= ${last}::timestamptz for update skip locked))`;
      const left = await db.sql`
        select 1 from ${tasks} where lease_until > now() and lease_until <= ${last}::timestamptz limit 1`;
      return left.length === 0;
    }, "no lease from before is left");
  } finally {
    await db.close();
  }
}
