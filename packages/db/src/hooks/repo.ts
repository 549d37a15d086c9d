import type { HookId, ProjectId } from "@svc/core";
import { and, asc, count, eq } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { callHooks, projects } from "../schema/index.ts";

/** A hook as it is stored. */
export type CallHookRow = typeof callHooks.$inferSelect;

/** What may be changed of a hook. */
export type CallHookChange = Partial<
  Pick<CallHookRow, "endpointUrl" | "isActive" | "position" | "toolkitSlugs" | "accessClasses">
>;

/** The hooks of one project. */
export type CallHookRepository = {
  /** In the order in which they are asked. */
  list(): Promise<CallHookRow[]>;
  /** False, and nothing kept, when that would make more than `most`. */
  create(hook: Omit<CallHookRow, "projectId">, most: number): Promise<boolean>;
  /** Undefined when there is none. */
  update(id: HookId, change: CallHookChange): Promise<CallHookRow | undefined>;
  /** False when there was none. */
  delete(id: HookId): Promise<boolean>;
};

/** The hooks of one project. */
export function callHooksForProject(db: Executor, projectId: ProjectId): CallHookRepository {
  const ofProject = eq(callHooks.projectId, projectId);
  const find = async (id: HookId) => {
    const [row] = await db.orm
      .select()
      .from(callHooks)
      .where(and(ofProject, eq(callHooks.id, id)));
    return row;
  };
  return {
    list: () => db.orm.select().from(callHooks).where(ofProject).orderBy(asc(callHooks.position), asc(callHooks.id)),
    create: (hook, most) =>
      withTransaction(db, async (tx) => {
        // Whoever makes one holds the project, so that of two for the last place one is kept.
        await tx.orm.select({ id: projects.id }).from(projects).where(eq(projects.id, projectId)).for("no key update");
        const [present] = await tx.orm.select({ count: count() }).from(callHooks).where(ofProject);
        if ((present?.count ?? 0) >= most) return false;
        await tx.orm.insert(callHooks).values({ ...hook, projectId });
        return true;
      }),
    async update(id, change) {
      if (Object.keys(change).length === 0) return find(id);
      const [row] = await db.orm
        .update(callHooks)
        .set(change)
        .where(and(ofProject, eq(callHooks.id, id)))
        .returning();
      return row;
    },
    async delete(id) {
      const rows = await db.orm
        .delete(callHooks)
        .where(and(ofProject, eq(callHooks.id, id)))
        .returning({ id: callHooks.id });
      return rows.length > 0;
    },
  };
}
