import { type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { callPaces } from "../schema/calls.ts";
import { fieldsBut, fieldsOf, type NewRow, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { compareKeys } from "../sql/filter.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";

/** What a limit counts together. */
export type LimiterKey = { readonly projectId: ProjectId; readonly limitName: string; readonly key: string };

/** Where that stands, and the revision that a change is made from. */
export type PaceRow = Row<typeof callPaces, "pace" | "revision">;

const columns = selectList(callPaces, ["pace", "revision"], "p");

/** Each by primary key. */
const selectPaces = compose(
  "read_call_paces",
  { wanted: rows(fieldsOf(callPaces, "projectId", "limitName", "key")) },
  ({ wanted }) => query<RawRow<PaceRow> & { project: string; limit: string; key: string }>`
    select wanted.project_id as project, wanted.limit_name as limit, wanted.key, ${columns.text} from ${wanted.from("wanted")}
    cross join lateral (
      select * from call_paces c
      where c.project_id = wanted.project_id and c.limit_name = wanted.limit_name and c.key = wanted.key offset 0) p`,
);

/** Reads paces, in order; undefined where there is no row. */
export async function readCallPaces(db: Executor, keys: readonly LimiterKey[]): Promise<(PaceRow | undefined)[]> {
  const keyPartsOf = (project: string, limit: string, key: string) => JSON.stringify([project, limit, key]);
  const found = new Map<string, PaceRow>();
  for (const { project, limit, key, ...row } of await selectPaces(db, { wanted: keys })) {
    found.set(keyPartsOf(project, limit, key), columns.read(row));
  }
  return keys.map(({ projectId, limitName, key }) => found.get(keyPartsOf(uuidOfId(projectId), limitName, key)));
}

/**
 * A row that is not there is made; one that is there changes if nobody has changed it since it was read. By primary key; rows are
 * locked in the order that they are given.
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
 * Writes paces that were made from what `readCallPaces` or an earlier write left. Answers with the revisions of those that were
 * written: another was changed by somebody else meanwhile. No two are of one key.
 */
export async function writeCallPaces(db: Executor, paces: readonly NewRow<typeof callPaces>[]): Promise<Set<string>> {
  // In one order, so that two nodes that write the same ones do not deadlock.
  const list = paces.toSorted((a, b) => compareKeys(placeOf(a), placeOf(b)));
  const written = await upsertPaces(db, { list });
  return new Set(written.map(({ revision }) => revision));
}

function placeOf({ projectId, limitName, key }: LimiterKey): readonly string[] {
  return [projectId, limitName, key];
}
