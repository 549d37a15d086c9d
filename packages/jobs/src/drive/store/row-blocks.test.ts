import { createId, createWorkMeter, uuidOfId } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { testSealer } from "@svc/testing/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RowRange } from "../../steps/effects.ts";
import { openBlock, sealRows } from "./row-blocks.ts";
import { readSetRows } from "./rows.ts";
import { jobSeals } from "./seals.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const nowMs = Date.UTC(2026, 0, 5);
const rowsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ rowNumber: first + index, data: { id: `r${first + index}` } }));

test("rows are sealed fifty together, less where they are large, and across a gap apart", () => {
  const { sealText, open } = jobSeals(testSealer, createId("prj", nowMs), createId("job", nowMs));
  const large = { rowNumber: 200, data: { text: "x".repeat(70_000) } };
  const rows = [...rowsFrom(1, 120), large, ...rowsFrom(201, 2)];
  const blocks = sealRows(rows, sealText);
  expect(blocks.map(({ rowNumber }) => rowNumber)).toEqual([1, 51, 101, 200, 201]);
  const opened = blocks.flatMap(({ rowNumber, data }) => openBlock(rowNumber, data, { open }));
  expect(opened).toEqual(rows.map(({ data }) => data));
  expect(blocks.some(({ data }) => Buffer.from(data).includes("r17"))).toBe(false);
  // A block can be decrypted only with its own number.
  expect(() => openBlock(2, (blocks[0] as (typeof blocks)[number]).data, { open })).toThrow();
});

test("any page of any set finds its rows, those that version 0.1 stored one by one among them", async () => {
  const { db } = database;
  const [projectId, id] = [createId("prj", nowMs), createId("job", nowMs)];
  const seals = jobSeals(testSealer, projectId, id);
  const old = rowsFrom(1, 30).map(({ rowNumber, data }) => ({
    rowNumber,
    data: seals.seal(`rows/${rowNumber}`, data),
  }));
  const stored = [...old, ...sealRows(rowsFrom(31, 170), seals.sealText)];
  for (const { rowNumber, data } of stored) {
    await db.sql`insert into job_rows (job_id, row_number, data) values (${uuidOfId(id)}::uuid, ${rowNumber}, ${data})`;
  }
  const numbers = rowsFrom(1, 200).map(({ rowNumber }) => rowNumber);
  const sets = { all: numbers, sparse: numbers.filter((n) => n % 7 === 0), back: [150, 20, 151, 21, 190, 35] };
  for (const [setId, members] of Object.entries(sets)) {
    await db.sql`insert into job_set_rows (job_id, set_id, ordinal, row_number, state)
      select ${uuidOfId(id)}::uuid, ${setId}, n - 1, m, 'in' from unnest(${`{${members.join(",")}}`}::int4[]) with ordinality as t (m, n)`;
  }
  const reading = { db, seals, work: createWorkMeter().begin({ projectId }) };
  for (const [setId, members] of Object.entries(sets)) {
    for (const limit of [3, 64, 200]) {
      const found: unknown[] = [];
      for (let fromOrdinal = 0; fromOrdinal < members.length; fromOrdinal += limit) {
        const page = await readSetRows(reading, id, { setId, fromOrdinal, limit, bytesMax: 1_000_000 });
        expect(page.hasMore || fromOrdinal + limit > members.length).toBe(true);
        found.push(...page.rows.map(({ rowNumber, data }) => [rowNumber, data]));
      }
      expect(found).toEqual(members.map((number) => [number, { id: `r${number}` }]));
    }
  }
});

test("a page of large rows ends with the one that comes to its bytes, whether fields or answers are large", async () => {
  const { db } = database;
  const [projectId, id] = [createId("prj", nowMs), createId("job", nowMs)];
  const seals = jobSeals(testSealer, projectId, id);
  const large = "x".repeat(300_000);
  for (const rowNumber of [1, 2, 3, 4, 5, 6]) {
    const data = seals.seal(`rows/${rowNumber}`, rowNumber < 5 ? { large } : {});
    const outputs = rowNumber < 5 ? null : seals.seal(`sets/s/${rowNumber - 1}`, { note: large });
    await db.sql`insert into job_rows (job_id, row_number, data) values (${uuidOfId(id)}::uuid, ${rowNumber}, ${data})`;
    await db.sql`insert into job_set_rows (job_id, set_id, ordinal, row_number, state, outputs)
      values (${uuidOfId(id)}::uuid, 's', ${rowNumber - 1}, ${rowNumber}, 'failed', ${outputs})`;
  }
  const reading = { db, seals, work: createWorkMeter().begin({ projectId }) };
  const read = async (fromOrdinal: number, range: Partial<RowRange> = {}) => {
    const page = await readSetRows(reading, id, { setId: "s", fromOrdinal, limit: 100, bytesMax: 500_000, ...range });
    return { ordinals: page.rows.map(({ ordinal }) => ordinal), hasMore: page.hasMore, rows: page.rows };
  };
  for (const range of [{}, { state: "failed" as const }, { states: ["failed" as const] }]) {
    expect(await read(0, range)).toMatchObject({ ordinals: [0, 1], hasMore: true });
    expect(await read(2, range)).toMatchObject({ ordinals: [2, 3], hasMore: true });
    const last = await read(4, range);
    expect(last).toMatchObject({ ordinals: [4, 5], hasMore: false });
    expect(last.rows[0]).toMatchObject({ outputs: { note: large }, data: {} });
    expect(last.rows[0]?.bytes).toBeGreaterThan(600_000);
    expect(await read(6, range)).toMatchObject({ ordinals: [], hasMore: false });
  }
  // A row that is larger than a page is returned by itself. Fields that the caller does not want use no memory.
  expect(await read(0, { bytesMax: 1 })).toMatchObject({ ordinals: [0], hasMore: true });
  expect(await read(0, { withData: false })).toMatchObject({ ordinals: [0, 1, 2, 3, 4, 5], hasMore: false });
});
