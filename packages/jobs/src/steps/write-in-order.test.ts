import type { JsonObject } from "@svc/program";
import { expect, test } from "vitest";
import type { JobState } from "../state/job.ts";
import type { StepEffects } from "./effects.ts";
import { writeInOrder } from "./write-in-order.ts";

const state = {} as JobState;
const count = 10_000;
/** All rows together are far larger than the rows that are decrypted at once. */
const bytes = 100_000_000;
const numbers = Array.from({ length: count }, (_, index) => ((index * 7_919) % count) + 1);

/**
 * Writes the rows to a fake store that has memory for `roomFor` of them. Returns the written rows and the number of times that rows were
 * decrypted.
 */
async function written(spare: number, { roomFor = count, endsAfter = count } = {}) {
  const rows: JsonObject[] = [];
  let opens = 0;
  const effects = {
    mustEnd: () => opens >= endsAfter,
    async openRows(_state: JobState, asked: readonly number[], bytesMax: number) {
      opens++;
      expect(asked.length * (bytes / count)).toBeLessThanOrEqual(bytesMax);
      const rows = Math.min(roomFor, asked.length);
      return { rows, fields: new Map(asked.slice(0, rows).map((n) => [n, { n }])), bytes: 0 };
    },
    async inTurns<T>(parts: Iterator<Promise<void> | undefined, T>) {
      for (;;) {
        const { done, value } = parts.next();
        if (done === true) return value;
        await value;
      }
    },
  } satisfies Partial<StepEffects>;
  const isWritten = await writeInOrder({ state, numbers, bytes }, effects, {
    memory: { takeSpare: (most) => Math.min(spare, most) },
    writer: {
      async make(made, looked) {
        expect(looked).toBe(made.length);
        rows.push(...made);
      },
    },
  });
  return { isWritten, opens, numbers: rows.map(({ n }) => n) };
}

test("rows are written in their order, in as large parts as memory has room for", async () => {
  const much = await written(1e9);
  const none = await written(0);
  for (const { isWritten, numbers: found } of [much, none, await written(1e9, { roomFor: 700 })]) {
    expect(isWritten).toBe(true);
    expect(found).toEqual(numbers);
  }
  expect(much.opens).toBe(3);
  expect(none.opens).toBe(18);
});

test("an act that is to end writes no further part", async () => {
  const { isWritten, numbers: found } = await written(1e9, { endsAfter: 1 });
  expect(isWritten).toBe(false);
  expect(found.length).toBeLessThan(count / 2);
});
