import { type HookId, type ProjectId, uuidOfId } from "@svc/core";
import { and, asc, count, eq } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { callHooks, projects } from "../schema/index.ts";
import { fieldsOf, namesBut } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";

/** A hook (an endpoint that checks tool calls) as stored. */
export type CallHookRow = typeof callHooks.$inferSelect;

/** Columns of a hook (an endpoint that checks tool calls) that may change. */
type CallHookChange = Partial<
  Pick<CallHookRow, "endpointUrl" | "isActive" | "position" | "toolkitSlugs" | "accessClasses">
>;

/** The hooks (endpoints that svc asks about calls) of one project. */
type CallHookRepository = {
  /** Returns the project's hooks (endpoints that svc asks about tool calls), in the order in which svc asks them. */
  list(): Promise<CallHookRow[]>;
  /**
   * Creates a hook (an endpoint that checks tool calls). Returns false, with nothing stored, if the project would have more than `most`
   * hooks.
   */
  create(hook: Omit<CallHookRow, "projectId">, most: number): Promise<boolean>;
  /** Changes a hook (an endpoint that checks tool calls) and returns it. Undefined if the project has no such hook. */
  update(id: HookId, change: CallHookChange): Promise<CallHookRow | undefined>;
  /** Deletes a hook (an endpoint that checks tool calls). Returns false if the project has no such hook. */
  delete(id: HookId): Promise<boolean>;
};

/** Returns the repository of one project's hooks (endpoints that check tool calls). */
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
        // Locks the project's row. So if two hooks are created at the same time, only one of them can be the last allowed one.
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

const columns = selectList(callHooks, namesBut(callHooks), "h");

/** Finds the hooks (endpoints that check tool calls) of each project by the index call_hooks_project. Most projects have no hooks. */
const selectHooks = compose(
  "find_call_hooks",
  { wanted: rows(fieldsOf(callHooks, "projectId")) },
  ({ wanted }) => query<RawRow<CallHookRow>>`
    select ${columns.text} from ${wanted.from("wanted")}
    cross join lateral (select * from call_hooks where project_id = wanted.project_id order by id offset 0) h`,
);

/**
 * Returns one list of hooks (endpoints that svc asks about tool calls) for each given project, in the given order. Each list has the order
 * in which svc asks the hooks. Every half second, a node reads again the hooks of the projects whose tool calls it sends.
 */
export async function findCallHooks(db: Executor, projectIds: readonly ProjectId[]): Promise<CallHookRow[][]> {
  const found = new Map(projectIds.map((id) => [uuidOfId(id), [] as CallHookRow[]]));
  const wanted = [...new Set(projectIds)].map((projectId) => ({ projectId }));
  for (const row of await selectHooks(db, { wanted })) {
    const hook = columns.read(row);
    found.get(uuidOfId(hook.projectId))?.push(hook);
  }
  for (const hooks of found.values()) hooks.sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
  return projectIds.map((id) => found.get(uuidOfId(id)) ?? []);
}
