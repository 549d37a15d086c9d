import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { callLimits } from "../schema/calls.ts";
import { fieldsOf } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";
import type { CallLimitRow } from "./repo.ts";

const columns = selectList(
  callLimits,
  ["name", "toolkitSlug", "keyExpression", "concurrency", "rateMax", "ratePerMs", "isPaused", "createdAt", "updatedAt"],
  "l",
);

/** Finds the limits of each project by the first column of the primary key. Most projects have no limits. */
const selectLimits = compose(
  "find_call_limits",
  { wanted: rows(fieldsOf(callLimits, "projectId")) },
  ({ wanted }) => query<RawRow<CallLimitRow> & { project: string }>`
    select wanted.project_id as project, ${columns.text} from ${wanted.from("wanted")}
    cross join lateral (select * from call_limits where project_id = wanted.project_id order by name offset 0) l`,
);

/**
 * Returns one list of call limits for each given project, in the given order. Each list is sorted by name. While a project makes calls,
 * each node reads the project's limits again every half second.
 */
export async function findCallLimits(db: Executor, projectIds: readonly ProjectId[]): Promise<CallLimitRow[][]> {
  const found = new Map<string, CallLimitRow[]>(projectIds.map((id) => [uuidOfId(id), []]));
  const wanted = [...new Set(projectIds)].map((projectId) => ({ projectId }));
  for (const { project, ...row } of await selectLimits(db, { wanted })) found.get(project)?.push(columns.read(row));
  return projectIds.map((id) => found.get(uuidOfId(id)) ?? []);
}
