import { openDatabase } from "@svc/db/connect";
import { until } from "./until.ts";

/**
 * As if the leases of a table of tasks were over that are held by now: those of nodes that were killed, without the wait for them. Nodes that
 * live settle theirs meanwhile, in an order of their own: what they have locked is not waited for, but looked at again.
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
