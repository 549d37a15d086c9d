import { type Id, idOfUuid, type StandingProgramId, type StandingRunId, uuidOfId } from "@svc/core";
import { and, eq, getTableName, type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import { jobsUnderEntity, programsOfEntity, runsOfEntity } from "../erasures/rules.ts";
import { type ErasedTable, erasedTables, type NamedEntity, type RowParent } from "../schema/erased-tables.ts";
import { arrayLiteral } from "../sql/statement.ts";

/**
 * An entity (customer or user) whose rows a scan looks for. If `isErased` is true, the scan finds all rows that an erasure deletes.
 * Otherwise it finds only the rows that an export may show.
 */
export type WalkedEntity = NamedEntity & { readonly isErased?: boolean };

/**
 * Relation of a table to one of its parent tables. `parent`: how the rows of both tables are connected. `erased`: the parent table's entry
 * in `erasedTables`. `key`: key column of the parent table.
 */
export type RowOwnership = { readonly parent: RowParent; readonly erased: ErasedTable; readonly key: PgColumn };

/**
 * Returns the relations of a table to its parent tables, in the order in which they are declared. Throws an Error if a parent table has no
 * key column.
 */
export function waysOf({ parents = [] }: ErasedTable): RowOwnership[] {
  return parents.map((parent) => {
    const erased = erasedTables.find(({ table }) => table === parent.table);
    if (erased?.key === undefined)
      throw new Error(`${getTableName(parent.table)} has rows that go with its own, and no key`);
    return { parent, erased, key: erased.key };
  });
}

/**
 * Returns the SQL condition that a row belongs to an entity (customer or user) by its own columns. Undefined if the table has no column with
 * an entity.
 */
export function namesOf({ entity, project }: ErasedTable, named: WalkedEntity): SQL | undefined {
  if (typeof entity !== "object" || !("names" in entity)) return undefined;
  const own = project === undefined ? sql`true` : eq(project, named.projectId);
  const names = (named.isErased === true ? undefined : entity.exported) ?? entity.names;
  return sql`(${own} and ${names(named)})`;
}

/**
 * Returns which of the rows `uuids` belong directly to an entity (customer or user), by their own columns or by a rule in code. Rows that an
 * erasure deletes only together with a parent row are left out.
 */
export async function ownRows(
  db: Executor,
  named: WalkedEntity,
  erased: ErasedTable,
  uuids: readonly string[],
): Promise<Set<string>> {
  const { entity, key, table } = erased;
  if (uuids.length === 0 || typeof entity !== "object" || "none" in entity) return new Set();
  if ("rule" in entity) return new Set(await chosenBy(db, named, entity.rule, uuids));
  if (key === undefined) throw new Error(`${getTableName(table)} has no key to ask by`);
  const rows = await db.orm.execute<{ id: string }>(
    sql`select ${key}::text as id from ${table} where ${key} = any(${arrayLiteral([...uuids])}::uuid[]) and ${namesOf(erased, named)}`,
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns those of the given rows that belong to an entity (customer or user). A row belongs to the entity if it names the entity, or if
 * the erasure of the entity deletes it with a parent row.
 */
export async function rowsOfEntity(
  db: Executor,
  named: WalkedEntity,
  erased: ErasedTable,
  uuids: readonly string[],
): Promise<Set<string>> {
  const found = await ownRows(db, named, erased, uuids);
  for (const { parent, erased: other, key: parentKey } of waysOf(erased)) {
    const { key, table } = erased;
    const asked = uuids.filter((id) => !found.has(id));
    if (asked.length === 0 || key === undefined) break;
    const pairs = await db.orm.execute<{
      id: string;
      of: string;
    }>(sql`select ${key}::text as id, ${parentKey}::text as of
      from (select * from ${table} where ${key} = any(${arrayLiteral(asked)}::uuid[])) ${sql.identifier(getTableName(table))}
      cross join lateral (select * from ${parent.table} where ${and(parent.on, parent.from)} offset 0) ${sql.identifier(getTableName(parent.table))}`);
    const of = await rowsOfEntity(db, named, other, [...new Set(pairs.map((pair) => pair.of))]);
    for (const pair of pairs) if (of.has(pair.of)) found.add(pair.id);
  }
  return found;
}

type MembershipRule = "jobs" | "standing" | "runs";

async function chosenBy(
  db: Executor,
  named: WalkedEntity,
  rule: MembershipRule,
  uuids: readonly string[],
): Promise<string[]> {
  switch (rule) {
    case "jobs":
      return (
        await jobsUnderEntity(
          db,
          named,
          uuids.map((id): Id<"job"> => idOfUuid("job", id)),
        )
      ).map(uuidOfId);
    case "runs":
      return (
        await runsOfEntity(
          db,
          named,
          uuids.map((id): StandingRunId => idOfUuid("srn", id)),
        )
      ).map(uuidOfId);
    case "standing":
      return (
        await programsOfEntity(
          db,
          named,
          uuids.map((id): StandingProgramId => idOfUuid("stp", id)),
        )
      ).map(uuidOfId);
  }
}
