import { openDatabase } from "@svc/db/connect";
import { until } from "./until.ts";

/**
 * Ends all current leases (nodes' time-limited rights) of a table of tasks, as if their nodes had been killed and the leases had then
 * expired. A row that a running node has locked at this moment is tried again later.
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
