import {
  type ConfirmRule,
  createProjectId,
  firstUuidAt,
  noConfirmRule,
  type ProjectId,
  type Quotas,
  uuidOfId,
} from "@svc/core";
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
  /** The project's configured quotas, by name. */
  quotas: Quotas;
  /** Hosts to which http steps of the project's programs may send requests. */
  httpHosts: string[];
  /** Rule that selects the calls that a person must confirm. */
  confirm: ConfirmRule;
};

/** Settings that an administrator makes for a project. */
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
 * Creates a project with its first contact (the approver `owner`), and returns the project. Throws the unique violation of `projects_name`
 * if the name is in use. `cell`: name of this deployment if it is one of several cells; the project's id contains it.
 */
export function createProject(db: Executor, name: string, nowMs: number, cell?: string): Promise<Project> {
  return withTransaction(db, async (tx) => {
    const id = createProjectId(nowMs, cell);
    // This locks the routing version first, as `createFirstProject` does. With another order, two creations of projects with the same name
    // could deadlock.
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

/**
 * Creates a project like `createProject`. Returns undefined and creates nothing if the deployment already has a project with another name,
 * also if several calls run at the same time.
 */
export function createFirstProject(
  db: Executor,
  name: string,
  nowMs: number,
  cell?: string,
): Promise<Project | undefined> {
  return withTransaction(db, async (tx) => {
    // Every creation of a project locks this row. So a second call waits here, and then sees the project of the first call.
    await tx.orm.select().from(routingState).for("update");
    const [other] = await tx.orm
      .select({ id: projects.id })
      .from(projects)
      .where(ne(projects.name, name))
      // This order makes PostgreSQL use the index of project names. It then reads at most two entries of the index to find a project whose
      // name is not `name`.
      .orderBy(projects.name)
      .limit(1);
    return other === undefined ? createProject(tx, name, nowMs, cell) : undefined;
  });
}

/** Returns the project with this id; undefined if it does not exist. */
export async function findProject(db: Executor, id: ProjectId): Promise<Project | undefined> {
  const [project] = await selectProjects(db).where(eq(projects.id, id));
  return project;
}

/** Returns the project with this name; undefined if it does not exist. */
export async function findProjectByName(db: Executor, name: string): Promise<Project | undefined> {
  const [project] = await selectProjects(db).where(eq(projects.name, name));
  return project;
}

/** Returns projects, newest first, beginning after the id `after`. */
export function listProjects(db: Executor, page: { after: ProjectId | undefined; limit: number }): Promise<Project[]> {
  return selectProjects(db)
    .where(page.after === undefined ? undefined : lt(projects.id, page.after))
    .orderBy(desc(projects.id))
    .limit(page.limit);
}

/**
 * Stores the given fields of a project's policy. Each given field replaces the stored field completely; the other fields stay.
 * If the quotas change, it also increments the project's routing version in the same transaction. Nodes then read the routing (receivers of
 * events) and the quotas again.
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

/**
 * Increments the version of the deployment's routing (which projects and accounts receive incoming events). Call this function in every
 * transaction that changes projects or account references.
 */
export async function touchRouting(tx: Executor): Promise<void> {
  await tx.orm.update(routingState).set({ version: sql`${routingState.version} + 1` });
}

/**
 * Increments the routing version of one project and returns the new version. By this counter, nodes notice that the receivers of events
 * have changed. Call this function in every transaction that changes the project's subscriptions without an entity (customer or user), or
 * the subscriptions of its schedules to triggers.
 */
export async function touchProjectRouting(tx: Executor, id: ProjectId): Promise<number> {
  const [moved] = await tx.orm
    .update(projects)
    .set({ routingVersion: sql`${projects.routingVersion} + 1` })
    .where(eq(projects.id, id))
    .returning({ version: projects.routingVersion });
  return moved?.version ?? 0;
}

/**
 * Makes all nodes notice that subscriptions of a project have changed. Call this function in the transaction of the change, after locking
 * the existing subscriptions. `entityIds`: the entity (customer or user) of each changed subscription; empty for the whole project.
 */
export async function touchSubscriptionRouting(
  tx: Executor,
  id: ProjectId,
  entityIds: readonly string[],
): Promise<void> {
  // An empty id: nodes read all subscriptions of the project again.
  // Only other ids: a database trigger changes the versions of the entities' shards. Nodes then read only these shards again. The lock of
  // the project's row prevents deadlocks between such transactions.
  if (entityIds.includes("")) await touchProjectRouting(tx, id);
  else if (entityIds.length > 0)
    await tx.orm.select({ id: projects.id }).from(projects).where(eq(projects.id, id)).for("no key update");
}

/**
 * Returns the stored audience: the rule that says which projects receive an incoming event (see `keepAudience`). Undefined if a node has
 * never stored it.
 */
export async function readAudience(db: Executor): Promise<"accounts" | "projects" | undefined> {
  const [state] = await db.orm.select({ audience: routingState.audience }).from(routingState);
  return state?.audience ?? undefined;
}

/**
 * Stores the audience: the rule that says which projects receive an incoming event. `accounts`: projects with a matching account.
 * `projects`: all projects. Later starts of the server read it.
 */
export async function keepAudience(db: Executor, audience: "accounts" | "projects"): Promise<void> {
  const isOther = sql`${routingState.audience} is distinct from ${audience}`;
  await db.orm
    .update(routingState)
    .set({ audience })
    .where(sql`${eq(routingState.id, 1)} and ${isOther}`);
}

/**
 * Returns the vault's check value (a known text, sealed) that the first node stored. If there is none, stores `sealed` permanently and
 * returns it.
 */
export async function ensureVaultCheck(db: Executor, sealed: Buffer): Promise<Buffer> {
  await db.orm.insert(vaultCheck).values({ id: 1, sealed }).onConflictDoNothing();
  const [row] = await db.orm.select().from(vaultCheck).where(eq(vaultCheck.id, 1));
  return row?.sealed ?? sealed;
}

/**
 * Returns the version of the deployment's routing (which projects and accounts receive incoming events) and the ids of all projects, without
 * those that work in another cell. Both are from the same moment.
 */
export async function readDeploymentRouting(db: Executor): Promise<{ version: number; projects: ProjectId[] }> {
  const rows = await db.orm
    .select({ version: routingState.version, id: projects.id })
    .from(routingState)
    .leftJoin(projects, sql`${eq(routingState.id, 1)} and ${projects.hold} in ('', 'moving')`);
  return { version: rows[0]?.version ?? 0, projects: rows.flatMap((row) => (row.id === null ? [] : [row.id])) };
}

/** Returns the ids of the projects that were created at or after a time. Uses the primary key. */
export async function listProjectIds(db: Executor, sinceMs: number): Promise<ProjectId[]> {
  const rows = await db.orm
    .select({ id: projects.id })
    .from(projects)
    .where(sql`${projects.id} >= ${firstUuidAt(sinceMs)}::uuid`);
  return rows.map(({ id }) => id);
}

/** Reads and locks the only row of the table `routing_state`. Until the transaction ends, no other transaction can change this row. */
const shareDeploymentRouting = statement<{ version: string }>(
  "hold_deployment_routing",
  "select version from routing_state where id = $1::int2 for share",
);

/**
 * Locks the rows of projects, so that no other transaction can change their routing versions until this transaction ends. Finds the rows by
 * the primary key of projects.
 */
const shareProjectRouting = statement<{ id: string }>(
  "hold_project_routing",
  "select id from projects where id = any($1::uuid[]) order by id for share",
);

/**
 * Locks the deployment's routing version (a counter that grows when the receivers of webhook posts change) until the transaction ends.
 * Until then, no other transaction can change the deployment's projects or account references.
 */
export async function holdDeploymentRouting(tx: Executor): Promise<void> {
  await shareDeploymentRouting(tx, [1]);
}

/**
 * Locks the routing versions of these projects until the transaction ends. Until then, no other transaction can change their subscriptions.
 * The rows are locked in one order, so that two transactions do not deadlock.
 */
export async function holdProjectRouting(tx: Executor, ids: readonly ProjectId[]): Promise<void> {
  await shareProjectRouting(tx, [arrayLiteral(ids.map(uuidOfId))]);
}
