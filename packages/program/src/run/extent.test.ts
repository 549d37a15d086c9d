import { parse } from "@bufbuild/cel";
import { expect, test } from "vitest";
import { evaluationOf } from "./evaluation.ts";

function failureOf(expression: string, row: Record<string, unknown>): string {
  const evaluate = evaluationOf(parse(expression).expr as Parameters<typeof evaluationOf>[0], () => ({ value: true }));
  const [outcome] = evaluate([{ row } as never], () => false);
  return outcome !== undefined && "error" in outcome ? outcome.error : "";
}

const failed = "applies an operation to values whose types it does not take";

test("what an operation was given is told by its kinds, never by its values, and what is meant where that is known", () => {
  const row = { secret: "planted", n: 850.5, none: null };
  const doubles = "numbers of rows, inputs and answers are doubles: write 100.0 for 100";
  const time = 'convert the text to a time: timestamp(text), or for a date timestamp(text + "T00:00:00Z")';
  expect(failureOf("row.n * 100 > 1.0", row)).toBe(
    `${failed}: * of a number (double) and a whole number (int); ${doubles}`,
  );
  expect(failureOf("row.secret < timestamp('2026-01-01T00:00:00Z')", row)).toBe(
    `${failed}: < of a text and a timestamp; ${time}`,
  );
  expect(failureOf("row.none > 1.0", row)).toBe(
    `${failed}: > of null and a number (double); check that it is not null first, with != null; null here: row.none`,
  );
  expect(failureOf("row.n.startsWith('x')", row)).toContain(`${failed}: startsWith of a number (double) and a text; `);
  expect(failureOf("size(row.n) > 1", row)).toBe(`${failed}: size of a number (double)`);
  expect(failureOf("-row.secret == 1.0", row)).toBe(`${failed}: - of a text`);
});
