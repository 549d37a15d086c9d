import { type Batcher, createBatcher, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { projectPolicies } from "../schema/projects.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";

const columns = selectList(projectPolicies, ["projectId", "httpHosts"]);

/**
 * Finds projects by their primary key. It runs for every request of an http step, and for every submission of a program with such a step.
 */
const selectHosts = statement<RawRow<{ projectId: ProjectId; httpHosts: string[] }>>(
  "read_http_hosts",
  `select ${columns.text} from project_policies where project_id = any($1::uuid[])`,
);

const batchers = new WeakMap<object, Batcher<ProjectId, ReadonlySet<string>>>();

/** Returns the hosts that http steps of a project may call, by its current policy. Requests that arrive together share a statement. */
export function readHttpHosts(db: Executor, projectId: ProjectId): Promise<ReadonlySet<string>> {
  let batcher = batchers.get(db);
  if (batcher === undefined) {
    batcher = createBatcher<ProjectId, ReadonlySet<string>>({
      sizeMax: 200,
      concurrency: 2,
      besideMin: 32,
      async run(ids) {
        const rows = await selectHosts(db, [arrayLiteral([...new Set(ids)].map(uuidOfId))]);
        const hosts = new Map(rows.map(columns.read).map((policy) => [policy.projectId, new Set(policy.httpHosts)]));
        return ids.map((id) => hosts.get(id) ?? new Set<string>());
      },
    });
    batchers.set(db, batcher);
  }
  return batcher.add(projectId);
}
