import { type ConfirmRule, createId, noConfirmRule, type ProjectId, type Quotas, uuidOfId } from "@svc/core";
import { desc, eq, lt, ne, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { contacts, projectPolicies, projects, routingState, vaultCheck } from "../schema/index.ts";
import type { StoredPlanApproval } from "../schema/words.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

/** A project with its policy. */
export type Project = {
  id: ProjectId;
  name: string;
  createdAt: number;
  planApproval: StoredPlanApproval;
  redirectUrls: string[];
  /** Those that are set. */
  quotas: Quotas;
  /** Where http steps may send requests. */
  httpHosts: string[];
  /** Which calls a person confirms. */
  confirm: ConfirmRule;
};

/** What an administrator may decide for a project. */
type ProjectPolicy = Pick<Project, "planApproval" | "redirectUrls" | "quotas" | "httpHosts" | "confirm">;

const columns = {
  id: projects.id,
  name: projects.name,
  createdAt: projects.createdAt,
  planApproval: sql<StoredPlanApproval>`coalesce(${projectPolicies.planApproval}, 'never')`.mapWith(
    projectPolicies.planApproval,
  ),
  redirectUrls: sql<string[]>`coalesce(${projectPolicies.redirectUrls}, '{}')`,
  quotas: sql<Quotas>`coalesce(${projectPolicies.quotas}, '{}')`.mapWith(projectPolicies.quotas),
  httpHosts: sql<string[]>`coalesce(${projectPolicies.httpHosts}, '{}')`,
  confirm: sql<ConfirmRule>`coalesce(${projectPolicies.confirm}, ${JSON.stringify(noConfirmRule)}::jsonb)`.mapWith(
    projectPolicies.confirm,
  ),
};

function selectProjects(db: Executor) {
  return db.orm.select(columns).from(projects).leftJoin(projectPolicies, eq(projectPolicies.projectId, projects.id));
}

/**
 * Makes a project with its first contact, the approver `owner`, and moves the routing version with it, in one transaction. A taken
 * name is a unique violation of `projects_name`.
 */
export function createProject(db: Executor, name: string, nowMs: number): Promise<Project> {
  return withTransaction(db, async (tx) => {
    const id = createId("prj", nowMs);
    // First, as whoever makes the first project does: two of one name would each wait for the other.
    await touchRouting(tx);
    await tx.orm.insert(projects).values({ id, name, createdAt: nowMs });
    const owner = { principalId: "owner", name: "Owner", isApprover: true, createdAt: nowMs };
    await tx.orm.insert(contacts).values({ ...owner, projectId: id });
    return {
      id,
      name,
      createdAt: nowMs,
      planApproval: "never",
      redirectUrls: [],
      quotas: {},
      httpHosts: [],
      confirm: noConfirmRule,
    };
  });
}

/** As `createProject`, unless the deployment has a project of another name: then undefined, also when several are made at once. */
export function createFirstProject(db: Executor, name: string, nowMs: number): Promise<Project | undefined> {
  return withTransaction(db, async (tx) => {
    // Whoever makes a project holds this row: the second waits here, and then sees the first one's.
    await tx.orm.select().from(routingState).for("update");
    const [other] = await tx.orm
      .select({ id: projects.id })
      .from(projects)
      .where(ne(projects.name, name))
      // By the index of names, two of which tell it.
      .orderBy(projects.name)
      .limit(1);
    return other === undefined ? createProject(tx, name, nowMs) : undefined;
  });
}

/** The project with this id, if there is one. */
export async function findProject(db: Executor, id: ProjectId): Promise<Project | undefined> {
  const [project] = await selectProjects(db).where(eq(projects.id, id));
  return project;
}

/** The project with this name, if there is one. */
export async function findProjectByName(db: Executor, name: string): Promise<Project | undefined> {
  const [project] = await selectProjects(db).where(eq(projects.name, name));
  return project;
}

/** Projects, newest first, from after `after`. */
export function listProjects(db: Executor, page: { after: ProjectId | undefined; limit: number }): Promise<Project[]> {
  return selectProjects(db)
    .where(page.after === undefined ? undefined : lt(projects.id, page.after))
    .orderBy(desc(projects.id))
    .limit(page.limit);
}

/**
 * Sets the policy of a project: of its parts those that are given, as a whole each. Nodes read quotas with the project's routing, so
 * that version moves with them, in the same transaction.
 */
export function setProjectPolicy(
  db: Executor,
  projectId: ProjectId,
  policy: Pick<ProjectPolicy, "planApproval" | "redirectUrls"> & Partial<ProjectPolicy>,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    await tx.orm
      .insert(projectPolicies)
      .values({ projectId, ...policy })
      .onConflictDoUpdate({ target: projectPolicies.projectId, set: policy });
    if (policy.quotas !== undefined) await touchProjectRouting(tx, projectId);
  });
}

/** Moves the version of the deployment's routing: in the transaction of whatever changes projects or account references. */
export async function touchRouting(tx: Executor): Promise<void> {
  await tx.orm.update(routingState).set({ version: sql`${routingState.version} + 1` });
}

/**
 * Moves the version of one project's routing, its subscriptions and who listens to its events, and answers the new one: in the
 * transaction of whatever changes them.
 */
export async function touchProjectRouting(tx: Executor, id: ProjectId): Promise<number> {
  const [moved] = await tx.orm
    .update(projects)
    .set({ routingVersion: sql`${projects.routingVersion} + 1` })
    .where(eq(projects.id, id))
    .returning({ version: projects.routingVersion });
  return moved?.version ?? 0;
}

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

/** The value that was sealed when the deployment began; `sealed` when there is none yet, which is then kept for good. */
export async function ensureVaultCheck(db: Executor, sealed: Buffer): Promise<Buffer> {
  await db.orm.insert(vaultCheck).values({ id: 1, sealed }).onConflictDoNothing();
  const [row] = await db.orm.select().from(vaultCheck).where(eq(vaultCheck.id, 1));
  return row?.sealed ?? sealed;
}

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
