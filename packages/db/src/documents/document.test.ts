import { createTestDatabase } from "@svc/testing/database";
import { getTableColumns, getTableName, is, Table } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import * as schema from "../schema/index.ts";
import { asWritten, documentList, documentType, plainDocument } from "./document.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

type Box = { readonly width: number; readonly height: number };

/** In version 1, a box was always a square, so it had only `side`. */
const box = documentType<Box>("shelf.box", [({ side }) => ({ width: Number(side), height: Number(side) }), asWritten]);

test("a document without a version is of the first; it and every later one are read in today's form", () => {
  expect(box.read({ side: 3 })).toEqual({ width: 3, height: 3 });
  expect(box.read({ v: 2, width: 1, height: 2 })).toEqual({ width: 1, height: 2 });
  expect(box.read(JSON.parse(box.write({ width: 4, height: 5 })))).toEqual({ width: 4, height: 5 });
});

test("a first version is written without one", () => {
  const first = documentType<Box>("shelf.box", [asWritten]);
  expect(first.write({ width: 1, height: 2 })).toBe('{"width":1,"height":2}');
  expect(first.read({ width: 1, height: 2 })).toEqual({ width: 1, height: 2 });
});

test.each([3, 0, 1.5, -1, "2", null, {}])("version %j is refused, by the name of its column", (v) => {
  expect(() => box.read({ v, width: 1, height: 1 })).toThrow(
    `shelf.box is stored in version ${JSON.stringify(v)}, and this version of svc reads up to 2: a newer one wrote it`,
  );
});

test.each([
  [[], "a list"],
  [null, "null"],
  ["text", "a string"],
  [1, "a number"],
])("%j is no document", (stored, what) => {
  expect(() => box.read(stored)).toThrow(`shelf.box holds ${what}, not an object`);
});

test("entries of a list have versions of their own", () => {
  const boxes = documentList(box);
  expect(boxes.read([{ side: 1 }, { v: 2, width: 2, height: 3 }])).toEqual([
    { width: 1, height: 1 },
    { width: 2, height: 3 },
  ]);
  expect(boxes.read(JSON.parse(boxes.write([{ width: 2, height: 3 }])))).toEqual([{ width: 2, height: 3 }]);
  expect(() => boxes.read({})).toThrow("shelf.box holds an object, not a list");
});

test("an object of names that are not ours may have any name", () => {
  const plain = plainDocument("shelf.labels");
  const labels = { v: 17, "": null, __proto__: 1 };
  expect(plain.read(JSON.parse(plain.write(labels)))).toEqual(labels);
});

test("every jsonb column is read by the reader of its document", () => {
  const columns = Object.values(schema)
    .filter((entry) => is(entry, Table))
    .flatMap((table) => Object.values(getTableColumns(table)).map((column) => ({ table, column })))
    .filter(({ column }) => column.getSQLType().startsWith("json"));
  expect(columns.length).toBeGreaterThan(10);
  for (const { table, column } of columns) {
    expect(() => column.mapFromDriverValue(1)).toThrow(`${getTableName(table)}.${column.name} holds a number`);
  }
});

test("a word from a newer version is refused by every reader of its row", async () => {
  await db.sql`insert into quarantined_posts (id, toolkit_slug, reason, detail, headers, query, body, body_bytes, received_at)
    values (gen_random_uuid(), '', 'too_new', '', '{}', '{}', '', 0, now())`;
  await expect(db.orm.select().from(schema.quarantinedPosts)).rejects.toThrow(
    '"too_new" is not one of no_trigger, invalid_payload, no_project',
  );
});
