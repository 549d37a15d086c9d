import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { everyConstruct } from "@svc/testing/programs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { renameStep } from "./src/builder/rename-step.ts";
import { allNodes, readNodes } from "./src/builder/step-tree.ts";
import { findPart } from "./src/json/locate.ts";
import { memberOf, readObject } from "./src/json/value.ts";
import { startedBy } from "./src/pages/schedules/definition.ts";

const folder = join(import.meta.dirname, "../../docs/examples");
const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".json"))
  .map((name) => readFileSync(join(folder, name), "utf8"));
const programs = texts.map((text) =>
  memberOf(readObject(text), "source") === undefined ? text : JSON.stringify(JSON.parse(text).program),
);

const treeOf = (text: string) => allNodes(readNodes(readObject(text)?.["steps"], "/steps"));

test.each([...programs, JSON.stringify(everyConstruct(), undefined, 2)].map((text) => [JSON.parse(text).title, text]))(
  "each step of %s has a card, and its pointer leads to it",
  (_, text) => {
    const nodes = treeOf(text);
    expect(nodes.length).toBeGreaterThan(0);
    for (const { pointer, id, kind, step } of nodes) {
      const part = findPart(text, pointer);
      expect(JSON.parse(text.slice(part?.value, part?.to))).toEqual(step);
      expect([step["id"], Object.hasOwn(step, kind)]).toEqual([id, true]);
    }
  },
);

test("each example of a schedule names its source, which is one of the five", () => {
  const schedules = texts.map(readObject).filter((root) => memberOf(root, "source") !== undefined);
  expect(new Set(schedules.map(startedBy))).toEqual(new Set(["cron", "every", "trigger", "poll"]));
});

test("steps that are no steps have no card, and no text makes the cards fail", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const nodes = allNodes(readNodes(value, "/steps"));
      expect(nodes.every(({ pointer }) => pointer.startsWith("/steps/"))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("a renamed step is renamed wherever the program refers to it, and nowhere else", () => {
  const text = JSON.stringify({
    title: "Say steps.sum.of",
    steps: [
      { id: "sum", reduce: "fetch", as: { of: "count" } },
      { id: "summary", filter: "sum", where: "steps.sum.of > 0 && rows.summary > 1" },
      {
        id: "say",
        call: "a.b",
        args: { text: { $text: "{steps.sum.of} of {rows.sum}" }, sum: "sum" },
        when: "rows.sum>0",
      },
    ],
    result: { sum: { $ref: "steps.sum.of" } },
  });
  const root = readObject(text);
  const renamed = renameStep(text, { root, base: "" }, { pointer: "/steps/0", id: "sum" }, "total");
  expect(JSON.parse(renamed)).toEqual({
    title: "Say steps.sum.of",
    steps: [
      { id: "total", reduce: "fetch", as: { of: "count" } },
      { id: "summary", filter: "total", where: "steps.total.of > 0 && rows.summary > 1" },
      {
        id: "say",
        call: "a.b",
        args: { text: { $text: "{steps.total.of} of {rows.total}" }, sum: "sum" },
        when: "rows.total>0",
      },
    ],
    result: { sum: { $ref: "steps.total.of" } },
  });
  const back = renameStep(
    renamed,
    { root: readObject(renamed), base: "" },
    { pointer: "/steps/0", id: "total" },
    "sum",
  );
  expect(back).toBe(text);
});

test("data of an app keeps its words, and an id with a dollar sign is taken as it is", () => {
  const text = (id: string, ref: string) =>
    JSON.stringify({
      steps: [
        { id, reduce: "fetch", as: { args: `steps.${ref}.of` } },
        { id: "say", call: "a.b", args: { group: "deals", text: "steps.deals.of", of: { $ref: `steps.${ref}.of` } } },
        { id: "go", run: "c", input: { filter: "deals" } },
        { id: "split", parallel: { args: [{ id: "kept", filter: ref, where: "true" }] } },
      ],
      input: { sort: "deals" },
    });
  const old = text("deals", "deals");
  const renamed = renameStep(old, { root: readObject(old), base: "" }, { pointer: "/steps/0", id: "deals" }, "$&x");
  expect(JSON.parse(renamed)).toEqual(JSON.parse(text("$&x", "$&x")));
});
