import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { callPaces } from "../schema/calls.ts";
import { fieldsBut, fieldsOf, type NewRow, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { compareKeys } from "../sql/filter.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";

/** Calls with the same limiter key count together. */
export type LimiterKey = { readonly projectId: ProjectId; readonly limitName: string; readonly key: string };

/** Usage of a limiter key, and the revision that a change replaces. */
export type PaceRow = Row<typeof callPaces, "pace" | "revision">;

const columns = selectList(callPaces, ["pace", "revision"], "p");

/** Uses the primary key for each row. */
const selectPaces = compose(
  "read_call_paces",
  { wanted: rows(fieldsOf(callPaces, "projectId", "limitName", "key")) },
  ({ wanted }) => query<RawRow<PaceRow> & { project: string; limit: string; key: string }>`
    select wanted.project_id as project, wanted.limit_name as limit, wanted.key, ${columns.text} from ${wanted.from("wanted")}
    cross join lateral (
      select * from call_paces c
      where c.project_id = wanted.project_id and c.limit_name = wanted.limit_name and c.key = wanted.key offset 0) p`,
);

/** Reads usages, in order; undefined if there is no row. */
export async function readCallPaces(db: Executor, keys: readonly LimiterKey[]): Promise<(PaceRow | undefined)[]> {
  const keyTextOf = (project: string, limit: string, key: string) => JSON.stringify([project, limit, key]);
  const found = new Map<string, PaceRow>();
  for (const { project, limit, key, ...row } of await selectPaces(db, { wanted: keys })) {
    found.set(keyTextOf(project, limit, key), columns.read(row));
  }
  return keys.map(({ projectId, limitName, key }) => found.get(keyTextOf(uuidOfId(projectId), limitName, key)));
}

/** Inserts a missing row; updates an existing one if it has not changed since it was read. By primary key; rows are locked in the given order. */
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
 * Writes usages that were computed from `readCallPaces` or an earlier write. Returns the revisions written; the others were changed by
 * another node meanwhile. All keys must be different.
 */
export async function writeCallPaces(db: Executor, paces: readonly NewRow<typeof callPaces>[]): Promise<Set<string>> {
  // In one order, so that two nodes with the same keys do not deadlock.
  const list = paces.toSorted((a, b) => compareKeys(keyPartsOf(a), keyPartsOf(b)));
  const written = await upsertPaces(db, { list });
  return new Set(written.map(({ revision }) => revision));
}

function keyPartsOf({ projectId, limitName, key }: LimiterKey): readonly string[] {
  return [projectId, limitName, key];
}
