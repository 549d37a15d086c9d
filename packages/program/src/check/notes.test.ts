import type { Action } from "@svc/catalog";
import { ifStep, testContext } from "@svc/testing/programs";
import { expect, test } from "vitest";
import { checkProgram } from "./program.ts";

const context = await testContext();

async function check(steps: readonly object[], rest: object = {}) {
  const program = { version: 1, title: "Test", ...rest, steps };
  return checkProgram(JSON.stringify(program), context);
}

/** Returns the notes on a program without faults, each as `CODE pointer`. */
async function notesOf(steps: readonly object[], rest: object = {}): Promise<string[]> {
  const checked = await check(steps, rest);
  if ("faults" in checked) throw new Error(JSON.stringify(checked.faults));
  return checked.notes.map(({ code, pointer }) => `${code} ${pointer}`);
}

async function faultsOf(steps: readonly object[], rest: object = {}) {
  const checked = await check(steps, rest);
  return "faults" in checked ? checked.faults : [];
}

const deals = (rows: object = {}, args: object = {}) => ({
  id: "deals",
  call: "sales_crm.list_deals",
  entity: "ops",
  args,
  rows: { from: "data[]", keep: ["id", "title", "status", "value"], ...rows },
});
const say = (id: string, text: unknown = "x") => {
  return { id, call: "messaging_bot.send_message", entity: "ops", args: { chat_id: "@team", text } };
};
const sum = { id: "sum", reduce: "deals", as: { worth: "sum value" } };
const point = (continuations: readonly string[]) => {
  return { question: "Go on?", continuations, escalation: [{ principal: "lead" }] };
};

test.each<[string, object[]]>([
  ["a reduce", [sum]],
  ["a map", [{ id: "each", map: "deals", do: [say("a")] }]],
  ["a filter", [{ id: "open", filter: "deals", where: "row.status == 'open'" }]],
  ["a message that tells how many", [say("a", { $text: "{rows.deals} deals" })]],
  ["a limit of more rows than a page has", [{ id: "top", limit: "deals", max: 600 }]],
  ["a limit beside another reader", [{ id: "top", limit: "deals", max: 5 }, sum]],
])("%s over the first page of a list is noted, and none over all pages", async (_what, after) => {
  expect(await notesOf([deals({}, { limit: 500 }), ...after])).toEqual(["PAGES_UNREAD /steps/0/rows"]);
  expect(await notesOf([deals({ page: { max: 20 } }), ...after])).toEqual([]);
});

test("the first rows alone may be what is meant", async () => {
  const top = { id: "top", limit: "deals", max: 5 };
  expect(await notesOf([deals(), top, { id: "each", map: "top", do: [say("a")] }])).toEqual([]);
});

test("an answer to a write whose tool does not declare its output is noted if the program uses it", async () => {
  const slug = "messaging_bot.send_message";
  const sends = context.view.tools.get(slug) as Action;
  const answered = async (changes: object, after: object[] = [say("b", { $text: "{steps.a.text}" })]) => {
    const tools = new Map([...context.view.tools, [slug, { ...sends, ...changes } as Action]]);
    const program = JSON.stringify({ version: 1, title: "Test", steps: [say("a"), ...after] });
    const checked = await checkProgram(program, { ...context, view: { ...context.view, tools } });
    if ("faults" in checked) throw new Error(JSON.stringify(checked.faults));
    return checked.notes.map(({ code, pointer }) => `${code} ${pointer}`);
  };
  const noted = ["OUTPUT_UNDECLARED /steps/0/call"];
  const text = { text: { type: "string" } };
  const plain = { type: "object", properties: { ...text, data: { type: "object" }, parts: { type: "array" } } };
  const mcp = { tool: "send", digest: "" };
  expect(await answered({ mcp, outputSchema: plain })).toEqual(noted);
  expect(await answered({ outputSchema: { type: "object" } })).toEqual(noted);
  expect(await answered({ mcp, outputSchema: { type: "object", properties: text } })).toEqual([]);
  expect(await answered({ mcp, outputSchema: plain, class: "read" })).toEqual([]);
  expect(await answered({ mcp, outputSchema: plain }, [])).toEqual([]);
});

test("a list without pages of its tool has nothing to note", async () => {
  const issues = { id: "teams", call: "messaging_bot.get_chat_administrators", entity: "ops", args: { chat_id: "@x" } };
  expect(await notesOf([issues])).toEqual([]);
});

test("the list of one answer that is handed on as a whole is noted", async () => {
  const list = { id: "list", call: "sales_crm.list_deals", entity: "ops" };
  const send = (body: object) => ({ id: "send", http: { method: "POST", url: "https://api.example.com/x", body } });
  expect(await notesOf([list, send({ deals: { $ref: "steps.list.data" } })])).toEqual(["PAGES_UNREAD /steps/0/call"]);
  expect(await notesOf([list, send({ first: { $ref: "steps.list.data[0].id", else: 0 } })])).toEqual([]);
});

test("an answer skip that leaves writes in place is noted with them", async () => {
  const points = { sure: point(["proceed", "skip"]) };
  const gate = { id: "gate", judge: "sure" };
  const notes = async (steps: object[]) => {
    const checked = await check(steps, { points });
    return "faults" in checked
      ? checked.faults.map(({ message }) => message)
      : checked.notes.map((note) => note.message);
  };
  const [first] = await notes([gate, say("a"), say("b"), say("c")]);
  expect(first).toBe("skips only a, the one step after gate: b and c would still write");
  const inside = ifStep("block", "true", [gate, say("a")]);
  expect(await notes([inside, say("after")])).toEqual([
    "skips only a, the one step after gate: after would still write",
  ]);
  expect(await notes([gate, say("a")])).toEqual([]);
  expect(await notes([gate, ifStep("act", "true", [say("a"), say("b")]), say("c")])).toEqual([]);
  // Steps that use the rows of the skipped step, or check if it has run, write nothing.
  const large = { id: "large", filter: "deals", where: "row.value > 5.0" };
  const all = deals({ page: { max: 2 } });
  expect(await notes([all, gate, large, { id: "each", map: "large", do: [say("a")] }])).toEqual([]);
  expect(await notes([gate, say("a"), { ...say("b"), when: "has(steps.a)" }])).toEqual([]);
});

test("a point that no step asks is refused, with the step before which it belongs", async () => {
  const me = { id: "me", call: "messaging_bot.get_me", entity: "ops" };
  const [fault, ...others] = await faultsOf([me, say("a")], { points: { sure: point(["proceed"]) } });
  expect(others).toEqual([]);
  expect(fault).toMatchObject({
    code: "PROGRAM_POINT_INVALID",
    pointer: "/points/sure",
    message: "is not asked by any step, so the job acts without asking",
  });
  expect(fault?.hint).toContain('put {"id": "ask_sure", "judge": "sure"} directly before a,');
  expect(
    await faultsOf([{ id: "ask_sure", judge: "sure" }, say("a")], { points: { sure: point(["proceed"]) } }),
  ).toEqual([]);
});

test("an undo without a saga is refused, and a saga without an undo noted", async () => {
  const undo = {
    call: "messaging_bot.delete_message",
    args: { chat_id: "@team", message_id: { $ref: "output.message_id" }, confirm: true },
  };
  const places = async (steps: object[]) => (await faultsOf(steps)).map(({ code, pointer }) => `${code} ${pointer}`);
  expect(await places([{ ...say("a"), undo }])).toEqual(["PROGRAM_MALFORMED /steps/0/undo"]);
  const map = { id: "each", map: "deals", do: [{ ...say("a"), undo }] };
  expect(await places([deals(), map])).toEqual(["PROGRAM_MALFORMED /steps/1/do/0/undo"]);
  const saga = { on: ["failed"] };
  expect(await notesOf([{ ...say("a"), undo }], { saga })).toEqual([]);
  expect(await notesOf([say("a")], { saga })).toEqual(["SAGA_UNDOES_NOTHING /saga"]);
});

test("fields of items of which nothing is known are noted", async () => {
  const take = (items?: object) => ({
    inputSchema: { type: "object", properties: { orders: { type: "array", ...(items && { items }) } } },
    input: { orders: [] },
  });
  const orders = { id: "orders", take: "input.orders", keep: ["id", "ammount"] };
  expect(await notesOf([orders], take())).toEqual(["FIELD_UNVERIFIED /steps/0/keep"]);
  expect(await notesOf([orders], take({ type: "object" }))).toEqual(["FIELD_UNVERIFIED /steps/0/keep"]);
  const known = { type: "object", properties: { id: { type: "integer" }, amount: { type: "number" } } };
  expect((await faultsOf([orders], take(known))).map(({ pointer }) => pointer)).toEqual(["/steps/0/keep/1"]);
  const request = {
    id: "rows",
    http: { method: "GET", url: "https://api.example.com/x" },
    rows: { from: "items[]", keep: ["id"] },
  };
  expect(await notesOf([request])).toEqual(["FIELD_UNVERIFIED /steps/0/rows/keep"]);
  const parts = { id: "parts", flatten: "rows", field: "id", keep: { part: "item.name" } };
  expect(await notesOf([request, parts])).toContain("FIELD_UNVERIFIED /steps/1/keep");
});

const typed = {
  inputSchema: {
    type: "object",
    required: ["stage", "tags", "orders", "other"],
    properties: {
      stage: { enum: ["open", "closed", "on hold"] },
      other: { type: "string", enum: ["red", "green"] },
      tags: { type: "array", items: { enum: ["a", "b"] } },
      count: { anyOf: [{ enum: [1, 2] }, { type: "null" }] },
      due: { type: "string", format: "date" },
      orders: {
        type: "array",
        items: { type: "object", properties: { state: { type: "string", enum: ["new", "paid"] } } },
      },
    },
  },
  input: { stage: "open", other: "red", tags: [], orders: [], count: null, due: "2026-01-01" },
  params: { wanted: "OPEN", many: ["open", "Closed"] },
};

test.each<[string, string]>([
  ["input.stage == 'OPEN'", 'write "open"; it is one of "open", "closed", "on hold"'],
  ["'Closed' == input.stage", 'write "closed"; it is one of "closed", "open", "on hold"'],
  ["input.stage != 'on_hold'", 'write "on hold"; '],
  ["input.stage in ['open', 'done']", 'it is one of "open", "closed", "on hold"'],
  ["!(input.stage in ['opened'])", 'write "open"; '],
  ["input.stage == params.wanted", 'write "open"; '],
  ["input.stage in params.many", 'write "closed"; '],
  ["'c' in input.tags", 'it is one of "a", "b"'],
  ["input.tags.exists(tag, tag == 'B')", 'write "b"; '],
  ["input.orders.exists(order, order.state == 'Paid')", 'write "paid"; '],
  ["input.stage == input.other", "the first is one of"],
  ["input.count == 3.0", "it is one of 1, 2, null"],
  ["input.stage == 'open' ? true : input.other == 'RED'", 'write "red"; '],
  ["input.due == string(now)", "write string(…).substring(0, 10)"],
])("%s is refused, since it never holds, with what it can be", async (when, hint) => {
  const [fault, ...others] = await faultsOf([{ ...say("a"), when }], typed);
  expect(others).toEqual([]);
  expect(fault).toMatchObject({ code: "PROGRAM_EXPRESSION_INVALID", pointer: "/steps/0/when" });
  expect(fault?.hint).toContain(hint);
  const text = JSON.stringify({ version: 1, title: "Test", ...typed, steps: [{ ...say("a"), when }] });
  expect(await checkProgram(text, { ...context, isStored: true })).toHaveProperty("estimate");
});

test.each([
  "input.stage == 'on hold'",
  "input.stage in ['open', 'closed']",
  "input.stage == null",
  "input.count == 2.0",
  "input.other == input.other",
  "'a' in input.tags",
  "input.stage.lowerAscii() == 'x'",
  "input.due == string(now).substring(0, 10)",
])("%s is let pass", async (when) => expect(await faultsOf([{ ...say("a"), when }], typed)).toEqual([]));

test("a field that is compared with none of the values which the tool's argument of its name takes is noted", async () => {
  const all = deals({ page: { max: 2 } });
  const where = (source: string) => notesOf([all, { id: "won", filter: "deals", where: source }]);
  expect(await where("row.status == 'OPEN'")).toEqual(["VALUE_UNLISTED /steps/1/where"]);
  expect(await where("row.status in ['won', 'Lost']")).toEqual(["VALUE_UNLISTED /steps/1/where"]);
  expect(await where("row.status == 'open' || row.title == 'OPEN'")).toEqual([]);
  const checked = await check([all, { id: "won", filter: "deals", where: "row.status == 'WON'" }]);
  expect("notes" in checked && checked.notes[0]).toMatchObject({
    message: 'compares row.status with "WON", a value that the argument status of its tool does not take',
    hint: 'write "won"; the argument takes "won", "open", "lost", "deleted"',
  });
});

test("the text of a time is refused where a day or a time of day belongs, with what cuts it out", async () => {
  const activity = (args: object) => {
    const whole = { subject: "x", ...args };
    return faultsOf([{ id: "a", call: "sales_crm.create_activity", entity: "ops", args: whole }]);
  };
  for (const $cel of [
    "string(now + duration('24h'))",
    "now",
    "string(timestamp('2026-01-01T00:00:00Z') + duration('1h'))",
  ]) {
    const [fault] = await activity({ due_date: { $cel } });
    expect(fault).toMatchObject({ pointer: "/steps/0/args/due_date" });
  }
  const [fault] = await activity({ due_date: { $cel: "string(now + duration('24h'))" } });
  const mended = JSON.stringify({ $cel: "string(now + duration('24h')).substring(0, 10)" });
  expect(fault?.message).toContain(`write ${mended} for its day, in UTC`);
  expect(await activity({ due_date: { $cel: "string(now + duration('24h')).substring(0, 10)" } })).toEqual([]);
});

test.each<[object, string]>([
  [{ assert: "rows.deals > 0", message: "no deals" }, '{"id":"s","fail":"no deals","when":"!(rows.deals > 0)"}'],
  [{ stop: "rows.deals > 50" }, '{"id":"s","fail":"Stopped by rows.deals > 50","when":"rows.deals > 50"}'],
  [{ stop: true, when: "rows.deals == 0" }, '{"id":"s","fail":"Stopped by rows.deals == 0","when":"rows.deals == 0"}'],
  [{ throw: "too many" }, '{"id":"s","fail":"too many","when":"rows.deals < 10"}'],
  [{ abort: "none", if: "rows.deals == 0" }, ""],
  [{ ensure: "rows.deals >= 3", text: "few" }, '{"id":"s","fail":"few","when":"!(rows.deals >= 3)"}'],
])("%j is answered with the step that fails", async (step, mended) => {
  const all = deals({ page: { max: 2 } });
  const hints = (await faultsOf([all, { id: "s", ...step }])).map(({ hint }) => hint).join("\n");
  if (mended !== "") expect(hints).toContain(`end the job as failed with ${mended}`);
  if (mended !== "") expect(await faultsOf([all, JSON.parse(mended) as object])).toEqual([]);
});

test("a fail step names what there is, and a condition beside it is written as when", async () => {
  const all = deals({ page: { max: 2 } });
  const step = { id: "s", fail: "Only {rows.deals} deals", when: "rows.deals < 10" };
  expect(await faultsOf([all, step])).toEqual([]);
  expect((await faultsOf([all, { ...step, fail: "{rows.none} deals" }]))[0]).toMatchObject({
    code: "PROGRAM_REFERENCE_INVALID",
    pointer: "/steps/1/fail",
  });
  const [both] = await faultsOf([all, { id: "s", fail: "few", if: "rows.deals < 10" }]);
  expect(both?.hint).toContain('write the condition as "when": "rows.deals < 10" next to fail');
});

test.each<[string, string]>([
  ["keep", 'write it in rows, such as "rows"'],
  ["confirm", 'write it in args, such as "args": {"confirm": true}'],
  ["saga", 'write it next to steps, such as {"steps": […], "saga": …}'],
])("the field %s of a call is answered with where it belongs", async (name, place) => {
  const [fault] = await faultsOf([{ ...say("a"), [name]: true }]);
  expect(String(fault?.hint)).toContain(place);
});
