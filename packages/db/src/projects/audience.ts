import { eq, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { routingState } from "../schema/projects.ts";

/** Who receives events, as a node of the deployment was last told; undefined when none was. */
export async function readAudience(db: Executor): Promise<"accounts" | "projects" | undefined> {
  const [state] = await db.orm.select({ audience: routingState.audience }).from(routingState);
  return state?.audience ?? undefined;
}

/** Keeps who receives events. */
export async function keepAudience(db: Executor, audience: "accounts" | "projects"): Promise<void> {
  const isOther = sql`${routingState.audience} is distinct from ${audience}`;
  await db.orm
    .update(routingState)
    .set({ audience })
    .where(sql`${eq(routingState.id, 1)} and ${isOther}`);
}
