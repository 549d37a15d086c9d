import { expect, test } from "vitest";
import { type AskPlace, askPlace, continuations, continuationWords } from "./continuations.ts";

const ask = { pointId: "tooMany", approvalId: "", stepId: "gate" };
const places: AskPlace[] = [
  ...([
    "judge",
    "failed_rows",
    "unknown_rows",
    "plan_approval",
    "gate_approval",
    "confirm",
    "in_doubt",
    "undo_stuck",
  ] as const),
];

test("each continuation says at each kind of question what it does there", () => {
  for (const place of places) {
    const said = continuations.map((continuation) => continuationWords(continuation, place));
    expect(new Set(said.map(({ title }) => title)).size, place).toBe(continuations.length);
    for (const { does } of said) expect(does).toMatch(/\.$/);
  }
  expect(continuationWords("proceed", "plan_approval").title).toBe("Approve");
  expect(continuationWords("later", "judge")).toEqual({ title: "later", does: "" });
});

test("a question is placed by its point, its approval and its rows", () => {
  expect(askPlace(ask)).toBe("judge");
  expect(askPlace({ ...ask, rows: { failed: 2, unknown: 0 } })).toBe("failed_rows");
  expect(askPlace({ ...ask, rows: { failed: 2, unknown: 1 } })).toBe("unknown_rows");
  expect(askPlace({ ...ask, approvalId: "apr_1", stepId: "" })).toBe("plan_approval");
  expect(askPlace({ ...ask, approvalId: "apr_1" })).toBe("gate_approval");
  expect(askPlace({ ...ask, pointId: "in_doubt" })).toBe("in_doubt");
  expect(askPlace({ ...ask, pointId: "confirm", stepId: "" })).toBe("confirm");
  // A program may also name one of its own judgment points `confirm`, so the name alone does not mean a confirmation.
  expect(askPlace({ ...ask, pointId: "confirm" })).toBe("judge");
});
