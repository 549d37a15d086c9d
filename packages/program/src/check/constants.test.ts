import { testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "./program.ts";

// Values that are known before a program runs are checked against the types of their places, as if they were written there.

const context = await testContext();

const fetch = {
  id: "deals",
  call: "sales_crm.list_deals",
  entity: "ops",
  args: {},
  rows: { from: "data[]", keep: ["id", "title", "value"] },
};

const call = (tool: string, args: object) => ({ id: "it", call: tool, entity: "ops", args });
const say = (text: unknown) => call("messaging_bot.send_message", { chat_id: "@team", text });
const list = (args: object) => call("calendar.list_events", { calendar_id: "primary", ...args });
const deal = (args: object) => call("sales_crm.create_deal", { title: "x", ...args });
const update = (args: object) => call("sales_crm.update_deal", { deal_id: 4_711, ...args });

async function check(steps: readonly object[], rest: object = {}, isStored = false) {
  const program = { version: 1, title: "Constants", ...rest, steps };
  const checked = await checkProgram(JSON.stringify(program), { ...context, isStored });
  return "faults" in checked ? checked.faults : [];
}

test.each<[string, object, object, string]>([
  [
    "a date for a time",
    list({ time_min: { $ref: "params.d" } }),
    { d: "2026-12-01" },
    "time_min params.d is a text, and",
  ],
  [
    "a word that is none of the enum",
    update({ status: { $ref: "params.s" } }),
    { s: "active" },
    "status params.s is a text, and must be one of open, ",
  ],
  [
    "too many",
    call("sales_crm.list_deals", { limit: { $ref: "params.n" } }),
    { n: 1_000 },
    "limit params.n is a number, and",
  ],
  [
    "part of a whole",
    deal({ org_id: { $ref: "params.n" } }),
    { n: 1.5 },
    "org_id params.n is a number, and must be int",
  ],
  ["a part of a param", deal({ currency: { $ref: "params.o.c" } }), { o: { c: "EURO" } }, "currency params.o.c"],
  [
    "a text of params",
    list({ time_min: { $text: "{params.d} 09:00" } }),
    { d: "2026-12-01" },
    "time_min is a text, and",
  ],
  ["a text of long parts", say({ $text: `${"x".repeat(5_000)}{params.a}` }), { a: "b" }, "text must NOT have more"],
  ["what is computed", deal({ currency: { $cel: "'EU' + 'RO'" } }), {}, "currency must NOT have more than 3 char"],
  [
    "what is computed of params",
    deal({ org_id: { $cel: "params.n / 2.0" } }),
    { n: 3 },
    "org_id is a number, and must be int",
  ],
])("%s is refused as a literal is", async (_what, step, params, told) => {
  const [fault, ...others] = await check([step], { params });
  expect(others).toEqual([]);
  expect(fault?.code).toBe("PROGRAM_ARGUMENT_INVALID");
  expect(`${fault?.pointer.replace("/steps/0/args/", "")} ${fault?.message}`).toContain(told);
  expect(await check([step], { params }, true)).toEqual([]);
});

test("constants that fit are let pass, and so are those that an answer may change", async () => {
  const step = list({ time_min: { $ref: "params.d" }, max_results: { $cel: "int(params.n)" } });
  expect(await check([step], { params: { d: "2026-12-01T00:00:00Z", n: 5 } })).toEqual([]);
  const change = {
    question: "From when?",
    continuations: ["retry-with", "abort"],
    overrides: { target: "params", rerunFrom: "it" },
    answerSchema: { type: "object", additionalProperties: false, properties: { d: { type: "string" } } },
    escalation: [{ principal: "lead" }],
  };
  const steps = [step, { id: "gate", judge: "change" }];
  const rest = { params: { d: "2026-12-01", n: 5 } };
  expect(await check(steps, { ...rest, points: { change } })).toEqual([]);
  const { overrides: _overrides, answerSchema: _schema, ...asked } = change;
  const points = { change: { ...asked, continuations: ["proceed", "abort"] } };
  expect(await check(steps, { ...rest, points })).toMatchObject([{ pointer: "/steps/0/args/time_min" }]);
});

test("a null that leaves an argument out does so where a param is null as well", async () => {
  const text = (otherwise: string | null) => deal({ currency: { $text: "E{params.none}", else: otherwise } });
  expect(await check([text(null)], { params: { none: null } })).toEqual([]);
  expect(await check([text("EURO")], { params: { none: null } })).not.toEqual([]);
});

test("no timestamp is made of what its schema has for a date", async () => {
  const inputSchema = { type: "object", required: ["day"], properties: { day: { type: "string", format: "date" } } };
  const rest = { inputSchema, input: { day: "2026-12-01" } };
  const [fault, ...others] = await check([say({ $cel: "string(timestamp(input.day))" })], rest);
  expect(others).toEqual([]);
  expect(fault?.hint).toContain('write timestamp(input.day + "T00:00:00Z")');
  expect(await check([say({ $cel: 'string(timestamp(input.day + "T00:00:00Z"))' })], rest)).toEqual([]);
  expect(await check([say({ $cel: "string(timestamp(input.day))" })], rest, true)).toEqual([]);
});

test("what a skill is given is held to it as well", async () => {
  const run = { id: "run", run: "skills.announce", input: { text: { $cel: "1.0 + params.n" } } };
  expect(await check([run], { params: { n: 1 } })).toMatchObject([{ pointer: "/steps/0/input/text" }]);
});

test.each<[string, string, string]>([
  ["a division by zero", "string(1 / 0)", "fails whenever it is evaluated: divides by zero"],
  ["a place that is not there", "'a b'.split(' ')[4]", "leaves the range"],
  ["a text that is no number", "string(int(params.word))", "int takes a text of digits"],
  ["a duration of days", "string(now - duration(params.days))", "duration takes a text such as 90s"],
  ["a place for a zone", "string(now.getHours('Berlin'))", 'names the time zone "Berlin", which does not exist'],
  ["a param for a zone", "string(now.getHours(params.place))", 'names the time zone "Berlin"'],
  ["no clause", "'%q'.format(['x'])", 'formats with "%q", which is not a clause'],
  ["a separator", "'%,.2f'.format([1.0])", 'formats with "%,", which is not a clause'],
  ["too few values", "'%s %s'.format(['x'])", "formats 1 values with 2 clauses"],
  ["a double for %d", "'%d'.format([rows.deals])", "formats double with %d, which takes int or uint"],
  ["a text for %f", "'%.2f'.format([string(rows.deals)])", "formats string with %.2f, which takes double"],
])("%s fails at every row, and is refused of what is new", async (_what, $cel, message) => {
  const rest = { params: { word: "abc", days: "7d", place: "Berlin" } };
  const faults = await check([fetch, say({ $cel })], rest);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatchObject({ code: "PROGRAM_EXPRESSION_INVALID", pointer: "/steps/1/args/text/$cel" });
  expect(faults[0]?.message).toContain(message);
  expect(await check([fetch, say({ $cel })], rest, true)).toEqual([]);
});

test.each([
  "string(now.getHours('Europe/Berlin')) + string(now.getHours('+02:00')) + string(now.getHours('UTC'))",
  "'%s of %d, %.2f and %5'.replace('%5', '5')",
  "'%.0f of %s: %% %d'.format([rows.deals, rows.deals, size('abc')])",
  // A branch of a condition may never be evaluated, so a wrong constant in it is not a fault.
  "params.list.size() > 0 ? params.list[0] : 'none'",
  "string(rows.deals > 0 && params.list[0] == 'a')",
  "string(rows.deals > 0 ? duration('1h') : duration(params.days))",
  "string([1].exists(x, params.list[0] == 'a') || true)",
])("%s is let pass", async ($cel) => {
  expect(await check([fetch, say({ $cel })], { params: { list: [], days: "7d" } })).toEqual([]);
});

test("hints name the zone of a place, and what is written in the place of a clause", async () => {
  const hintOf = async ($cel: string) => (await check([fetch, say({ $cel })]))[0]?.hint;
  expect(await hintOf("string(now.getHours('new york'))")).toContain('such as "America/New_York", or an offset');
  expect(await hintOf("'%d'.format([rows.deals])")).toContain("write %.0f");
});

test("what takes long to compute is not computed, and neither are more than fifty constants", async () => {
  const numbers = Array.from({ length: 1_000 }, (_, index) => index);
  const long = "params.numbers.map(x, string(x) + '-').join('') + string(1 / 0)";
  const params = { numbers };
  const before = process.cpuUsage();
  expect((await check([say({ $cel: long })], { params })).map(({ message }) => message)).toEqual([]);
  const saying = (failing: number) =>
    numbers
      .slice(0, 70)
      .map((number) => ({ ...say({ $cel: `string(${number} / ${number - failing})` }), id: `s${number}` }));
  expect(await check(saying(10), { params })).toMatchObject([{ pointer: "/steps/10/args/text/$cel" }]);
  expect(await check(saying(60), { params })).toEqual([]);
  // A result that cannot be computed is only left out; the run still succeeds. So a failing constant in a result is not a fault.
  expect(await check([say("x")], { params, result: { r: { $cel: "string(1 / 0)" } } })).toEqual([]);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test("what is filled in is bounded: a check neither makes a text of a program's parts nor goes through a large one again and again", async () => {
  const params = { long: "x".repeat(100_000), word: "x".repeat(9_000) };
  const before = process.cpuUsage();
  expect(await check([say({ $text: "{params.long}".repeat(6_000) })], { params })).toEqual([]);
  const many = Array.from({ length: 1_000 }, (_, n) => ({ ...say({ $ref: "params.word" }), id: `s${n}` }));
  // Only a limited number of constants is filled in and checked, so at most this number of faults is found.
  expect((await check(many, { params })).length).toBeLessThan(40);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});
