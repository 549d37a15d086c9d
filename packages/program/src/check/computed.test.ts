import { testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "./program.ts";

const context = await testContext();

const fetch = {
  id: "deals",
  call: "sales_crm.list_deals",
  entity: "ops",
  args: {},
  rows: { from: "data[]", keep: ["id", "title", "value", "status"] },
};

function send(args: object, rest: object = {}) {
  const base = { id: "send", call: "messaging_bot.send_message", entity: "ops", args: { chat_id: "@team", ...args } };
  return { ...base, ...rest };
}

async function faultsOf(steps: readonly object[], rest: object = {}, isStored = false): Promise<string[]> {
  const program = { version: 1, title: "Computes", input: { name: "Ann", count: 2 }, params: {}, ...rest, steps };
  const checked = await checkProgram(JSON.stringify(program), { ...context, isStored });
  return "faults" in checked ? checked.faults.map(({ code, pointer }) => `${code.slice(8)} ${pointer}`) : [];
}

test("what is computed is taken where its type fits, and names what may be named there", async () => {
  const steps = [
    fetch,
    { id: "old", filter: "deals", where: "timestamp(row.status + 'T00:00:00Z') < now - duration('168h')" },
    {
      id: "tell",
      map: "old",
      do: [
        send(
          { text: { $cel: "row.title.upperAscii() + ' ' + string(now).substring(0, 10)" } },
          {
            undo: {
              call: "messaging_bot.delete_message",
              args: { chat_id: "@team", message_id: { $cel: "output.message_id" }, confirm: true },
            },
          },
        ),
        send({ text: { $cel: "string(calls.send.message_id)" } }, { id: "again" }),
      ],
    },
    { id: "pause", wait: { until: { $cel: "now + duration('24h')" } } },
  ];
  const saga = { on: ["failed"] };
  expect(await faultsOf(steps, { result: { at: { $cel: "now" }, many: { $cel: "rows.old > 5" } }, saga })).toEqual([]);
});

test.each<[string, object[], string[]]>([
  ["a number for a text", [send({ text: { $cel: "1 + 1" } })], ["ARGUMENT_INVALID /steps/0/args/text"]],
  [
    "a text for a whole number",
    [send({ text: "x", message_thread_id: { $cel: "input.name" } })],
    ["ARGUMENT_INVALID /steps/0/args/message_thread_id"],
  ],
  [
    "an input that is not there",
    [send({ text: { $cel: "input.nobody" } })],
    ["REFERENCE_INVALID /steps/0/args/text/$cel"],
  ],
  ["a row where there is none", [send({ text: { $cel: "row.name" } })], ["REFERENCE_INVALID /steps/0/args/text/$cel"]],
  [
    "the answer of a call outside of an undo",
    [send({ text: { $cel: "output.name" } })],
    ["REFERENCE_INVALID /steps/0/args/text/$cel"],
  ],
  [
    "a time that is a number",
    [{ id: "pause", wait: { until: { $cel: "1.0" } } }],
    ["EXPRESSION_INVALID /steps/0/wait/until"],
  ],
  [
    "two times that are added",
    [send({ text: { $cel: "string(now + now)" } })],
    ["EXPRESSION_INVALID /steps/0/args/text/$cel"],
  ],
  [
    "a text that is compared with a time",
    [send({ text: { $cel: "string('2026' < now)" } })],
    ["EXPRESSION_INVALID /steps/0/args/text/$cel"],
  ],
  ["days", [send({ text: { $cel: "string(now - duration('7d'))" } })], ["EXPRESSION_INVALID /steps/0/args/text/$cel"]],
  ["no expression", [send({ text: { $cel: 5 } })], ["MALFORMED /steps/0/args/text/$cel"]],
  ["something beside it", [send({ text: { $cel: "'a'", else: "b" } })], ["MALFORMED /steps/0/args/text/else"]],
  [
    "all arguments at once",
    [{ ...send({}), args: { $cel: "{}" } }],
    ["MALFORMED /steps/0/args", "ARGUMENT_INVALID /steps/0/args", "ARGUMENT_INVALID /steps/0/args"],
  ],
  ["a list in the result", [send({ text: "x" })], ["REFERENCE_INVALID /result/list"]],
])("%s is refused", async (name, steps, faults) => {
  const result = name === "a list in the result" ? { result: { list: { $cel: "['a']" } } } : {};
  expect(await faultsOf(steps, result)).toEqual(faults);
});

test("what version 0.1 let pass is refused of new programs alone", async () => {
  const steps = [
    { id: "deals2", wait: "1s" },
    { id: "gate", judge: "go", when: "duration('7d') > duration('1s')" },
  ];
  const points = { go: { question: "Go?", continuations: ["proceed"], escalation: [{ principal: "lead" }] } };
  expect(await faultsOf(steps, { points })).toEqual(["EXPRESSION_INVALID /steps/1/when"]);
  expect(await faultsOf(steps, { points }, true)).toEqual([]);
});

test("what is computed of the program's own words is no secret, and of a marked input it is one", async () => {
  const inputSchema = {
    type: "object",
    properties: { token: { type: "string", "x-sensitive": true }, open: { type: "string" } },
  };
  const get = ($cel: string) => [
    { id: "get", call: "bank_link.get_item", entity: "ops", args: { access_token: { $cel } } },
  ];
  const rest = { inputSchema, input: { token: "t", open: "o" }, params: { p: "x" } };
  expect(await faultsOf(get("input.token.trim()"), rest)).toEqual([]);
  for (const source of ["'abc'", "params.p + 'x'", "input.open", "input.token + input.open"]) {
    expect(await faultsOf(get(source), rest), source).toEqual(["SENSITIVE_LITERAL /steps/0/args/access_token"]);
  }
});

test.each<[string, boolean]>([
  ["input.count == '2'", false],
  ["'Ann' != 5", false],
  ["input.name == true", false],
  ["input.name == now", false],
  ["now - timestamp('2026-05-01T09:00:00Z') == '1h'", false],
  ["input.count == 2 && input.count != 2.0", true],
  ["input.name == null || input.count == null", true],
  ["input.name == params.open", true],
  ["rows.deals == 5.0", true],
])("%s is refused where the two sides are never equal, of what is new", async (condition, isRight) => {
  const steps = [fetch, { id: "some", filter: "deals", where: condition }];
  const rest = { params: { open: null } };
  expect(await faultsOf(steps, rest)).toEqual(isRight ? [] : ["EXPRESSION_INVALID /steps/1/where"]);
  expect(await faultsOf(steps, rest, true)).toEqual([]);
});
