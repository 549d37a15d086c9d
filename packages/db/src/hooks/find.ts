import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { callHooks } from "../schema/calls.ts";
import { fieldsOf, namesBut } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import type { CallHookRow } from "./repo.ts";

const columns = selectList(callHooks, namesBut(callHooks), "h");

/** The hooks of each project by call_hooks_project; most projects have none. */
const selectHooks = compose(
  "find_call_hooks",
  { wanted: rows(fieldsOf(callHooks, "projectId")) },
  ({ wanted }) => query<RawRow<CallHookRow>>`
    select ${columns.text} from ${wanted.from("wanted")}
    cross join lateral (select * from call_hooks where project_id = wanted.project_id order by id offset 0) h`,
);

/** The hooks of many projects, in order: those of each as they are asked. Runs every half second for projects that call. */
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
