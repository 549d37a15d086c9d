import { createId, type ProjectId } from "@svc/core";
import { desc, eq, lt, sql } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { withTransaction } from "../connect.ts";
import { contacts, projectPolicies, projects, routingState } from "../schema/index.ts";

/** A project with its policy. */
export type Project = {
  id: ProjectId;
  name: string;
  createdAt: number;
  planApproval: string;
  redirectUrls: string[];
};

/** What an administrator may decide for a project. */
export type ProjectPolicy = { planApproval: string; redirectUrls: string[] };

const columns = {
  id: projects.id,
  name: projects.name,
  createdAt: projects.createdAt,
  planApproval: sql<string>`coalesce(${projectPolicies.planApproval}, 'never')`,
  redirectUrls: sql<string[]>`coalesce(${projectPolicies.redirectUrls}, '{}')`,
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
    await tx.orm.insert(projects).values({ id, name, createdAt: nowMs });
    const owner = { principalId: "owner", name: "Owner", isApprover: true, createdAt: nowMs };
    await tx.orm.insert(contacts).values({ ...owner, projectId: id });
    await touchRouting(tx);
    return { id, name, createdAt: nowMs, planApproval: "never", redirectUrls: [] };
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

/** Sets the whole policy of a project. */
export async function setProjectPolicy(db: Executor, projectId: ProjectId, policy: ProjectPolicy): Promise<void> {
  await db.orm
    .insert(projectPolicies)
    .values({ projectId, ...policy })
    .onConflictDoUpdate({ target: projectPolicies.projectId, set: policy });
}

/** Moves the version of the deployment's routing: in the transaction of whatever changes projects or account references. */
export async function touchRouting(tx: Executor): Promise<void> {
  await tx.orm.update(routingState).set({ version: sql`${routingState.version} + 1` });
}

/** Moves the version of one project's subscriptions: in the transaction of whatever changes them. */
export async function touchProjectRouting(tx: Executor, id: ProjectId): Promise<void> {
  await tx.orm
    .update(projects)
    .set({ routingVersion: sql`${projects.routingVersion} + 1` })
    .where(eq(projects.id, id));
}
