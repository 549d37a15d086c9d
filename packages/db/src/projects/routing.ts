import { type ProjectId, uuidOfId } from "@svc/core";
import { eq } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { projects, routingState } from "../schema/projects.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** The version of the deployment's routing and every project, in one snapshot. */
export async function readDeploymentRouting(db: Executor): Promise<{ version: number; projects: ProjectId[] }> {
  const rows = await db.orm
    .select({ version: routingState.version, id: projects.id })
    .from(routingState)
    .leftJoin(projects, eq(routingState.id, 1));
  return { version: rows[0]?.version ?? 0, projects: rows.flatMap((row) => (row.id === null ? [] : [row.id])) };
}

/** Its one row. */
const shareDeploymentRouting = statement<{ version: string }>(
  "hold_deployment_routing",
  "select version from routing_state where id = $1::int2 for share",
);

/** By primary key. */
const shareProjectRouting = statement<{ id: string }>(
  "hold_project_routing",
  "select id from projects where id = any($1::uuid[]) order by id for share",
);

/** Keeps the deployment's projects and account references as they are until the transaction ends. */
export async function holdDeploymentRouting(tx: Executor): Promise<void> {
  await shareDeploymentRouting(tx, [1]);
}

/** Keeps the subscriptions of these projects as they are until the transaction ends; in one order, so that nobody deadlocks. */
export async function holdProjectRouting(tx: Executor, ids: readonly ProjectId[]): Promise<void> {
  await shareProjectRouting(tx, [arrayLiteral(ids.map(uuidOfId))]);
}
