import type { StepReceipt } from "@svc/sdk";
import { expect, test } from "vitest";
import { readProgram } from "./shown-program.ts";

const program = {
  title: "Kinds",
  steps: [
    { id: "fetch", entity: "ops", call: "desk.list_items", rows: { from: "items[]", keep: ["id"] } },
    { id: "large", where: "row.n > 1.0", filter: "fetch" },
    { id: "send", concurrency: 2, do: [{ id: "note", call: "desk.send_note" }], map: "large" },
    { id: "sum", as: { all: "count" }, reduce: "send" },
    { id: "gate", when: "rows.large > 1", judge: "many" },
    { id: "any", if: "rows.large > 0", else: [{ id: "pause", wait: "1h" }] },
    { id: "sorted", sort: "large", by: "n" },
    { id: "odd", by: "n", shuffle: "large" },
  ],
};

function kindsOf(receipts: readonly object[]) {
  const { steps } = readProgram({ programJson: JSON.stringify(program), stepReceipts: receipts as StepReceipt[] });
  return steps.map(({ id, kind, toolSlug, source = "" }) => [id, kind, toolSlug, source]);
}

test("a step is shown with its kind, tool and set in whatever order its fields stand, one of an unknown kind too", () => {
  expect(kindsOf([])).toEqual([
    ["fetch", "call", "desk.list_items", ""],
    ["large", "filter", "", "fetch"],
    ["send", "map", "desk.send_note", "large"],
    ["sum", "reduce", "", "send"],
    ["gate", "judge", "", ""],
    ["any", "if", "", ""],
    ["pause", "wait", "", ""],
    ["sorted", "sort", "", "large"],
    ["odd", "by", "", ""],
  ]);
});

test("the receipt of a step that has begun says its kind", () => {
  expect(kindsOf([{ stepId: "odd", kind: "shuffle" }]).at(-1)).toEqual(["odd", "shuffle", "", "large"]);
});

test("steps in blocks are shown where they stand, with the branch of a parallel", () => {
  const call = { call: "desk.get_item", entity: "ops" };
  const round = { id: "poll", every: "1m", max: 3, until: "true", do: [{ id: "look", ...call }] };
  const sorry = [{ id: "sorry", wait: "1m" }];
  // biome-ignore lint/suspicious/noThenProperty: `onError` of a program has a field named `then`.
  const onError = { then: "continue", do: sorry };
  const steps = [{ id: "ways", onError, parallel: { left: [round], right: [{ id: "who", ...call }] } }];
  const shown = readProgram({ programJson: JSON.stringify({ title: "Blocks", steps }), stepReceipts: [] });
  expect(shown.steps.map(({ id, kind, toolSlug, depth, branch }) => [id, kind, toolSlug, depth, branch])).toEqual([
    ["ways", "parallel", "", 0, ""],
    ["poll", "until", "", 1, "ways/left"],
    ["look", "call", "desk.get_item", 2, "ways/left"],
    ["who", "call", "desk.get_item", 1, "ways/right"],
    ["sorry", "wait", "", 1, ""],
  ]);
});
