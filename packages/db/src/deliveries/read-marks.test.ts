import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AttemptEntry, attemptLogDocument } from "../documents/calls.ts";
import { nowMs } from "../test-rows.ts";
import { attemptParts } from "./read-marks.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Returns the first seven values of the entries in a stored log, as the statements read them. */
async function partsOf(log: string): Promise<unknown[]> {
  const rows = await database.db.sql.unsafe<{ parts: unknown[] }[]>(
    `select jsonb_path_query_array(p, '$[0 to 6]') as parts
     from jsonb_array_elements($1::text::jsonb) with ordinality a(entry, n) ${attemptParts} order by a.n`,
    [log],
  );
  return rows.map(({ parts }) => (typeof parts === "string" ? (JSON.parse(parts) as unknown) : parts));
}

const entry: AttemptEntry = {
  ...{ number: 1, startedAt: nowMs, durationMs: 20, requestUrl: "https://example.com/", address: "192.0.2.1" },
  ...{ statusCode: 503, error: "http_503", responseHeaders: {}, responseBody: "" },
};

test("the start of an entry has the same values as the whole entry", async () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 40 }).filter((one) => one.isWellFormed() && !one.includes("\0")),
    fc.constantFrom('",{"', "\\", '\\"', "],[", "[", "\n", "~", "x".repeat(9_000)),
  );
  const count = fc.integer({ min: -1, max: 2 ** 53 });
  const entries = fc.record({
    ...{ number: count, startedAt: count, durationMs: fc.double({ noNaN: true, noDefaultInfinity: true }) },
    ...{ requestUrl: text, address: text, statusCode: count, error: text, responseBody: text },
    responseHeaders: fc.dictionary(fc.constantFrom("a", "b"), text),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entries, { minLength: 1, maxLength: 10 }), async (log) => {
      const stored = attemptLogDocument.write(log);
      const packed = (JSON.parse(stored) as string[]).map(
        (one) => JSON.parse(one.slice(one.indexOf("["))) as unknown[],
      );
      expect(await partsOf(stored)).toEqual(packed.map((values) => values.slice(0, 7)));
    }),
    { numRuns: 100 },
  );
});

test("the answer of an endpoint in an entry is not parsed", async () => {
  const [whole] = JSON.parse(attemptLogDocument.write([entry])) as [string];
  const broken = `${whole.slice(0, whole.indexOf("{"))}{"large": not JSON${"x".repeat(50_000)}`;
  expect(await partsOf(JSON.stringify([broken]))).toEqual([
    [1, nowMs, 20, "https://example.com/", "192.0.2.1", 503, "http_503"],
  ]);
});

test("entries of earlier versions are read", async () => {
  const { requestUrl: _url, address: _address, ...first } = entry;
  const values = [2, nowMs, 30, "https://example.com/", "", 0, "timeout", {}, ""];
  expect(await partsOf(JSON.stringify([first, { p: JSON.stringify(values), v: 2 }]))).toEqual([
    [1, nowMs, 20, null, null, 503, "http_503"],
    values.slice(0, 7),
  ]);
});
