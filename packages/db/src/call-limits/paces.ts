import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { callPaces } from "../schema/calls.ts";
import { fieldsBut, fieldsOf, type NewRow, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { compareKeys } from "../sql/filter.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";

/**
 * Identifies one counter of calls. `limitName`: the project's call limit. `key`: the text that the limit computed for a call, for example
 * from its account. Calls with the same key share the counter.
 */
export type LimiterKey = { readonly projectId: ProjectId; readonly limitName: string; readonly key: string };

/**
 * Usage of a limiter key (counter of a call limit), and the revision of its row. A node that updates the row must name the revision that it
 * has read. If another node has updated the row since then, the row has a new revision, and the update changes nothing.
 */
export type PaceRow = Row<typeof callPaces, "pace" | "revision">;

const columns = selectList(callPaces, ["pace", "revision"], "p");

/** Reads the usage of limiter keys (counters of call limits). Finds each row by the primary key of call_paces. */
const selectPaces = compose(
  "read_call_paces",
  { wanted: rows(fieldsOf(callPaces, "projectId", "limitName", "key")) },
  ({ wanted }) => query<RawRow<PaceRow> & { project: string; limit: string; key: string }>`
    select wanted.project_id as project, wanted.limit_name as limit, wanted.key, ${columns.text} from ${wanted.from("wanted")}
    cross join lateral (
      select * from call_paces c
      where c.project_id = wanted.project_id and c.limit_name = wanted.limit_name and c.key = wanted.key offset 0) p`,
);

/**
 * Returns how much of a call limit is used for each of the `keys`, in the same order. A key selects one counter of a limit, for example that
 * of one account. Undefined for a key that has no row yet.
 */
export async function readCallPaces(db: Executor, keys: readonly LimiterKey[]): Promise<(PaceRow | undefined)[]> {
  const keyTextOf = (project: string, limit: string, key: string) => JSON.stringify([project, limit, key]);
  const found = new Map<string, PaceRow>();
  for (const { project, limit, key, ...row } of await selectPaces(db, { wanted: keys })) {
    found.set(keyTextOf(project, limit, key), columns.read(row));
  }
  return keys.map(({ projectId, limitName, key }) => found.get(keyTextOf(uuidOfId(projectId), limitName, key)));
}

/**
 * Stores the usage of call limits, one row per limit and key. Inserts a row that is missing. Updates an existing row only if it has not
 * changed since the node read it. Uses the primary key, and locks the rows in the given order.
 */
const upsertPaces = compose(
  "write_call_paces",
  { list: rows(fieldsBut(callPaces)) },
  ({ list }) => query<{ revision: string }>`
    ${list.insertInto(callPaces)} on conflict (project_id, limit_name, key) do update
      set pace = excluded.pace, revision = excluded.revision, made_from = excluded.made_from, expires_at = excluded.expires_at
      where call_paces.revision = excluded.made_from
    returning revision`,
);

/**
 * Stores how much of each call limit is used. The values were computed from rows that the caller has read or written before. Returns the
 * revisions of the written rows; if another node has changed a row since, it is not written and its revision is absent. All keys must be
 * different.
 */
export async function writeCallPaces(db: Executor, paces: readonly NewRow<typeof callPaces>[]): Promise<Set<string>> {
  // Sorts by key. Two nodes that write the same keys then lock them in the same order and do not deadlock.
  const list = paces.toSorted((a, b) => compareKeys(keyPartsOf(a), keyPartsOf(b)));
  const written = await upsertPaces(db, { list });
  return new Set(written.map(({ revision }) => revision));
}

function keyPartsOf({ projectId, limitName, key }: LimiterKey): readonly string[] {
  return [projectId, limitName, key];
}
