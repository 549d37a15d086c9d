import { createId, createWorkMeter, uuidOfId } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { testSealer } from "@svc/testing/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChunkRange, SetChunk } from "../../steps/effects.ts";
import { sealRows } from "./row-blocks.ts";
import { jobSeals } from "./seals.ts";
import { readSetChunk } from "./store-port.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const nowMs = Date.UTC(2026, 0, 5);
const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Creates a job with rows and several sets of them. The fields of each row are its number and a text of a given length. */
async function jobWith(count: number, charactersOf: (rowNumber: number) => number, sets: Record<string, number[]>) {
  const { db } = database;
  const [projectId, id] = [createId("prj", nowMs), createId("job", nowMs)];
  const seals = jobSeals(testSealer, projectId, id);
  const rows = numbersTo(count).map((rowNumber) => ({
    rowNumber,
    data: { n: rowNumber, text: "x".repeat(charactersOf(rowNumber)) },
  }));
  for (const { rowNumber, data } of sealRows(rows, seals.sealText)) {
    await db.sql`insert into job_rows (job_id, row_number, data) values (${uuidOfId(id)}::uuid, ${rowNumber}, ${data})`;
  }
  for (const [setId, members] of Object.entries(sets)) {
    await db.sql`insert into job_set_rows (job_id, set_id, ordinal, row_number, state)
      select ${uuidOfId(id)}::uuid, ${setId}, n - 1, m, case when m % 3 = 0 then 'failed' else 'ok' end
      from unnest(${`{${members.join(",")}}`}::int4[]) with ordinality as t (m, n)`;
  }
  const reading = { db, seals, work: createWorkMeter().begin({ projectId }), roomOf: new Map<string, number>() };
  return async (range: Omit<ChunkRange, "fromOrdinal">): Promise<SetChunk[]> => {
    const chunks: SetChunk[] = [];
    for (let next: number | undefined = 0; next !== undefined; next = chunks.at(-1)?.next) {
      chunks.push(await readSetChunk(reading, id, { ...range, fromOrdinal: next }));
    }
    return chunks;
  };
}

const rowsOf = (chunks: readonly SetChunk[]) => chunks.flatMap(({ rows }) => rows);

test("chunks have each row of a set once, in the set's order, whatever the order of their numbers is", async () => {
  const all = numbersTo(6_000);
  // 7,919 is prime, so each number occurs once, and no two numbers in a row are in the same block.
  const scattered = all.map((number) => ((number * 7_919) % 6_000) + 1);
  const read = await jobWith(6_000, () => 10, {
    all,
    back: all.toReversed(),
    sparse: all.filter((number) => number % 7 === 0),
    scattered,
    none: [],
  });
  for (const [setId, expected] of Object.entries({ all, back: all.toReversed(), scattered })) {
    const rows = rowsOf(await read({ setId }));
    expect(rows.map(({ rowNumber }) => rowNumber)).toEqual(expected);
    expect(rows.map(({ data }) => data["n"])).toEqual(expected);
    expect(rows.map(({ ordinal }) => ordinal)).toEqual(expected.map((_number, index) => index));
  }
  expect(rowsOf(await read({ setId: "sparse" }))).toHaveLength(857);
  expect(await read({ setId: "none" })).toEqual([{ rows: [], next: undefined, bytes: 0 }]);
  // Each of the set's blocks is decrypted once, and not once for each row.
  expect(await read({ setId: "scattered" })).toHaveLength(1);
  const sealed = await read({ setId: "all", withData: false });
  expect(rowsOf(sealed).every(({ data }) => Object.keys(data).length === 0)).toBe(true);
});

test("chunks have rows of some states alone, where those are named", async () => {
  const read = await jobWith(5_000, () => 1, { all: numbersTo(5_000) });
  const failed = rowsOf(await read({ setId: "all", states: ["failed"] }));
  expect(failed.map(({ rowNumber }) => rowNumber)).toEqual(numbersTo(5_000).filter((number) => number % 3 === 0));
  expect(new Set(failed.map(({ state }) => state))).toEqual(new Set(["failed"]));
  expect(await read({ setId: "all", states: ["unknown"] })).toHaveLength(1);
});

test("large rows come in chunks of few, and a larger one alone", async () => {
  const all = numbersTo(60);
  const charactersOf = (number: number) => (number === 31 ? 3_000_000 : number > 20 ? 300_000 : 10);
  const read = await jobWith(60, charactersOf, { all, scattered: all.map((n) => ((n * 7) % 60) + 1), only: [31] });
  for (const setId of ["all", "scattered"]) {
    const chunks = await read({ setId });
    expect(rowsOf(chunks)).toHaveLength(60);
    for (const { rows, bytes } of chunks) {
      const characters = rows.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);
      // The chunk ends with the row that fills it.
      expect(characters).toBeLessThan(2_200_000 + Math.max(...rows.map(({ rowNumber }) => charactersOf(rowNumber))));
      expect(bytes).toBeGreaterThan(2.5 * characters);
    }
  }
  expect(await read({ setId: "only" })).toMatchObject([{ next: undefined, rows: [{ rowNumber: 31 }] }]);
});

test("a row without a block is an error, and not a row without fields", async () => {
  const read = await jobWith(10, () => 1, { beyond: [3, 500] });
  await expect(read({ setId: "beyond" })).rejects.toThrow("row 500 of a job is in no block");
});
