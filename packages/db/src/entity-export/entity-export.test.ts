import { createTestDatabase } from "@svc/testing/database";
import { getTableColumns, getTableName, sql } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { explain, sentBy } from "../../plans/planner/explain.ts";
import type { Executor } from "../connect.ts";
import { rowsAlong } from "../erasures/delete-rows.ts";
import { beginErasure, findErasure } from "../erasures/repo.ts";
import { stepErasure } from "../erasures/step.ts";
import { type PlantedOwner, plantRows } from "../erasures/test-planted.ts";
import { createProject } from "../projects/repo.ts";
import { erasedTables } from "../schema/erased-tables.ts";
import { closedColumns, exportOf, openedColumns } from "../schema/exported-columns.ts";
import { keyColumns, sealedTables } from "../schema/sealed-columns.ts";
import { waysOf } from "./membership.ts";
import { readRows } from "./page.ts";
import { exportEntity } from "./walk.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const nowMs = Date.UTC(2026, 0, 5, 9);
const times = { graceMs: 0, jobsMs: 600_000, pollMs: 1_000 };

test("every sealed column is opened by an export, or by none", () => {
  const declared = [openedColumns, closedColumns].flatMap((columns) =>
    Object.entries(columns).flatMap(([table, names]) => names.map((name) => `${table}.${name}`)),
  );
  const sealed = sealedTables.flatMap(({ name, columns }) => columns.map(({ column }) => `${name}.${column.name}`));
  expect(declared.toSorted()).toEqual(sealed.toSorted());
});

/** Returns an entity's export: the texts of each column, and the number of rows of each table. */
async function exported({ projectId, entityId }: PlantedOwner) {
  const texts = new Map<string, string>();
  const counts: Record<string, number> = {};
  for await (const { table, rows } of exportEntity(db, { projectId, entityId })) {
    expect(rows.length).toBeGreaterThan(0);
    counts[table] = (counts[table] ?? 0) + rows.length;
    for (const { values, sealed } of rows) {
      const columns = [
        ...Object.entries(values),
        ...sealed.map((one) => [one.column, one.sealed.toString("latin1")] as const),
      ];
      for (const [column, value] of columns) {
        const place = `${table}.${column}`;
        texts.set(place, `${texts.get(place) ?? ""} ${JSON.stringify(value)}`);
      }
    }
  }
  return { texts, counts };
}

/** Returns the columns that an export may show and in which any row contains the marker. */
async function markedColumns(marker: string): Promise<string[]> {
  const marked: string[] = [];
  for (const { table, entity } of erasedTables) {
    if (typeof entity === "object" && "none" in entity) continue;
    for (const column of Object.values(getTableColumns(table))) {
      if (exportOf(table, column) === "left out") continue;
      const name = getTableName(table);
      const held = column.getSQLType() === "bytea" ? `encode("${column.name}", 'escape')` : `"${column.name}"::text`;
      const rows = await db.sql.unsafe(`select from "${name}" where position($1 in ${held}) > 0 limit 1`, [marker]);
      if (rows.length > 0) marked.push(`${name}.${column.name}`);
    }
  }
  return marked;
}

test("an export has what an entity's rows hold in every column but secrets, nothing of others, and as many rows as are erased", async () => {
  const here = (await createProject(db, "here", nowMs)).id;
  const there = (await createProject(db, "there", nowMs)).id;
  const owner = (projectId: typeof here, entityId: string, number: number): PlantedOwner => {
    return { projectId, entityId, number, marker: `marker-${number}` };
  };
  const [ada, adam, otherAda] = [owner(here, "ada", 101), owner(here, "adam", 102), owner(there, "ada", 103)];
  for (const one of [ada, adam, otherAda]) await plantRows(db, one);
  // A key that contains more than the entity's id may belong to another entity with a longer id. So an export leaves such a row out, and an
  // erasure deletes it.
  for (const table of ["call_paces", "standing_rates", "standing_dedupe"]) {
    await db.sql.unsafe(`update "${table}" set key = 'ada' where key like '%marker-101%'`);
  }
  const { texts, counts } = await exported(ada);
  const all = [...texts.values()].join(" ");
  expect(all).not.toContain(adam.marker);
  expect(all).not.toContain(otherAda.marker);
  const found = [...texts].filter(([, text]) => text.includes(ada.marker)).map(([place]) => place);
  const marked = await markedColumns(ada.marker);
  expect(marked.length).toBeGreaterThan(100);
  expect(found.toSorted()).toEqual(marked.toSorted());
  const begun = await beginErasure(db, { projectId: here, entityId: "ada" }, { nowMs });
  while ((await stepErasure(db, nowMs, times)) !== undefined);
  const done = await findErasure(db, begun.id);
  expect(done).toMatchObject({ state: "done", counts });
  expect(done?.counts).toEqual(counts);
  expect((await exported(ada)).counts).toEqual({});
});

// Tables that may be scanned completely. They have few rows, which are deleted soon: some backfills per program, and links and codes that
// live for minutes.
const small = new Set(["standing_backfills", "console_links", "grant_codes"]);

test("what goes with a row is found by an index of it, to be exported and to be erased: no table is gone through", async () => {
  const [projectId, uuid] = [(await createProject(db, "plans", nowMs)).id, "018bcfe5-6800-7000-8000-000000000001"];
  for (const erased of erasedTables) {
    for (const [index, { parent, erased: other, key }] of waysOf(erased).entries()) {
      const name = getTableName(erased.table);
      const owners = { parent, erased: other, key, ids: [uuid] };
      const order = keyColumns(erased.table);
      const owned = sql`${key} = any(${`{${uuid}}`}::uuid[])`;
      const runs = [
        (tx: Executor) => readRows(tx, { erased, projectId, owners, order }),
        (tx: Executor) =>
          tx.orm.execute(sql`select ${erased.table}.ctid ${rowsAlong(erased, parent, owned)} limit 100`),
      ];
      for (const run of runs) {
        for (const mode of ["custom", "generic"] as const) {
          const [sent] = await sentBy(db, run);
          const { access } = await explain(db, sent!, { mode });
          const found = access[name] ?? [];
          const isByIndex = found.length > 0 && found.every((one) => /\(\S/.test(one) && !one.startsWith("Seq"));
          expect(isByIndex || small.has(name), `${name}, way ${index}, by ${found}`).toBe(true);
        }
      }
    }
  }
});
