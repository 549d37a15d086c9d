import type { Executor } from "../src/connect.ts";
import { sealedTables } from "../src/schema/sealed-columns.ts";
import { countSealedRows, readSealedPage, writeResealed } from "../src/vault/reseal.ts";
import { plan } from "./planner/plan.ts";

const sealed = Buffer.from("sealed");

/** Reads at most 500 rows of a table. `oldBefore` is so high that all encrypted values count as encrypted with an old key. */
const page = { oldBefore: Buffer.alloc(12, 0xff), limit: 500 };

async function afterFirst(db: Executor, table: string): Promise<string> {
  const { next } = await readSealedPage(db, { ...page, table, after: "", limit: 1 });
  if (next === undefined) throw new Error(`${table} has no rows`);
  return next;
}

// A rotation of the vault key scans a table by its primary key, however large it is.
for (const { name, columns } of sealedTables) {
  plan(`the first sealed values of ${name}`, (db) => readSealedPage(db, { ...page, table: name, after: "" }));
  plan(`the next sealed values of ${name}`, async (db) =>
    readSealedPage(db, { ...page, table: name, after: await afterFirst(db, name) }),
  );
  plan(`write the sealed values of ${name} again`, async (db) => {
    const first: string[] = JSON.parse(await afterFirst(db, name));
    const row = { key: first, values: columns.map(() => ({ sealed, context: "" })) };
    await writeResealed(db, name, [{ row, sealed: columns.map(() => sealed) }]);
  });
}
plan("about how many rows have sealed values", (db) => countSealedRows(db));
