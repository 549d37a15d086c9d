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
  /** Quotas that are set. */
  quotas: Quotas;
  /** Hosts that http steps may send requests to. */
  httpHosts: string[];
  /** Calls that a person must confirm. */
  confirm: ConfirmRule;
};

/** Settings of a project's administrator. */
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
 * Creates a project with its first contact, the approver `owner`, and increments the routing version, in one transaction. A name in use is
 * a unique violation of `projects_name`.
 */
export function createProject(db: Executor, name: string, nowMs: number): Promise<Project> {
  return withTransaction(db, async (tx) => {
    const id = createId("prj", nowMs);
    // First, in the same order as `createFirstProject`: otherwise two creations with one name could deadlock.
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

/** Like `createProject`, but undefined if the deployment has a project of another name, also for concurrent calls. */
export function createFirstProject(db: Executor, name: string, nowMs: number): Promise<Project | undefined> {
  return withTransaction(db, async (tx) => {
    // Every creation locks this row, so a second call waits here and then reads the first one's project.
    await tx.orm.select().from(routingState).for("update");
    const [other] = await tx.orm
      .select({ id: projects.id })
      .from(projects)
      .where(ne(projects.name, name))
      // By the index of names, which shows it after two entries.
      .orderBy(projects.name)
      .limit(1);
    return other === undefined ? createProject(tx, name, nowMs) : undefined;
  });
}

/** Returns the project with this id, if it exists. */
export async function findProject(db: Executor, id: ProjectId): Promise<Project | undefined> {
  const [project] = await selectProjects(db).where(eq(projects.id, id));
  return project;
}

/** Returns the project with this name, if it exists. */
export async function findProjectByName(db: Executor, name: string): Promise<Project | undefined> {
  const [project] = await selectProjects(db).where(eq(projects.name, name));
  return project;
}

/** Returns projects, newest first, after `after`. */
export function listProjects(db: Executor, page: { after: ProjectId | undefined; limit: number }): Promise<Project[]> {
  return selectProjects(db)
    .where(page.after === undefined ? undefined : lt(projects.id, page.after))
    .orderBy(desc(projects.id))
    .limit(page.limit);
}

/**
 * Sets the given parts of a project's policy, each completely. Nodes read quotas with the project's routing, so that version is incremented
 * in the same transaction.
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

/** Increments the version of the deployment's routing. Call it in every transaction that changes projects or account references. */
export async function touchRouting(tx: Executor): Promise<void> {
  await tx.orm.update(routingState).set({ version: sql`${routingState.version} + 1` });
}

/**
 * Increments the version of one project's routing and returns the new one. Call it in every transaction that changes its subscriptions or
 * its trigger subscriptions.
 */
export async function touchProjectRouting(tx: Executor, id: ProjectId): Promise<number> {
  const [moved] = await tx.orm
    .update(projects)
    .set({ routingVersion: sql`${projects.routingVersion} + 1` })
    .where(eq(projects.id, id))
    .returning({ version: projects.routingVersion });
  return moved?.version ?? 0;
}

/** Returns the recipients of events, as last configured on a node; undefined if never. */
export async function readAudience(db: Executor): Promise<"accounts" | "projects" | undefined> {
  const [state] = await db.orm.select({ audience: routingState.audience }).from(routingState);
  return state?.audience ?? undefined;
}

/** Stores the recipients of events. */
export async function keepAudience(db: Executor, audience: "accounts" | "projects"): Promise<void> {
  const isOther = sql`${routingState.audience} is distinct from ${audience}`;
  await db.orm
    .update(routingState)
    .set({ audience })
    .where(sql`${eq(routingState.id, 1)} and ${isOther}`);
}

/** Returns the value that was sealed at the deployment's start. If there is none yet, stores `sealed` permanently. */
export async function ensureVaultCheck(db: Executor, sealed: Buffer): Promise<Buffer> {
  await db.orm.insert(vaultCheck).values({ id: 1, sealed }).onConflictDoNothing();
  const [row] = await db.orm.select().from(vaultCheck).where(eq(vaultCheck.id, 1));
  return row?.sealed ?? sealed;
}

/** Returns the version of the deployment's routing and all projects, in one snapshot. */
export async function readDeploymentRouting(db: Executor): Promise<{ version: number; projects: ProjectId[] }> {
  const rows = await db.orm
    .select({ version: routingState.version, id: projects.id })
    .from(routingState)
    .leftJoin(projects, eq(routingState.id, 1));
  return { version: rows[0]?.version ?? 0, projects: rows.flatMap((row) => (row.id === null ? [] : [row.id])) };
}

/** The single row. */
const shareDeploymentRouting = statement<{ version: string }>(
  "hold_deployment_routing",
  "select version from routing_state where id = $1::int2 for share",
);

/** Uses the primary key. */
const shareProjectRouting = statement<{ id: string }>(
  "hold_project_routing",
  "select id from projects where id = any($1::uuid[]) order by id for share",
);

/** Prevents changes of the deployment's projects and account references until the transaction ends. */
export async function holdDeploymentRouting(tx: Executor): Promise<void> {
  await shareDeploymentRouting(tx, [1]);
}

/** Prevents changes of these projects' subscriptions until the transaction ends; in one order, to avoid deadlocks. */
export async function holdProjectRouting(tx: Executor, ids: readonly ProjectId[]): Promise<void> {
  await shareProjectRouting(tx, [arrayLiteral(ids.map(uuidOfId))]);
}
