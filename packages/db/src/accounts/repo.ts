import { type AccountId, idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { eq } from "drizzle-orm";
import { arrayLiteral } from "../array-literal.ts";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { touchRouting } from "../projects/repo.ts";
import { projects, routingState } from "../schema/index.ts";
import { accountReferences } from "../schema/triggers.ts";
import { statement } from "../statement.ts";

/** An app's own key for an account, and whose account it is. */
export type AccountReference = {
  toolkitSlug: string;
  reference: string;
  projectId: ProjectId;
  accountId: AccountId;
  entityId: string;
};

/**
 * Stores references and moves the routing version, in one transaction. One that another account holds is a unique
 * violation of `account_references_key`, and then none is stored.
 */
export function putAccountReferences(db: Executor, references: readonly AccountReference[]): Promise<void> {
  return withTransaction(db, async (tx) => {
    await tx.orm.insert(accountReferences).values([...references]);
    await touchRouting(tx);
  });
}

/** Takes every reference of an account away and moves the routing version, in one transaction. */
export function deleteAccountReferences(db: Executor, accountId: AccountId): Promise<void> {
  return withTransaction(db, async (tx) => {
    await tx.orm.delete(accountReferences).where(eq(accountReferences.accountId, accountId));
    await touchRouting(tx);
  });
}

const selectReferences = statement<{
  toolkit_slug: string;
  reference: string;
  project_id: string;
  account_id: string;
  entity_id: string;
}>(
  "find_account_references",
  `select r.* from unnest($1::text[], $2::text[]) as wanted(toolkit_slug, reference)
   join account_references r using (toolkit_slug, reference)`,
);

/** Those of the wanted references that are held; served by the primary key. */
export async function findAccountReferences(
  db: Executor,
  wanted: readonly { toolkitSlug: string; reference: string }[],
): Promise<AccountReference[]> {
  const rows = await selectReferences(db, [
    arrayLiteral(wanted.map((reference) => reference.toolkitSlug)),
    arrayLiteral(wanted.map((reference) => reference.reference)),
  ]);
  return rows.map((row) => ({
    toolkitSlug: row.toolkit_slug,
    reference: row.reference,
    projectId: idOfUuid("prj", row.project_id),
    accountId: idOfUuid("acc", row.account_id),
    entityId: row.entity_id,
  }));
}

/** The version of the deployment's routing and every project, in one snapshot. */
export async function readDeploymentRouting(db: Executor): Promise<{ version: number; projects: ProjectId[] }> {
  const rows = await db.orm
    .select({ version: routingState.version, id: projects.id })
    .from(routingState)
    .leftJoin(projects, eq(routingState.id, 1));
  return { version: rows[0]?.version ?? 0, projects: rows.flatMap((row) => (row.id === null ? [] : [row.id])) };
}

const shareDeploymentRouting = statement<{ version: string }>(
  "hold_deployment_routing",
  "select version from routing_state where id = $1::int2 for share",
);

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
