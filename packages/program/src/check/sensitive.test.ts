import { type Action, createValidator, type JsonSchema } from "@svc/catalog";
import { testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import type { CheckContext } from "./context.ts";
import { checkProgram } from "./program.ts";

const shipped = await testContext();
const model = shipped.view.tools.get("bank_link.get_item") as Action;
const secret = { type: "string", "x-sensitive": true, description: "A secret." };
const text = { type: "string", description: "A text." };

/** Input schema of a tool that has sensitive arguments at every kind of place. */
const inputSchema: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    plain: text,
    key: { $ref: "#/$defs/secret" },
    auth: { type: "object", description: "How to sign in.", properties: { user: text, password: secret } },
    list: { type: "array", description: "Keys.", items: { $ref: "#/$defs/holder" } },
    any: { description: "Either.", anyOf: [{ type: "number" }, { $ref: "#/$defs/secret" }] },
    whole: { type: "object", description: "All of it.", "x-sensitive": true },
  },
  $defs: {
    secret,
    holder: {
      type: "object",
      properties: { pin: { allOf: [{ $ref: "#/$defs/secret" }] }, next: { $ref: "#/$defs/holder" } },
    },
  },
};
const tool: Action = {
  ...model,
  slug: "bank_link.put",
  name: "put",
  inputSchema,
  validateInput: createValidator(inputSchema),
};
const context: CheckContext = {
  ...shipped,
  view: { ...shipped.view, tools: new Map([...shipped.view.tools, [tool.slug, tool]]) },
};

const marked = { ...secret, description: undefined };
const base = {
  version: 1,
  title: "Puts secrets",
  inputSchema: {
    type: "object",
    properties: {
      token: { type: "string", "x-sensitive": true },
      open: { type: "string" },
      auth: {
        type: "object",
        properties: { user: { type: "string" }, password: { type: "string", "x-sensitive": true } },
      },
      whole: { type: "object", "x-sensitive": true, properties: { part: { type: "string" } } },
    },
  },
  input: { token: "token-1", open: "open-1", auth: { user: "ann", password: "pass-1" }, whole: { part: "part-1" } },
  params: { token: "token-2" },
};
const put = (args: object, changes: object = {}) => ({
  id: "put",
  call: "bank_link.put",
  entity: "ops",
  args,
  ...changes,
});

async function faultsOf(program: object, changes: Partial<CheckContext> = {}): Promise<string[]> {
  const checked = await checkProgram(JSON.stringify({ ...base, ...program }), { ...context, ...changes });
  if (!("faults" in checked)) return [];
  for (const { message, hint } of checked.faults) expect(`${message} ${hint}`).not.toMatch(/token-|pass-|part-|open-/);
  return checked.faults.map(({ code, pointer }) => `${code} ${pointer}`);
}
const refusal = (path: string) => [`PROGRAM_SENSITIVE_LITERAL /steps/0/args${path}`];

test.each<[string, object, string]>([
  ["a text, through a reference of the schema", { key: "x" }, "/key"],
  ["a text inside of an object", { auth: { user: "ann", password: "x" } }, "/auth/password"],
  ["a text in a list, in a branch of a rule", { list: [{ pin: "x" }] }, "/list/0/pin"],
  [
    "a text below a schema that refers to itself",
    { list: [{ next: { next: { pin: "x" } } }] },
    "/list/0/next/next/pin",
  ],
  ["a value of one of several forms", { any: 5 }, "/any"],
  ["an object that is sensitive as a whole", { whole: { a: 1 } }, "/whole"],
  ["a part of one, beside a marked input", { whole: { a: { $ref: "input.token" }, b: "x" } }, "/whole/b"],
  ["what stands in for a marked input", { key: { $ref: "input.token", else: "x" } }, "/key/else"],
  ["a param", { key: { $ref: "params.token" } }, "/key"],
  ["a param in a text", { key: { $text: "{input.token}{params.token}" } }, "/key"],
  ["a text without references", { key: { $text: "x" } }, "/key"],
  ["an input that is not marked", { key: { $ref: "input.open" } }, "/key"],
  ["an object of params for one with a sensitive part", { auth: { $ref: "params" } }, "/auth"],
])("%s is refused for a sensitive argument", async (_name, args, path) => {
  expect(await faultsOf({ steps: [put(args)] })).toEqual(refusal(path));
  expect(await faultsOf({ steps: [put(args)] }, { isStored: true })).toEqual([]);
});

test("marked inputs and what steps answered are taken, whole, in part and joined into a text", async () => {
  const args = {
    plain: "x",
    key: { $text: "Bearer {input.token}" },
    auth: { $ref: "input.auth" },
    list: [{ pin: { $ref: "steps.read.item.item_id" } }, { pin: { $ref: "input.auth.password", else: null } }],
    any: { $ref: "input.whole.part" },
    whole: { deep: { $ref: "input.token" } },
  };
  const read = {
    id: "read",
    call: "bank_link.get_item",
    entity: "ops",
    args: { access_token: { $ref: "input.token" } },
  };
  expect(await faultsOf({ steps: [read, put(args)] })).toEqual([]);
});

test("without an input schema there is no marked input, and undo calls are held to it too", async () => {
  expect(await faultsOf({ inputSchema: undefined, steps: [put({ key: { $ref: "input.token" } })] })).toEqual(
    refusal("/key"),
  );
  const undo = { call: "bank_link.put", args: { key: "x" } };
  expect(await faultsOf({ steps: [put({ plain: "x" }, { undo })] })).toEqual([
    "PROGRAM_SENSITIVE_LITERAL /steps/0/undo/args/key",
  ]);
});

test("the schema of a marked input shows no value of it", async () => {
  const schema = {
    type: "object",
    properties: {
      a: { ...marked, default: "x" },
      b: { type: "object", "x-sensitive": true, properties: { c: { enum: ["x"] } } },
      d: { type: "string", default: "open" },
      e: { anyOf: [{ const: "x", "x-sensitive": true }] },
    },
  };
  expect(await faultsOf({ inputSchema: schema, input: {}, steps: [put({ plain: "x" })] })).toEqual([
    "PROGRAM_SENSITIVE_LITERAL /inputSchema/properties/a/default",
    "PROGRAM_SENSITIVE_LITERAL /inputSchema/properties/b/properties/c/enum",
    "PROGRAM_SENSITIVE_LITERAL /inputSchema/properties/e/anyOf/0/const",
  ]);
});

test("an answer that changes a sensitive argument is marked in its schema", async () => {
  const program = (key: object) => ({
    steps: [
      { id: "read", call: "bank_link.get_item", entity: "ops", args: { access_token: { $ref: "input.token" } } },
      { id: "ask", judge: "key" },
    ],
    points: {
      key: {
        question: "Which token?",
        continuations: ["proceed", "retry-with"],
        overrides: { target: "steps.read.args", rerunFrom: "read" },
        answerSchema: { type: "object", additionalProperties: false, properties: { access_token: key } },
        escalation: [{ principal: "lead" }],
      },
    },
  });
  expect(await faultsOf(program({ type: "string", "x-sensitive": true }))).toEqual([]);
  expect(await faultsOf(program({ type: "string" }))).toEqual([
    "PROGRAM_SENSITIVE_LITERAL /points/key/answerSchema/properties/access_token",
  ]);
});
