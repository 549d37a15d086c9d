import { everyConstruct, ifStep } from "./test-programs.ts";

type Editable = Record<string, unknown> & {
  steps: Record<string, unknown>[];
  points: Record<string, Record<string, unknown>>;
};

/** A program with faults: what was done to a sound one, and each fault expected, code (without PROGRAM_) and pointer, in order. */
export type FaultyProgram = {
  readonly name: string;
  readonly program: unknown;
  readonly faults: readonly string[];
};

/** Makes one by editing the sound program at paths: `steps/0/args` (undefined removes). */
function faulty(name: string, edits: Readonly<Record<string, unknown>>, faults: readonly string[]): FaultyProgram {
  const program = everyConstruct() as unknown as Editable;
  for (const [path, value] of Object.entries(edits)) {
    const steps = path.split("/");
    const last = steps.pop() ?? "";
    let holder: Record<string, unknown> = program;
    for (const step of steps) holder = holder[step] as Record<string, unknown>;
    if (value === undefined) delete holder[last];
    else holder[last] = value;
  }
  return { name, program, faults };
}

const pause = (id: string) => ({ id, wait: "1m" });
const get = (id: string, args: unknown = {}) => ({ id, call: "messaging_bot.get_me", entity: "ops", args });
const send = (id: string, args: unknown = { chat_id: "@team", text: "Hello" }) => ({
  id,
  call: "messaging_bot.send_message",
  entity: "ops",
  args,
});
const remove = (args: object) => ({ id: "drop", call: "messaging_bot.delete_message", entity: "ops", args });

/** The refusals of SubmitJob that lie in the program, several faults in each. */
export const faultyPrograms: readonly FaultyProgram[] = [
  faulty(
    "unknown fields at every level",
    { colour: 1, limits: { calls: 5 }, "steps/0/page": 1, "steps/0/rows/size": 1, "points/sure/ladder": [] },
    [
      "MALFORMED /steps/0/rows/size",
      "MALFORMED /steps/0/page",
      "MALFORMED /points/sure/ladder",
      "MALFORMED /colour",
      "MALFORMED /limits/calls",
    ],
  ),
  faulty(
    "missing fields",
    {
      title: undefined,
      "steps/0/entity": undefined,
      "steps/1/where": undefined,
      "steps/5/do": undefined,
      "points/sure/escalation": undefined,
    },
    [
      "MALFORMED ",
      "MALFORMED /steps/0",
      "MALFORMED /steps/1",
      "MALFORMED /steps/5",
      "MALFORMED /points/sure",
      "REFERENCE_INVALID /points/rows/overrides/target",
    ],
  ),
  faulty(
    "values of the wrong type",
    { version: "1", title: 7, input: [], params: 3, "steps/5/concurrency": "4", saga: { on: "failed" } },
    [
      "MALFORMED /version",
      "MALFORMED /title",
      "MALFORMED /input",
      "MALFORMED /params",
      "MALFORMED /steps/5/concurrency",
      "MALFORMED /saga/on",
    ],
  ),
  faulty("no steps and an unknown version", { version: 2, steps: [], points: {}, result: {} }, [
    "MALFORMED /version",
    "MALFORMED /steps",
  ]),
  faulty(
    "steps of no kind and of two kinds",
    { "steps/2": { id: "choice" }, "steps/3": { id: "approve", wait: "1m", judge: "gate" }, "steps/4": "judge" },
    ["MALFORMED /steps/2", "MALFORMED /steps/3", "MALFORMED /steps/4", "REFERENCE_INVALID /result/who"],
  ),
  faulty(
    "ids that are taken, malformed or missing",
    { "steps/1/id": "plan", "steps/3/id": "a-b", "steps/5/do/1/id": "write", "steps/6/id": undefined },
    [
      "MALFORMED /steps/1/id",
      "REFERENCE_INVALID /steps/2/if",
      "MALFORMED /steps/3/id",
      "REFERENCE_INVALID /steps/5/map",
      "MALFORMED /steps/5/do/1/id",
      "REFERENCE_INVALID /steps/5/do/1/args/text",
      "MALFORMED /steps/6",
      "REFERENCE_INVALID /points/sure/question",
      "REFERENCE_INVALID /result/all",
    ],
  ),
  faulty("an if inside an if", { "steps/2/then/1": ifStep("inner", "true", [pause("deep")]), "steps/2/else": [] }, [
    "MALFORMED /steps/2/then/1",
    "MALFORMED /steps/2/else",
  ]),
  faulty(
    "a map inside a map, and rows in a call of a map",
    {
      "steps/5/do/0": { id: "again", map: "plan", do: [get("x")] },
      "steps/5/do/1/rows": { from: "items[]", keep: ["id"] },
    },
    [
      "MALFORMED /steps/5/do/0",
      "MALFORMED /steps/5/do/0",
      "MALFORMED /steps/5/do/0/map",
      "MALFORMED /steps/5/do/0/do",
      "REFERENCE_INVALID /steps/5/do/1/args/message_id",
      "MALFORMED /steps/5/do/1/rows",
      "REFERENCE_INVALID /steps/5/do/1/rows/from",
      "REFERENCE_INVALID /points/rows/overrides/target",
    ],
  ),
  faulty(
    "durations that are none, or out of bounds",
    {
      limits: { deadline: "soon" },
      "steps/0/timeout": "5m",
      "steps/0/retry": { max: 1, initial: "1ms", cap: "2 s" },
      "steps/2/then/1/wait": "90d",
      "points/sure/escalation/0/timeout": "5s",
    },
    [
      "LIMIT_INVALID /steps/0/timeout",
      "LIMIT_INVALID /steps/0/retry/initial",
      "MALFORMED /steps/0/retry/cap",
      "LIMIT_INVALID /steps/2/then/1/wait",
      "LIMIT_INVALID /points/sure/escalation/0/timeout",
      "MALFORMED /limits/deadline",
    ],
  ),
  faulty(
    "limits out of bounds",
    { limits: { toolCalls: 0, writes: -1, rows: 2e6, asks: 1.5, concurrency: 64, deadline: "365d" } },
    [
      "LIMIT_INVALID /limits/toolCalls",
      "LIMIT_INVALID /limits/writes",
      "LIMIT_INVALID /limits/rows",
      "LIMIT_INVALID /limits/asks",
      "LIMIT_INVALID /limits/concurrency",
      "LIMIT_INVALID /limits/deadline",
    ],
  ),
  faulty(
    "concurrency above the job's, and a wait beyond the deadline",
    { limits: { concurrency: 2, deadline: "1m" }, "steps/5/concurrency": 4 },
    ["LIMIT_INVALID /steps/2/then/1/wait", "LIMIT_INVALID /steps/5/concurrency"],
  ),
  faulty(
    "more calls, writes and questions than the limits allow",
    {
      limits: { toolCalls: 2, writes: 0, asks: 0 },
      "steps/6": send("s"),
      "steps/2/then/1": get("g"),
      "result/all": "x",
      "steps/7": send("t"),
      "steps/4": { id: "check", judge: "sure" },
    },
    ["LIMIT_INVALID /limits/toolCalls", "LIMIT_INVALID /limits/writes", "LIMIT_INVALID /limits/asks"],
  ),
  faulty(
    "counts out of bounds",
    {
      "steps/0/rows/keep": [],
      "steps/0/rows/page": { arg: "page_token", from: "nextPageToken", max: 1001 },
      "steps/5/tolerate": { count: -1, percent: 101 },
      "steps/2/then/0/retry": { max: 11, factor: 0 },
    },
    [
      "MALFORMED /steps/0/rows/keep",
      "MALFORMED /steps/0/rows/page/max",
      "MALFORMED /steps/2/then/0/retry/max",
      "MALFORMED /steps/2/then/0/retry/factor",
      "MALFORMED /steps/5/tolerate/count",
      "MALFORMED /steps/5/tolerate/percent",
    ],
  ),
  faulty(
    "tools that nobody sees",
    {
      "steps/0/call": "calendar.nope",
      "steps/2/then/0/call": "nope.nope",
      "steps/5/do/0/undo/call": "messaging_bot.unsend",
    },
    ["TOOL_UNKNOWN /steps/0/call", "TOOL_UNKNOWN /steps/2/then/0/call", "TOOL_UNKNOWN /steps/5/do/0/undo/call"],
  ),
  faulty(
    "tools that cannot be called",
    {
      "steps/0/call": "calendar.events_changed",
      "steps/2/then/0/call": "skills.weekly",
      "steps/5/do/1/call": "not a slug",
    },
    ["TOOL_NOT_CALLABLE /steps/0/call", "TOOL_NOT_CALLABLE /steps/2/then/0/call", "MALFORMED /steps/5/do/1/call"],
  ),
  faulty(
    "entities without accounts",
    { "steps/0/entity": "nobody", "steps/5/do/0/entity": "nobody", "steps/5/do/1/entity": "" },
    ["ACCOUNT_MISSING /steps/0/entity", "ACCOUNT_MISSING /steps/5/do/0/entity", "MALFORMED /steps/5/do/1/entity"],
  ),
  faulty(
    "arguments that are unknown, missing or of the wrong type",
    {
      "steps/0/args": { calendar: "x", max_results: "many" },
      "steps/2/then/0/args": { verbose: true },
      "steps/5/do/0/args/text": 5,
    },
    [
      "ARGUMENT_INVALID /steps/0/args",
      "ARGUMENT_INVALID /steps/0/args/calendar",
      "ARGUMENT_INVALID /steps/0/args/max_results",
      "ARGUMENT_INVALID /steps/2/then/0/args/verbose",
      "ARGUMENT_INVALID /steps/5/do/0/args/text",
    ],
  ),
  faulty(
    "arguments that break rules between them",
    { "steps/0/args": { calendar_id: { $ref: "params.calendar" }, order_by: "startTime" } },
    ["ARGUMENT_INVALID /steps/0/args"],
  ),
  faulty(
    "literal arguments that break rules between them",
    {
      "steps/0/args": { calendar_id: "primary", order_by: "updated", time_min: "yesterday" },
      "steps/2/then/0/args": [],
    },
    ["ARGUMENT_INVALID /steps/0/args/time_min", "MALFORMED /steps/2/then/0/args"],
  ),
  faulty(
    "references of types that arguments cannot take",
    {
      "steps/0/args/max_results": { $ref: "params.note" },
      "steps/5/do/1/args/message_id": { $text: "{row.id}" },
      "steps/5/do/0/args/chat_id": { $ref: "row.start" },
      "steps/5/do/0/args/text": { $ref: "rows.named" },
    },
    [
      "ARGUMENT_INVALID /steps/0/args/max_results",
      "ARGUMENT_INVALID /steps/5/do/0/args/chat_id",
      "ARGUMENT_INVALID /steps/5/do/0/args/text",
      "ARGUMENT_INVALID /steps/5/do/1/args/message_id",
    ],
  ),
  faulty(
    "an else that does not fit",
    {
      "steps/5/do/0/args/chat_id": { $ref: "input.chat", else: 5 },
      "steps/5/do/1/args/message_id": { $ref: "calls.write.message_id", else: "x" },
    },
    ["ARGUMENT_INVALID /steps/5/do/0/args/chat_id/else", "ARGUMENT_INVALID /steps/5/do/1/args/message_id/else"],
  ),
  faulty(
    "references that are malformed",
    {
      "steps/0/args/calendar_id": { $ref: "" },
      "steps/0/args/query": { $ref: "input..chat" },
      "steps/5/do/0/args/text": { $text: "{row.summary" },
      "steps/5/do/1/args/text": { $text: "{foo.bar}" },
      "result/all": { $ref: 5 },
    },
    [
      "REFERENCE_INVALID /steps/0/args/calendar_id/$ref",
      "REFERENCE_INVALID /steps/0/args/query/$ref",
      "REFERENCE_INVALID /steps/5/do/0/args/text/$text",
      "REFERENCE_INVALID /steps/5/do/1/args/text/$text",
      "MALFORMED /result/all/$ref",
    ],
  ),
  faulty(
    "references with something beside them",
    {
      "steps/0/args/calendar_id": { $ref: "params.calendar", default: "x" },
      "steps/5/do/0/args/text": { $text: "a", else: "b" },
      "steps/0/args/query": { $ref: "params.note", else: { $ref: "params.calendar" } },
    },
    [
      "MALFORMED /steps/0/args/calendar_id/default",
      "MALFORMED /steps/0/args/query/else",
      "MALFORMED /steps/5/do/0/args/text/else",
    ],
  ),
  faulty(
    "references to what does not exist",
    {
      "steps/0/args/calendar_id": { $ref: "params.nope" },
      "steps/0/args/query": { $ref: "input.nope.deep" },
      "steps/5/do/0/args/text": { $text: "{row.location} {row.summary.length}" },
      "result/all": { $ref: "steps.sum.nope" },
      "result/note": { $ref: "steps.nope.x" },
    },
    [
      "REFERENCE_INVALID /steps/0/args/calendar_id",
      "REFERENCE_INVALID /steps/0/args/query",
      "REFERENCE_INVALID /steps/5/do/0/args/text",
      "REFERENCE_INVALID /steps/5/do/0/args/text",
      "REFERENCE_INVALID /result/all",
      "REFERENCE_INVALID /result/note",
    ],
  ),
  faulty(
    "references to what has not ended",
    {
      "steps/0/args/query": { $ref: "steps.me.username" },
      "steps/5/do/0/args/text": { $ref: "calls.mend.text" },
      "points/sure/question": "{rows.tell}",
      "steps/1/filter": "tell",
    },
    [
      "REFERENCE_INVALID /steps/0/args/query",
      "REFERENCE_INVALID /steps/1/filter",
      "REFERENCE_INVALID /steps/5/do/0/args/text",
    ],
  ),
  faulty(
    "references to the other branch, and out of a branch without else",
    { "steps/2/else/0": get("other", { x: { $ref: "steps.me.id" } }), "result/who": { $ref: "steps.me.username" } },
    [
      "REFERENCE_INVALID /steps/2/else/0/args/x",
      "ARGUMENT_INVALID /steps/2/else/0/args/x",
      "REFERENCE_INVALID /result/who",
    ],
  ),
  faulty(
    "references to a step that an answer may skip",
    {
      "steps/5": get("tell"),
      "steps/6": send("sum", { chat_id: "@team", text: { $text: "{steps.tell.username}" } }),
      "result/all": { $ref: "steps.tell.username" },
    },
    [
      "REFERENCE_INVALID /steps/6/args/text",
      "REFERENCE_INVALID /points/rows/overrides/target",
      "REFERENCE_INVALID /result/all",
    ],
  ),
  faulty(
    "roots where they do not stand",
    {
      "steps/0/args/query": { $ref: "row.id" },
      "steps/2/then/0/args": { a: { $ref: "output.x" }, b: { $ref: "calls.write.x" } },
      "result/note": { $ref: "row.id" },
    },
    [
      "REFERENCE_INVALID /steps/0/args/query",
      "REFERENCE_INVALID /steps/2/then/0/args/a",
      "ARGUMENT_INVALID /steps/2/then/0/args/a",
      "REFERENCE_INVALID /steps/2/then/0/args/b",
      "ARGUMENT_INVALID /steps/2/then/0/args/b",
      "REFERENCE_INVALID /result/note",
    ],
  ),
  faulty(
    "values of steps that have none",
    {
      "result/all": { $ref: "steps.plan.items" },
      "result/who": { $ref: "steps.check" },
      "result/note": { $ref: "rows.sum" },
    },
    ["REFERENCE_INVALID /result/all", "REFERENCE_INVALID /result/who", "REFERENCE_INVALID /result/note"],
  ),
  faulty(
    "whole objects in texts and results",
    {
      "steps/5/do/0/args/text": { $text: "{row.start}" },
      "steps/5/do/1/args/text": { $ref: "row.start" },
      "result/all": { a: 1 },
      "result/note": { $ref: "input.tags" },
    },
    [
      "REFERENCE_INVALID /steps/5/do/0/args/text",
      "ARGUMENT_INVALID /steps/5/do/1/args/text",
      "MALFORMED /result/all",
      "REFERENCE_INVALID /result/note",
    ],
  ),
  faulty(
    "rows from what is no list",
    {
      "steps/0/rows/from": "nextPageToken[]",
      "steps/2/then/0": { ...get("me"), rows: { from: "items[]", keep: ["id"] } },
    },
    [
      "REFERENCE_INVALID /steps/0/rows/from",
      "REFERENCE_INVALID /steps/2/then/0/rows/from",
      "REFERENCE_INVALID /steps/3/when",
      "REFERENCE_INVALID /result/who",
    ],
  ),
  faulty(
    "fields and pages that are not there",
    {
      "steps/0/rows": {
        from: "items[]",
        key: "uid",
        keep: ["id", "title"],
        page: { arg: "cursor", from: "next", max: 3 },
      },
    },
    [
      "REFERENCE_INVALID /steps/0/rows/key",
      "REFERENCE_INVALID /steps/0/rows/keep/1",
      "REFERENCE_INVALID /steps/0/rows/page/arg",
      "REFERENCE_INVALID /steps/0/rows/page/from",
      "REFERENCE_INVALID /steps/1/where",
      "REFERENCE_INVALID /steps/5/do/0/args/text",
      "REFERENCE_INVALID /steps/5/do/0/args/text",
    ],
  ),
  faulty(
    "paths that are none",
    {
      "steps/0/rows/from": "items",
      "steps/0/rows/page": { arg: "page_token", from: "a b", max: 2 },
      "steps/6/as": { x: "sum", "a b": "count", y: "median id" },
    },
    [
      "MALFORMED /steps/0/rows/from",
      "MALFORMED /steps/0/rows/page/from",
      "MALFORMED /steps/6/as/x",
      "MALFORMED /steps/6/as/a b",
      "MALFORMED /steps/6/as/y",
    ],
  ),
  faulty(
    "keys and tokens of types that do not fit",
    {
      "steps/0/rows": {
        from: "items[]",
        key: "start",
        keep: ["id", "summary", "start"],
        page: { arg: "single_events", from: "nextPageToken", max: 3 },
      },
    },
    ["REFERENCE_INVALID /steps/0/rows/key", "ARGUMENT_INVALID /steps/0/rows/page/from"],
  ),
  faulty("sets that are none", { "steps/1/filter": "nope", "steps/5/map": "choice", "steps/6/reduce": "me" }, [
    "REFERENCE_INVALID /steps/1/filter",
    "REFERENCE_INVALID /steps/5/map",
    "REFERENCE_INVALID /steps/6/reduce",
  ]),
  faulty(
    "a filter over a map, states of rows that have none",
    {
      "steps/6": { id: "sum", filter: "tell", where: "true" },
      "result/all": { $ref: "rows.sum" },
      "steps/7": { id: "r", reduce: "plan", as: { a: "count ok", b: "sum summary", c: "max nope" } },
    },
    [
      "REFERENCE_INVALID /steps/6/filter",
      "REFERENCE_INVALID /steps/7/as/a",
      "REFERENCE_INVALID /steps/7/as/b",
      "REFERENCE_INVALID /steps/7/as/c",
    ],
  ),
  faulty(
    "destructive calls without the literal",
    {
      "steps/5/do/0/undo/args/confirm": undefined,
      "steps/6": remove({ chat_id: "@team", message_id: 5, confirm: { $ref: "params.yes" } }),
      "result/all": 1,
      "params/yes": true,
      "steps/2/then/0/args": { confirm: true },
    },
    [
      "ARGUMENT_INVALID /steps/2/then/0/args/confirm",
      "CONFIRM_MISSING /steps/5/do/0/undo/args",
      "CONFIRM_MISSING /steps/6/args/confirm",
    ],
  ),
  faulty(
    "undo calls that are wrong",
    {
      "steps/5/do/0/undo/args": {
        chat_id: { $ref: "output.nope" },
        message_id: { $ref: "output.text" },
        confirm: true,
        force: true,
      },
      "steps/5/do/1/undo": {
        call: "messaging_bot.delete_message",
        entity: "nobody",
        args: { chat_id: "@team", message_id: { $ref: "calls.mend.message_id" } },
      },
    },
    [
      "REFERENCE_INVALID /steps/5/do/0/undo/args/chat_id",
      "ARGUMENT_INVALID /steps/5/do/0/undo/args/message_id",
      "ARGUMENT_INVALID /steps/5/do/0/undo/args/force",
      "ACCOUNT_MISSING /steps/5/do/1/undo/entity",
      "CONFIRM_MISSING /steps/5/do/1/undo/args",
    ],
  ),
  faulty(
    "an undo beside pages",
    {
      "steps/0/rows/page": { arg: "page_token", from: "nextPageToken", max: 2 },
      "steps/0/undo": { call: "calendar.list_events" },
    },
    ["MALFORMED /steps/0/undo", "ARGUMENT_INVALID /steps/0/undo"],
  ),
  faulty(
    "expressions that do not parse",
    {
      "steps/1/where": "row.summary ==",
      "steps/2/if": "",
      "steps/3/when": "(".repeat(600),
      "points/sure/question": "{",
    },
    [
      "EXPRESSION_INVALID /steps/1/where",
      "MALFORMED /steps/2/if",
      "EXPRESSION_INVALID /steps/3/when",
      "REFERENCE_INVALID /points/sure/question",
    ],
  ),
  faulty(
    "expressions of unknown names and functions",
    {
      "steps/1/where": "row.nope && lower(row.id) == 'a'",
      "steps/2/if": "rows.nope > 1 || secret == 1",
      "steps/3/when": "steps.plan.x == 1 || params.none",
    },
    [
      "REFERENCE_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/1/where",
      "REFERENCE_INVALID /steps/2/if",
      "EXPRESSION_INVALID /steps/2/if",
      "REFERENCE_INVALID /steps/3/when",
      "REFERENCE_INVALID /steps/3/when",
    ],
  ),
  faulty(
    "expressions of the wrong type",
    {
      "steps/1/where": "row.summary",
      "steps/2/if": "params.least + 1 > 2",
      "steps/3/when": "size(rows.named) > 1 && 'a' > 1",
    },
    [
      "EXPRESSION_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/2/if",
      "EXPRESSION_INVALID /steps/3/when",
      "EXPRESSION_INVALID /steps/3/when",
    ],
  ),
  faulty(
    "expressions above their limits",
    {
      "steps/1/where": `${"row.id == 'a' || ".repeat(60)}false`,
      "steps/2/if": `${"size([".repeat(30)}1${"])".repeat(30)} == 1`,
      "steps/3/when": `'${"x".repeat(1100)}' == ''`,
    },
    ["EXPRESSION_INVALID /steps/1/where", "EXPRESSION_INVALID /steps/2/if", "EXPRESSION_INVALID /steps/3/when"],
  ),
  faulty(
    "comprehensions where none may be",
    {
      "steps/1/where": "row.start.all(x, row.start.exists(y, y == x))",
      "steps/2/if": "rows.all(r, rows[r] > 1)",
      "steps/3/when": "input.tags.exists(t, t.x == 'a')",
    },
    [
      "EXPRESSION_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/2/if",
      "EXPRESSION_INVALID /steps/2/if",
      "REFERENCE_INVALID /steps/3/when",
    ],
  ),
  faulty(
    "expressions of rows, skipped steps and patterns from data",
    {
      "steps/2/if": "row.id == ''",
      "steps/3/when": "steps.me.id > 0.0",
      "steps/1/where": "row.summary.matches(row.id) || row.id.matches('(?=a)') || row.id.matches('a{100}')",
    },
    [
      "EXPRESSION_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/1/where",
      "EXPRESSION_INVALID /steps/1/where",
      "REFERENCE_INVALID /steps/2/if",
      "REFERENCE_INVALID /steps/3/when",
    ],
  ),
  faulty(
    "points that do not exist",
    { "steps/3/judge": "nope", "steps/5/onRows": { failed: "nope", unknown: "neither" } },
    [
      "REFERENCE_INVALID /steps/3/judge",
      "REFERENCE_INVALID /steps/5/onRows/failed",
      "REFERENCE_INVALID /steps/5/onRows/unknown",
    ],
  ),
  faulty(
    "points under names of the service, and malformed ones",
    {
      "points/approval": { question: "?", continuations: ["proceed"], escalation: [{ principal: "lead" }] },
      "points/a-b": { question: "?", continuations: [], escalation: [] },
      "points/x": 5,
    },
    [
      "POINT_INVALID /points/approval",
      "MALFORMED /points/a-b",
      "MALFORMED /points/a-b/continuations",
      "MALFORMED /points/a-b/escalation",
      "MALFORMED /points/x",
    ],
  ),
  faulty(
    "continuations that are unknown, doubled or without sense",
    {
      "points/sure/continuations": ["proceed", "retry", "proceed"],
      "steps/7": { id: "last", judge: "end" },
      "points/end": { question: "?", continuations: ["skip"], escalation: [{ principal: "lead" }] },
    },
    [
      "MALFORMED /points/sure/continuations",
      "MALFORMED /points/sure/continuations/1",
      "POINT_INVALID /points/sure/overrides",
      "POINT_INVALID /points/end/continuations/0",
    ],
  ),
  faulty(
    "retry-with that has nothing to apply",
    {
      "points/sure/overrides": undefined,
      "points/sure/answerSchema": undefined,
      "points/rows/continuations": ["proceed"],
      "points/rows/default": undefined,
    },
    ["POINT_INVALID /points/sure/continuations/1", "POINT_INVALID /points/rows/overrides"],
  ),
  faulty(
    "retry-with at unknown rows of unkeyed writes, and an approval gate about rows",
    { "steps/5/onRows": { failed: "gate", unknown: "rows" } },
    ["POINT_INVALID /steps/5/onRows/failed", "POINT_INVALID /points/rows/continuations/1"],
  ),
  faulty(
    "a rerun that would cross a write",
    {
      "steps/1": send("named"),
      "steps/2/if": "true",
      "steps/5/map": "plan",
      "points/sure/question": "?",
      "steps/5/do/1/args/text": "x",
    },
    ["POINT_INVALID /points/sure/overrides/rerunFrom"],
  ),
  faulty(
    "a rerun from nowhere, from later, from a branch",
    {
      "points/sure/overrides/rerunFrom": "nope",
      "steps/7": { id: "more", judge: "m" },
      "points/m": {
        question: "?",
        continuations: ["retry-with"],
        overrides: { target: "params", rerunFrom: "pause" },
        answerSchema: { type: "object", additionalProperties: false },
        escalation: [{ principal: "lead" }],
      },
    },
    ["REFERENCE_INVALID /points/sure/overrides/rerunFrom", "POINT_INVALID /points/m/overrides/rerunFrom"],
  ),
  faulty(
    "overrides whose target is wrong",
    {
      "points/sure/overrides": { target: "steps.named.args", rerunFrom: "check" },
      "points/rows/overrides": { target: "input", rerunFrom: "plan" },
    },
    ["REFERENCE_INVALID /points/sure/overrides/target", "MALFORMED /points/rows/overrides/target"],
  ),
  faulty(
    "overrides that would change nothing that runs again",
    { "points/sure/overrides/rerunFrom": "named", "points/rows/overrides/target": "steps.plan.args" },
    [
      "POINT_INVALID /points/sure/overrides/rerunFrom",
      "POINT_INVALID /points/rows/overrides/target",
      "POINT_INVALID /points/rows/answerSchema/properties/text",
    ],
  ),
  faulty(
    "answer schemas that do not fit the target",
    {
      "points/sure/answerSchema": {
        type: "object",
        additionalProperties: false,
        properties: { max_results: { type: "string" }, nope: { type: "string" } },
      },
      "points/rows/answerSchema": { type: "object", properties: { text: { type: "string" } } },
    },
    [
      "POINT_INVALID /points/sure/answerSchema/properties/max_results",
      "POINT_INVALID /points/sure/answerSchema/properties/nope",
      "POINT_INVALID /points/rows/answerSchema",
    ],
  ),
  faulty(
    "answer schemas that are none",
    {
      "points/sure/answerSchema": {
        type: "object",
        additionalProperties: false,
        properties: { max_results: { type: "integr" } },
      },
      "points/rows/answerSchema": { type: "array", additionalProperties: false, $ref: "#" },
    },
    [
      "POINT_INVALID /points/sure/answerSchema",
      "POINT_INVALID /points/rows/answerSchema",
      "POINT_INVALID /points/rows/answerSchema/$ref",
    ],
  ),
  faulty(
    "ladders with gaps, and a default that never comes",
    {
      "points/sure/escalation": [{ principal: "lead" }, { principal: "head", timeout: "1h" }],
      "points/rows/escalation": [{ principal: "owner" }],
      "points/rows/default/continuation": "abort",
    },
    [
      "POINT_INVALID /points/sure/escalation/0",
      "POINT_INVALID /points/rows/escalation/0",
      "POINT_INVALID /points/rows/default/continuation",
    ],
  ),
  faulty(
    "ladders that are empty or too long",
    {
      "points/sure/escalation": [],
      "points/rows/escalation": Array.from({ length: 6 }, () => ({ principal: "owner", timeout: "1h" })),
    },
    ["MALFORMED /points/sure/escalation", "MALFORMED /points/rows/escalation"],
  ),
  faulty(
    "a default that the clock cannot give",
    { "points/rows/answerSchema/required": ["text"], "points/sure/default": { continuation: "retry-with" } },
    ["POINT_INVALID /points/sure/escalation/1", "POINT_INVALID /points/rows/default/continuation"],
  ),
  faulty(
    "contacts that nobody knows",
    {
      "points/sure/escalation/0/principal": "stranger",
      "points/rows/escalation/0/principal": "stranger",
      approval: { plan: "sometimes", escalation: [{ principal: "ghost", timeout: "1h" }] },
    },
    [
      "CONTACT_UNKNOWN /points/sure/escalation/0/principal",
      "CONTACT_UNKNOWN /points/rows/escalation/0/principal",
      "MALFORMED /approval/plan",
      "CONTACT_UNKNOWN /approval/escalation/0/principal",
      "MALFORMED /approval/escalation/0/timeout",
    ],
  ),
  faulty(
    "approval gates that declare a ladder",
    {
      "points/gate": {
        question: "?",
        approval: true,
        continuations: ["proceed"],
        escalation: [{ principal: "lead" }],
        default: { continuation: "proceed" },
      },
    },
    [
      "POINT_INVALID /points/gate/continuations",
      "POINT_INVALID /points/gate/escalation",
      "POINT_INVALID /points/gate/default",
    ],
  ),
  faulty("input that breaks its schema", { input: { chat: 5, start: "tomorrow", more: 1 } }, [
    "ARGUMENT_INVALID /input",
    "ARGUMENT_INVALID /input/chat",
    "ARGUMENT_INVALID /input/start",
  ]),
  faulty("an input schema that is none", { inputSchema: { type: "string", properties: [], $defs: {} } }, [
    "MALFORMED /inputSchema",
    "MALFORMED /inputSchema/properties",
    "MALFORMED /inputSchema/$defs",
  ]),
  faulty(
    "sagas and waits that are wrong",
    {
      saga: { on: ["failed", "failed", "succeeded"] },
      "steps/2/else/0/wait": { until: "tomorrow" },
      "steps/2/then/1/wait": { until: { $ref: "params.least" } },
    },
    [
      "REFERENCE_INVALID /steps/2/then/1/wait/until",
      "MALFORMED /steps/2/else/0/wait/until",
      "MALFORMED /saga/on",
      "MALFORMED /saga/on/2",
    ],
  ),
];
