import type { Action, JsonSchema } from "@svc/catalog";
import { type JsonObject, type PinnedTools, parseCheckedProgram } from "@svc/program";
import { expect, test } from "vitest";
import { stepKinds } from "../steps/index.ts";
import { flatten } from "./flow.ts";
import type { JobState } from "./job.ts";
import { hasSensitive, shownOf } from "./shown.ts";

const secret = { type: "string", "x-sensitive": true };

/** A job of a program whose tools have these schemas, at a moment with these values. */
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
  const own = { program: read, programHash: "", flow: flatten(read.steps, stepKinds), tools, skills: {} };
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
