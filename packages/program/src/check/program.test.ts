import { faultyPrograms } from "@svc/testing/faulty-programs";
import { everyConstruct, ifStep, testContext } from "@svc/testing/programs";
import { sampleProgram } from "@svc/testing/sample-program";
import { expect, test } from "vitest";
import { pathOf } from "../json.ts";
import { programSchema } from "../program-schema.ts";
import { checkProgram } from "./program.ts";

const context = await testContext();

function check(program: unknown) {
  return checkProgram(typeof program === "string" ? program : JSON.stringify(program), context);
}

async function faultsOf(program: unknown) {
  const checked = await check(program);
  return "faults" in checked ? checked.faults : [];
}

async function codesOf(program: unknown) {
  return (await faultsOf(program)).map(({ code, pointer }) => `${code.slice("PROGRAM_".length)} ${pointer}`);
}

/** Returns the value that a JSON Pointer names, or undefined if it names none. */
function at(document: unknown, pointer: string): unknown {
  return pathOf(pointer).reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], document);
}

test("the program of the documentation has no fault", async () => {
  expect(await faultsOf(sampleProgram())).toEqual([]);
});

test("a text where a list or an object belongs is told what one looks like there", async () => {
  const rows = { id: "orders", take: "input.orders", keep: ["id", "amount"] };
  const program = {
    version: 1,
    title: "x",
    input: { orders: [] },
    steps: [
      rows,
      { id: "one", distinct: "orders", by: "id" },
      { id: "two", sort: "orders", by: "amount desc" },
      { id: "three", group: "orders", by: "id", as: { all: "count" } },
      { id: "four", join: "orders", with: "one", on: "id", kind: "anti" },
      { id: "five", compute: "orders", fields: "amount" },
      { id: "six", parallel: [] },
    ],
  };
  const hints = (await faultsOf(program)).map(({ hint }) => hint);
  expect(hints).toEqual([
    'write a list, such as ["email"]',
    'write a list, such as [{"field":"value","order":"desc"}]',
    'write a list, such as ["owner"]',
    'write an object, such as {"id":"order_id"}',
    'write an object, such as {"email":"row.email.lowerAscii()"}',
    expect.stringMatching(/^write an object, such as \{"deals":\[\{"id":"deals","call":/),
  ]);
});

test("a program of every construct has no fault", async () => {
  expect(await faultsOf(everyConstruct())).toEqual([]);
});

test.each(faultyPrograms)(
  "$name: every fault is told at once, at its place, in the order of the text",
  async (entry) => {
    const { program, faults } = entry;
    const found = await faultsOf(program);
    expect(found.map(({ code, pointer }) => `${code.slice("PROGRAM_".length)} ${pointer}`)).toEqual(faults);
    for (const { pointer, message, hint } of found) {
      expect(at(program, pointer), pointer).toBeDefined();
      expect(message).not.toBe("");
      expect(hint).not.toBe("");
    }
  },
);

test("there is a faulty program for every reason but the size", () => {
  const codes = new Set(faultyPrograms.flatMap(({ faults }) => faults.map((fault) => fault.split(" ")[0])));
  expect([...codes].sort()).toEqual(
    [
      "ACCOUNT_MISSING",
      "ARGUMENT_INVALID",
      "CONFIRM_MISSING",
      "CONTACT_UNKNOWN",
      "EXPRESSION_INVALID",
      "LIMIT_INVALID",
      "MALFORMED",
      "POINT_INVALID",
      "REFERENCE_INVALID",
      "SENSITIVE_LITERAL",
      "TOOL_NOT_CALLABLE",
      "TOOL_UNKNOWN",
    ].sort(),
  );
});

test("what is no JSON object is malformed", async () => {
  for (const text of ["", "{", "null", "[]", '"x"', "1"]) expect(await codesOf(text)).toEqual(["MALFORMED "]);
});

test("text that readers could take differently is refused: names twice, half surrogates, U+0000, __proto__", async () => {
  const text = JSON.stringify(everyConstruct())
    .replace('"title":', '"title":"first","title":')
    .replace('"note":"Hello"', '"note":"\\ud800","__proto__":{"a":1}')
    .replace('"AN"', '"x"');
  expect(await codesOf(text)).toEqual(["MALFORMED /title", "MALFORMED /params", "MALFORMED /params/note"]);
  expect(await codesOf(JSON.stringify({ ...everyConstruct(), title: "\0" }))).toEqual(["MALFORMED /title"]);
});

test("256 KiB and 100 steps are allowed, one more is too large", async () => {
  const pauses = (count: number) => ({
    version: 1,
    title: "x",
    steps: Array.from({ length: count }, (_, index) => ({ id: `s${index}`, wait: "1s" })),
  });
  expect(await codesOf(pauses(100))).toEqual([]);
  expect(await codesOf(pauses(101))).toEqual(["TOO_LARGE /steps"]);
  const padded = (bytes: number) => JSON.stringify(pauses(1)).padEnd(bytes);
  expect(await codesOf(padded(262_144))).toEqual([]);
  expect(await codesOf(padded(262_145))).toEqual(["TOO_LARGE "]);
});

test("steps of branches and calls of maps count too", async () => {
  const program: { readonly steps: object[] } = everyConstruct();
  const pauses = Array.from({ length: 95 }, (_, index) => ({ id: `s${index}`, wait: "1s" }));
  program.steps[2] = ifStep("choice", "true", pauses);
  expect(await codesOf(program)).toContain("TOO_LARGE /steps");
});

test("nesting is refused before it costs anything", async () => {
  const deep = (levels: number) => `{"version":1,"title":"x","steps":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(await codesOf(deep(100_000))).toEqual(["MALFORMED "]);
});

test("programs made to take long are answered after a second of work at most", async () => {
  const many = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => make(index));
  const programs = [
    { ...everyConstruct(), colours: Object.fromEntries(many(20_000, (index) => [`c${index}`, 1])) },
    { ...everyConstruct(), ...Object.fromEntries(many(20_000, (index) => [`c${index}`, 1])) },
    { ...everyConstruct(), params: Object.fromEntries(many(15_000, (index) => [`p${index}`, { $ref: "x" }])) },
    { version: 1, title: "x", steps: many(5000, (index) => ({ id: `s${index}`, map: "x", do: [] })) },
    {
      version: 1,
      title: "x",
      steps: [{ id: "a", wait: "1s" }],
      points: Object.fromEntries(many(5000, (index) => [`p${index}`, {}])),
    },
  ];
  for (const program of programs) {
    const before = process.cpuUsage();
    await check(program);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1000);
  }
});

test("more than 500 faults are counted, not listed", async () => {
  const program = {
    ...everyConstruct(),
    result: Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`r${index}`, { $ref: "steps.none.id" }])),
  };
  const checked = await check(program);
  expect(checked).toHaveProperty("omitted", 200);
  expect(checked).toHaveProperty("faults.length", 500);
});

test("accounts and contacts are asked for together, each once", async () => {
  const asked: string[][] = [];
  await checkProgram(JSON.stringify(sampleProgram()), {
    ...context,
    hasAccounts: async (questions) => {
      asked.push(questions.map(({ toolkit, entity }) => `${toolkit.slug} ${entity}`));
      return questions.map(() => true);
    },
    hasContacts: async (principals) => {
      asked.push([...principals]);
      return principals.map(() => true);
    },
  });
  expect(asked).toEqual([
    ["calendar ops", "messaging_bot ops"],
    ["head", "lead"],
  ]);
});

test("an argument that a tool does not take is pointed at, whatever it is named", async () => {
  for (const name of ["x".repeat(300), 'a"; did you mean "b', "c/d~e", "f\ng"]) {
    const program = everyConstruct();
    const [plan] = program.steps as { args: Record<string, unknown> }[];
    if (plan !== undefined) plan.args = { calendar_id: "primary", [name]: 1 };
    const faults = await faultsOf(program);
    expect(faults.map(({ pointer }) => at(program, pointer))).toEqual([1]);
    expect(faults[0]?.message).toMatch(/^must not have the property/);
  }
});

test("where a text computes, and where a function is misspelled, the hint is what is to be written", async () => {
  const say = { id: "say", call: "messaging_bot.send_message", entity: "ops" };
  const hintOf = async (text: object) => {
    const faults = await faultsOf({ version: 1, title: "x", steps: [{ ...say, args: { chat_id: "1", text } }] });
    return faults[0]?.hint;
  };
  const whole = 'instead of the whole {"$text": …} write ';
  expect(await hintOf({ $text: { $cel: "'a'" } })).toBe(`${whole}{"$cel":"'a'"}`);
  expect(await hintOf({ $text: "Due {$cel: now - duration('1h')}" })).toBe(
    `${whole}{"$cel":"\\"Due \\" + string(now - duration('1h'))"}`,
  );
  const json = `${whole}{"$cel":"\\"Total \\" + string(params.n * 2.0) + \\" left\\""}`;
  expect(await hintOf({ $text: 'Total {"$cel": "params.n * 2.0"} left' })).toBe(json);
  expect(await hintOf({ $text: "Total {$cel(params.n * 2.0)} left" })).toBe(json);
  expect(await hintOf({ $text: "Total {string(now)}" })).toContain(`${whole}{"$cel":`);
  expect(await hintOf({ $text: "Total {what it is}" })).toContain('the place of the whole {"$text": …}, as {"$cel": ');
  expect(await hintOf({ $text: ["a", { $cel: "broken(" }] })).not.toContain("broken");
});

test("for a function that there is not the nearest are named, and where all stand; of a set, what is done instead", async () => {
  const rows = { from: "data[]", keep: ["id", "title"] };
  const deals = { id: "deals", call: "sales_crm.list_deals", entity: "ops", args: {}, rows };
  const faultOf = async ($cel: string) => {
    const args = { chat_id: "1", text: { $cel } };
    const say = { id: "say", call: "messaging_bot.send_message", entity: "ops", args };
    const [fault, ...others] = await faultsOf({ version: 1, title: "x", steps: [deals, say] });
    expect(others, $cel).toEqual([]);
    return `${fault?.message}: ${fault?.hint}`;
  };
  const all = "see $defs/expression of /schemas/program.v1.json for all functions";
  const none = (name: string) => `calls ${name}(), which is not a function here`;
  expect(await faultOf("'A'.lowerAsci()")).toBe(`${none("lowerAsci")}: use string.lowerAscii(); ${all}`);
  expect(await faultOf("['a'].glorify()")).toBe(
    `${none("glorify")}: list has size, join, sort, distinct, slice, flatten, sum, reverse; ${all}`,
  );
  expect(await faultOf("'a b'.split(' ').last()")).toBe(
    `${none("last")}: take the last item by its position: list[size(list) - 1], if size(list) > 0`,
  );
  expect(await faultOf("glorify(['a'])")).toContain("list has size, join, ");
  expect(await faultOf("glorify()")).toBe(`${none("glorify")}: ${all}`);
  expect(await faultOf("string(math.pow(2.0, 3.0))")).toMatch(
    /^calls math\.pow\(\), .*: there are math\.greatest, .*; see/,
  );
  for (const last of ["last(rows.deals)", "rows.deals.last()"]) {
    expect(await faultOf(last)).toBe(
      `${none("last")}: rows.<set> is a number, the size of the set: choose rows with filter, sort and limit, and read their fields with reduce`,
    );
  }
  const { description } =
    (programSchema as { $defs: Record<string, { description: string }> }).$defs["expression"] ?? {};
  for (const name of ["size", "getDayOfWeek", "lowerAscii", "math.sqrt", "exists_one"])
    expect(description).toContain(name);
});

test("a hint ends without a full stop, which the sentence has that it becomes a part of", async () => {
  const hintsOf = async (call: string, args: object) => {
    const faults = await faultsOf({ version: 1, title: "x", steps: [{ id: "a", call, entity: "ops", args }] });
    return faults.map(({ hint }) => hint);
  };
  const hints = await hintsOf("messaging_bot.send_message", { chat_id: 1, text: 2, parse_mode: 3 });
  expect(hints.length).toBeGreaterThan(2);
  for (const hint of hints) expect(hint).toMatch(/\w.*[^.]$/);
});

test("hints name the kinds of steps that leave what is asked for", async () => {
  const pause = { id: "pause", wait: "1s" };
  const hintsOf = async (step: object) => {
    const faults = await faultsOf({ version: 1, title: "x", steps: [pause, { id: "s", ...step }] });
    return faults.map(({ hint }) => hint);
  };
  const get = { call: "messaging_bot.send_message", entity: "ops" };
  expect(await hintsOf({ filter: "pause", where: "true" })).toEqual([
    "name a call with rows, a compute, a distinct, a filter, a flatten, a group, a join, a limit, a map, a sort, a take or an http step with rows",
  ]);
  expect(await hintsOf({ ...get, args: { chat_id: "@team", text: { $ref: "steps.pause.x" } } })).toEqual([
    "only calls, http steps, reduces and runs have a value",
  ]);
  expect(await hintsOf({ ...get, args: { chat_id: "@team", text: { $ref: "row.x" } } })).toEqual([
    "only the calls of a map, the fields of a compute, the texts of a reduce or a group and the where of a filter know one",
  ]);
  expect(await hintsOf({ judge: "none", when: "row == null" })).toEqual([
    expect.stringMatching(/^declare it in points: \{"none": \{"question"/),
    "only the calls of a map, the fields of a compute and the where of a filter know one",
  ]);
  expect(await hintsOf({})).toEqual([
    expect.stringContaining(
      "give it exactly one of call, http, filter, map, reduce, sort, limit, distinct, join, group, compute, flatten, take, judge, fail, if, parallel, until, wait, run, as in ",
    ),
  ]);
});

test("a set that is not there is answered with those that there are, and no step without one", async () => {
  const list = { call: "calendar.list_events", entity: "ops", args: { calendar_id: "primary" } };
  const rows = { from: "items[]", keep: ["id"] };
  const before = [
    { id: "pause", wait: "1s" },
    { id: "fetch", ...list, rows },
    { id: "send", map: "fetch", do: [{ id: "again", ...list }] },
  ];
  const hintsOf = async (step: object) => {
    const faults = await faultsOf({ version: 1, title: "x", steps: [...before, { id: "s", ...step }] });
    return faults.filter(({ pointer }) => pointer.startsWith("/steps/3/")).map(({ hint }) => hint);
  };
  expect(await hintsOf({ filter: "gone", where: "true" })).toEqual(["use fetch, send"]);
  expect(await hintsOf({ reduce: "gone", as: { n: "count" } })).toEqual(["use fetch, send"]);
});

test("a message quotes the value of an argument, but none that may be a secret: under an unknown name, or in a list", async () => {
  const program = everyConstruct();
  const [plan] = program.steps as { args: Record<string, unknown> }[];
  if (plan !== undefined)
    plan.args = { calendar_id: ["planted-marker"], time_min: "next friday", planted: "planted-marker" };
  const faults = await faultsOf(program);
  expect(faults.length).toBeGreaterThan(2);
  expect(JSON.stringify(faults)).not.toContain("planted-marker");
  const told = faults.find(({ pointer }) => pointer.endsWith("/time_min"));
  expect(told?.message).toBe('is "next friday", and must match format "date-time"');
});

test("an answer skips a step that acts; where the one behind a judge only prepares, that is refused of new programs", async () => {
  const rows = { from: "items[]", keep: ["id"] };
  const list = { id: "list", call: "calendar.list_events", entity: "ops", args: { calendar_id: "primary" }, rows };
  const sorted = { id: "sorted", sort: "list", by: [{ field: "id" }] };
  const act = { id: "act", map: "list", do: [{ id: "me", call: "messaging_bot.get_me", entity: "ops", args: {} }] };
  const gate = { id: "gate", judge: "go" };
  const go = { question: "?", continuations: ["proceed", "skip"], escalation: [{ principal: "lead" }] };
  const program = (...steps: object[]) => ({ version: 1, title: "x", steps: [list, ...steps], points: { go } });
  const before = program(gate, sorted, act);
  expect(await faultsOf(before)).toEqual([
    {
      code: "PROGRAM_POINT_INVALID",
      pointer: "/points/go/continuations/1",
      message: "skips only the one step after gate, which is the sort sorted: the steps after sorted would still run",
      hint: expect.stringContaining('{"id": "act", "if": "true", "then": [...]}'),
    },
  ]);
  expect(await checkProgram(JSON.stringify(before), { ...context, isStored: true })).toHaveProperty("estimate");
  expect(await faultsOf(program(sorted, gate, act))).toEqual([]);
  expect(await faultsOf(program(gate, ifStep("both", "true", [sorted, act])))).toEqual([]);
});

test("who takes rows of a step whose error is handled says when it is done; an if around it says it as well", async () => {
  const fetch = {
    id: "fetch",
    call: "sales_crm.list_deals",
    entity: "ops",
    args: { status: "open" },
    rows: { from: "data[]", keep: ["id"] },
    // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
    onError: { then: "continue" },
  };
  const count = { id: "count", reduce: "fetch", as: { all: "count" } };
  const programOf = (...steps: object[]) => ({ version: 1, title: "Test", steps });
  const [fault] = await faultsOf(programOf(fetch, count));
  expect(fault).toMatchObject({ code: "PROGRAM_REFERENCE_INVALID", pointer: "/steps/1/reduce" });
  expect(fault?.hint).toContain('"when": "!has(steps.fetch.error)"');
  expect(await faultsOf(programOf(fetch, { ...count, when: "!has(steps.fetch.error)" }))).toEqual([]);
  // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
  const guarded = { id: "any", if: "!has(steps.fetch.error)", then: [count] };
  expect(await faultsOf(programOf(fetch, guarded))).toEqual([]);
  const { onError: _onError, ...plain } = fetch;
  // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
  const block = { id: "any", if: "now > timestamp(0)", then: [plain], onError: { then: "continue" } };
  expect(await codesOf(programOf(block, count))).toEqual(["REFERENCE_INVALID /steps/1/reduce"]);
  expect(await codesOf(programOf(block, { ...count, when: "!has(steps.any.error)" }))).toEqual([]);
  const size = (when: string) => ({ id: "pause", wait: "1m", when });
  expect(await codesOf(programOf(fetch, size("rows.fetch > 0.0")))).toEqual(["REFERENCE_INVALID /steps/1/when"]);
  expect(await codesOf(programOf(fetch, size("has(rows.fetch) && rows.fetch > 0.0")))).toEqual([]);
});

test("who handles an error takes the sets of an until whose rounds are used up; else asks whether a set is there, not for the error", async () => {
  const rows = { from: "data[]", keep: ["id"] };
  const look = { id: "look", call: "sales_crm.list_deals", entity: "ops", args: { status: "open" }, rows };
  const count = { id: "count", reduce: "look", as: { all: "count" } };
  const programOf = (handling: object, codes?: string[]) => {
    // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
    const onError = { ...(codes && { codes }), do: [handling], then: "continue" };
    const ended = { id: "ended", until: "rows.look == 0.0", every: "5s", max: 3, do: [look], onError };
    return { version: 1, title: "Test", steps: [ended] };
  };
  expect(await faultsOf(programOf(count, ["UNTIL_EXHAUSTED"]))).toEqual([]);
  const [fault] = await faultsOf(programOf(count));
  expect(fault).toMatchObject({ pointer: "/steps/0/onError/do/0/reduce" });
  expect(fault?.hint).toContain('"when": "has(rows.look)"');
  expect(await faultsOf(programOf({ ...count, when: "has(rows.look)" }))).toEqual([]);
  for (const when of ["!has(steps.ended.error)", "1 < 2 && !has( steps.ended.error )"]) {
    const [never] = await faultsOf(programOf({ ...count, when }, ["UNTIL_EXHAUSTED"]));
    expect(never).toMatchObject({ code: "PROGRAM_EXPRESSION_INVALID", pointer: "/steps/0/onError/do/0/when" });
    expect(never?.message).toContain("is never true: step ended has failed");
  }
  const before = JSON.stringify(programOf({ ...count, when: "!has(steps.ended.error)" }));
  expect(await checkProgram(before, { ...context, isStored: true })).toHaveProperty("estimate");
});

test("what no sum can be made of is refused with the number to compute; the least of texts is a text", async () => {
  const rows = { from: "data[]", keep: ["id", "title"] };
  const fetch = { id: "fetch", call: "sales_crm.list_deals", entity: "ops", args: { status: "open" }, rows };
  const programOf = (as: object) => ({ version: 1, title: "Test", steps: [fetch, { id: "r", reduce: "fetch", as }] });
  const [fault] = await faultsOf(programOf({ worth: "sum title" }));
  expect(fault?.hint).toContain('"fields": {"title": "double(row.title)"}');
  expect(await faultsOf(programOf({ first: "min title", last: "max title" }))).toEqual([]);
});

test("refusals say what to do in place of what no step is, names no tool has, and fields no row keeps", async () => {
  const rows = { from: "data[]", keep: ["id", "title"] };
  const fetch = { id: "fetch", call: "sales_crm.list_deals", entity: "ops", args: {}, rows };
  const hintFor = async (...steps: object[]) => {
    const [fault] = await faultsOf({ version: 1, title: "Test", steps: [fetch, ...steps] });
    return `${fault?.message}: ${fault?.hint}`;
  };
  expect(await hintFor({ id: "u", concat: ["fetch", "fetch"] })).toContain("no step joins two sets into one: ");
  const judged = await hintFor({ id: "m", map: "fetch", do: [{ id: "j", judge: "x" }] });
  expect(judged).toContain("is a step of kind judge, which is not allowed in the do of a map");
  expect(judged).not.toContain('"rows"');
  const decided = await hintFor({ id: "m", map: "fetch", do: [{ id: "j", if: "1 < 2" }] });
  expect(decided).toContain('decide for each row with "when" at a call');
  const misspelt = await hintFor({ id: "s", call: "sales_crm.list_dealz", entity: "ops", args: {} });
  expect(misspelt).toContain("its toolkit has sales_crm.list_deals, ");
  const get = { id: "q", call: "sales_crm.get_deal", entity: "ops", args: { deal_id: { $ref: "row.id" } } };
  const kept = await hintFor({ id: "m", map: "fetch", do: [get], keep: { why: "calls.q.error.message" } });
  expect(kept).toMatch(/^a row does not keep the error of its calls: .*"states": \["failed"\]/);
  const list = { id: "g", group: "fetch", by: ["title"], as: { ids: "list id" } };
  const text = { id: "t", reduce: "g", as: { t: { text: { of: "{row.ids}" } } } };
  expect(await hintFor(list, text)).toContain('let it make a text instead: {"text": {"of": "{row.<field>}"');
});

test("a time that is computed for an argument of another form is refused, in what is stored it is not", async () => {
  const programOf = (cel: string) => {
    const args = { title: "x", expected_close_date: { $cel: cel } };
    return { version: 1, title: "Test", steps: [{ id: "d", call: "sales_crm.create_deal", entity: "ops", args }] };
  };
  for (const cel of ["now", "now + duration('24h')", "now - duration('1h')"]) {
    const [fault] = await faultsOf(programOf(cel));
    expect(fault).toMatchObject({ pointer: "/steps/0/args/expected_close_date", code: "PROGRAM_ARGUMENT_INVALID" });
    const cure = JSON.stringify({ $cel: `string(${cel}).substring(0, 10)` });
    expect(fault?.message).toContain(`which is not a date; write ${cure} for its day, in UTC`);
  }
  expect(await faultsOf(programOf("string(now).substring(0, 10)"))).toEqual([]);
  expect(await checkProgram(JSON.stringify(programOf("now")), { ...context, isStored: true })).toHaveProperty(
    "estimate",
  );
});
