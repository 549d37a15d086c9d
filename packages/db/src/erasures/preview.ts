import { getTableName } from "drizzle-orm";
import type { Executor } from "../connect.ts";
import { exportEntity } from "../entity-export/walk.ts";
import { erasedTables, type NamedEntity } from "../schema/erased-tables.ts";
import { keyColumns } from "../schema/sealed-columns.ts";

/** The rows that an erasure would delete, by table, with ids of some. */
export type ErasurePreview = {
  readonly counts: Readonly<Record<string, number>>;
  readonly samples: readonly { readonly table: string; readonly ids: readonly string[] }[];
  /** True if `goesOn` ended it before everything was looked at. */
  readonly isPartial: boolean;
};

const samplesMax = 5;

/** Counts the rows that an erasure of the entity would delete now, and changes nothing. Reads on, page by page, while `goesOn()` is true. */
export async function previewErasure(
  db: Executor,
  { projectId, entityId }: NamedEntity,
  goesOn: () => boolean,
): Promise<ErasurePreview> {
  const counts: Record<string, number> = {};
  const ids = new Map<string, string[]>();
  const result = (isPartial: boolean) => {
    return { counts, samples: [...ids].map(([table, samples]) => ({ table, ids: samples })), isPartial };
  };
  for await (const { table, rows } of exportEntity(db, { projectId, entityId, isErased: true })) {
    counts[table] = (counts[table] ?? 0) + rows.length;
    const samples = ids.get(table) ?? [];
    const wanted = rows.slice(0, samplesMax - samples.length);
    samples.push(...wanted.flatMap(({ values }) => idOf(table, values)));
    if (samples.length > 0) ids.set(table, samples);
    if (!goesOn()) return result(true);
  }
  return result(false);
}

/** A row's key without its project; empty if a part of it is secret, as a digest is. */
function idOf(name: string, values: Readonly<Record<string, unknown>>): string[] {
  const erased = erasedTables.find(({ table }) => getTableName(table) === name);
  const keys = erased === undefined ? [] : keyColumns(erased.table).filter((column) => column.name !== "project_id");
  const parts = keys.map((column) => values[column.name]);
  return parts.length === 0 || parts.includes(undefined) ? [] : [parts.join("/")];
}

/** The tables of the store that an erasure does not search, and why. A deleted project's settings go with it. */
export function unsearchedTables(kind: "entity" | "project"): { place: string; reason: string }[] {
  return erasedTables.flatMap(({ table, entity, project }) => {
    if (typeof entity !== "object" || !("none" in entity) || entity.notSearched === undefined) return [];
    return kind === "project" && project !== undefined
      ? []
      : [{ place: getTableName(table), reason: entity.notSearched }];
  });
}
