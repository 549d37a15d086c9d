import { getTableConfig } from "drizzle-orm/pg-core";
import type { Executor } from "../connect.ts";
import { type SealedTable, sealedTables } from "../schema/sealed-columns.ts";
import { countSealedRows, readSealedPage, writeResealed } from "../vault/reseal.ts";
import type { Plan } from "./plan.ts";

const page = { oldBefore: Buffer.alloc(12, 0xff), limit: 500 };
const sealed = Buffer.from("sealed");

/** The primary key's index. */
function keyIndexOf({ name, key: [column] }: SealedTable): string {
  const [named] = column === undefined ? [] : getTableConfig(column.table).primaryKeys;
  return named?.getName() ?? `${name}_pkey`;
}

/** How the project of a row is found: by primary key, where it stands in another table's. */
function projectReads({ project }: SealedTable): Plan["reads"] {
  if (project === "deployment" || !("table" in project)) return {};
  return { [project.table]: `${project.table}_pkey(${project.id})` };
}

/** The key of a table's first row, and what stands behind it. */
async function behindFirst(db: Executor, table: string): Promise<string> {
  const { next } = await readSealedPage(db, { ...page, table, after: "", limit: 1 });
  if (next === undefined) throw new Error(`${table} has no rows`);
  return next;
}

/** How a rotation goes through a table: by its primary key from row to row, however large it is. */
function plansOf(table: SealedTable): Plan[] {
  const { name, key, columns } = table;
  const index = keyIndexOf(table);
  const byKey = `${index}(${key.map((column) => column.name).join(", ")})`;
  return [
    {
      name: "the first sealed values of a table",
      variant: name,
      run: (db) => readSealedPage(db, { ...page, table: name, after: "" }),
      reads: { [name]: `${index}()`, ...projectReads(table) },
      isOrdered: true,
    },
    {
      name: "the next sealed values of a table",
      variant: name,
      words: ") > (",
      run: async (db) => readSealedPage(db, { ...page, table: name, after: await behindFirst(db, name) }),
      reads: { [name]: byKey, ...projectReads(table) },
      isOrdered: true,
    },
    {
      name: "put values that are sealed anew",
      variant: name,
      words: "written",
      run: async (db) => {
        const first: string[] = JSON.parse(await behindFirst(db, name));
        const row = { key: first, values: columns.map(() => ({ sealed, context: "" })) };
        await writeResealed(db, name, [{ row, sealed: columns.map(() => sealed) }]);
      },
      reads: { [name]: byKey },
    },
  ];
}

/** How a rotation of the vault key goes through everything that is sealed. */
export const resealPlans: readonly Plan[] = [
  ...sealedTables.flatMap(plansOf),
  { name: "about how many rows have sealed values", run: (db) => countSealedRows(db), reads: {} },
];
