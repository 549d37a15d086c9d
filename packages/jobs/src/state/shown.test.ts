import type { Action, JsonSchema } from "@svc/catalog";
import { type JsonObject, type PinnedTools, parseCheckedProgram } from "@svc/program";
import { expect, test } from "vitest";
import { stepKinds } from "../steps/index.ts";
import { flatten } from "./flow.ts";
import type { JobState } from "./job.ts";
import { hasSensitive, shownOf } from "./shown.ts";

const secret = { type: "string", "x-sensitive": true };

/** Returns a job whose tools have these schemas, in a state with these values. */
function jobOf(
  program: object,
  schemas: Record<string, { input?: JsonSchema; output?: JsonSchema }>,
  {
    steps = {},
    stepArgs = {},
    params = {},
  }: { steps?: JsonObject; stepArgs?: Record<string, JsonObject>; params?: JsonObject },
): Pick<JobState, "loaded" | "scope" | "stepArgs"> {
  const read = parseCheckedProgram(JSON.stringify({ version: 1, title: "Test", ...program }));
  const tools = new Map(
    Object.entries(schemas).map(([slug, { input = {}, output = {} }]) => {
      return [slug, { action: { inputSchema: input, outputSchema: output } as Action }];
    }),
  ) as unknown as PinnedTools;
  const own = { program: read, programHash: "", flow: flatten(read.steps, stepKinds), tools, skills: {}, isOld: false };
  const loaded = { ...own, hasSensitive: hasSensitive(own) };
  return { loaded, stepArgs, scope: { input: read.input, params: { ...read.params, ...params }, steps, rows: {} } };
}

const read = { id: "read", call: "app.read", entity: "ops" };

test("a program without anything sensitive is shown as it is", () => {
  const job = jobOf({ input: { a: "x" }, steps: [read] }, { "app.read": {} }, { steps: { read: { a: 1 } } });
  const shown = shownOf(job);
  expect([hasSensitive(job.loaded), shown.scope === job.scope, shown.redact("x")]).toEqual([false, true, "x"]);
});

test("marked inputs, answers of tools and what answers changed are masked, and taken out of texts that repeat them", () => {
  const inputSchema = { type: "object", properties: { token: secret, open: { type: "string" } } };
  const point = (target: string, name: string) => ({
    question: "Go on?",
    continuations: ["proceed", "retry-with"],
    overrides: { target, rerunFrom: "read" },
    answerSchema: { type: "object", additionalProperties: false, properties: { [name]: secret } },
    escalation: [{ principal: "lead" }],
  });
  const job = jobOf(
    {
      inputSchema,
      input: { token: "input-secret", open: "seen" },
      params: { key: "first", other: "seen" },
      steps: [read, { id: "one", judge: "one" }, { id: "two", judge: "two" }],
      points: { one: point("params", "key"), two: point("steps.read.args", "pin") },
    },
    {
      "app.read": {
        input: { properties: { pin: { $ref: "#/$defs/pin" } }, $defs: { pin: secret } },
        output: {
          properties: { made: { $ref: "#/$defs/made" }, open: { $ref: "#/$defs/open" } },
          $defs: { made: secret, open: { type: "string" } },
        },
      },
    },
    {
      steps: { read: { made: "made-secret", open: "seen" } },
      stepArgs: { read: { pin: "pin-secret" } },
      params: { key: "param-secret" },
    },
  );
  const { scope, redact } = shownOf(job);
  expect(scope).toEqual({
    input: { token: "***", open: "seen" },
    params: { key: "***", other: "seen" },
    steps: { read: { made: "***", open: "seen" } },
    rows: {},
  });
  expect(redact("input-secret made-secret pin-secret param-secret seen")).toBe("*** *** *** *** seen");
});

test("a number over a sensitive field of rows is sensitive, a count is not", () => {
  const rows = { from: "list[]", keep: ["id", "value"] };
  const job = jobOf(
    {
      steps: [
        { ...read, rows },
        { id: "some", filter: "read", where: "row.id > 1.0" },
        { id: "sum", reduce: "some", as: { n: "count", most: "max value", ids: "sum id" } },
      ],
    },
    {
      "app.read": {
        output: { properties: { list: { items: { properties: { id: {}, value: { "x-sensitive": true } } } } } },
      },
    },
    { steps: { sum: { n: 2, most: 1234, ids: 3 } } },
  );
  expect(shownOf(job).scope.steps).toEqual({ sum: { n: 2, most: "***", ids: 3 } });
});

test("marks go with the fields of rows through every kind of set, into numbers, lists and texts", () => {
  const output = {
    type: "object",
    properties: {
      items: {
        type: "array",
        items: {
          properties: { open: { type: "string" }, pin: secret, cards: { items: { properties: { no: secret } } } },
        },
      },
    },
  };
  const inputSchema = { type: "object", properties: { list: { items: { properties: { code: secret, open: {} } } } } };
  const fetch = { ...read, rows: { from: "items[]", keep: ["open", "pin", "cards"] } };
  const valuesOver = (set: string, field: string) => ({
    id: `over_${set}_${field}`,
    reduce: set,
    as: { most: `max ${field}`, list: `list ${field}`, text: { text: { of: `{row.${field}}` } }, all: "count" },
  });
  const shownFields = (steps: object[], set: string, field: string) => {
    const job = jobOf(
      { inputSchema, steps: [fetch, ...steps, valuesOver(set, field)] },
      { "app.read": { output } },
      { steps: { [`over_${set}_${field}`]: { most: "m", list: ["l"], text: "t", all: 3 } } },
    );
    return Object.values(shownOf(job).scope.steps as Record<string, JsonObject>)[0];
  };
  const hidden = { most: "***", list: "***", text: "***", all: 3 };
  const open = { most: "m", list: ["l"], text: "t", all: 3 };
  const each = { id: "each", map: "read", keep: { kept: "calls.look.items[0].pin" }, do: [{ ...read, id: "look" }] };
  const sets: [object[], string, string, string][] = [
    [
      [
        { id: "a", sort: "read", by: [{ field: "open" }] },
        { id: "s", limit: "a", max: 2 },
      ],
      "s",
      "pin",
      "open",
    ],
    [[{ id: "s", distinct: "read", by: ["open"] }], "s", "cards", "open"],
    [[each], "each", "kept", "open"],
    [
      [{ id: "s", join: "read", with: "read", on: { open: "open" }, keep: { x: "right.pin", y: "right.open" } }],
      "s",
      "x",
      "y",
    ],
    [[{ id: "s", flatten: "read", field: "cards", keep: { no: "item.no" } }], "s", "no", "open"],
    [[{ id: "s", group: "read", by: ["open"], as: { pins: "list pin", all: "count" } }], "s", "pins", "all"],
    [[{ id: "s", compute: "read", fields: { x: "'a' + row.pin", y: "row.open" } }], "s", "x", "y"],
    [[{ id: "s", take: "input.list", keep: ["code", "open"] }], "s", "code", "open"],
  ];
  for (const [steps, set, marked, unmarked] of sets) {
    expect(shownFields(steps, set, marked), `${JSON.stringify(steps)} ${marked}`).toEqual(hidden);
    expect(shownFields(steps, set, unmarked), `${JSON.stringify(steps)} ${unmarked}`).toEqual(open);
  }
});
