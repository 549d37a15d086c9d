import { ifStep } from "../programs.ts";
import { type FaultyProgram, faulty, get, pause, send } from "./faulty-program.ts";

/** Programs whose form has faults: wrong fields, values, ids or limits. */
export const faultyForms: readonly FaultyProgram[] = [
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
  faulty(
    "rounds without a bound, without steps, with pauses that shrink, in each other",
    {
      "steps/3": { id: "a", until: "true", do: [], every: "1m", max: 1001 },
      "steps/4": { id: "b", until: "true", do: [pause("b1")], every: "1m", cap: "30s", factor: 0.5 },
      "steps/7": {
        id: "c",
        until: "true",
        do: [ifStep("c1", "true", [{ id: "c2", until: "true", do: [pause("c3")], max: 2 }])],
        every: "48h",
        max: 2,
      },
    },
    [
      "MALFORMED /steps/3/do",
      "MALFORMED /steps/3/max",
      "MALFORMED /steps/4",
      "LIMIT_INVALID /steps/4/cap",
      "MALFORMED /steps/4/factor",
      "MALFORMED /steps/7/do/0/then/0",
      "LIMIT_INVALID /steps/7/every",
    ],
  ),
  faulty(
    "errors that nobody can handle, handled where nobody can, or in each other",
    {
      "steps/0/onError": {},
      // biome-ignore lint/suspicious/noThenProperty: programs have the field.
      "steps/1/onError": { then: "continue" },
      // biome-ignore lint/suspicious/noThenProperty: programs have the field.
      "steps/2/onError": { codes: ["LIMIT_REACHED", "outcome_unknown", "provider-error", "timeout"], then: "go" },
      // biome-ignore lint/suspicious/noThenProperty: programs have the field.
      "steps/5/do/0/onError": { then: "continue" },
      "steps/7": {
        ...get("who"),
        onError: {
          codes: [],
          // biome-ignore lint/suspicious/noThenProperty: programs have the field.
          do: [{ ...get("again"), onError: { then: "continue" } }],
          // biome-ignore lint/suspicious/noThenProperty: programs have the field.
          then: "continue",
        },
      },
    },
    [
      "MALFORMED /steps/0/onError",
      "MALFORMED /steps/1/onError",
      "MALFORMED /steps/2/onError/codes/0",
      "MALFORMED /steps/2/onError/codes/1",
      "MALFORMED /steps/2/onError/codes/2",
      "MALFORMED /steps/2/onError/then",
      "MALFORMED /steps/5/do/0/onError",
      "MALFORMED /steps/7/onError/codes",
      "MALFORMED /steps/7/onError/do/0/onError",
    ],
  ),
  faulty(
    "branches that are one, empty, misnamed, or in each other",
    {
      "steps/3": { id: "a", parallel: { one: [pause("a1")] } },
      "steps/4": { id: "b", parallel: [] },
      "steps/7": {
        id: "c",
        parallel: {
          "1st": [pause("c1")],
          empty: [],
          deep: [{ id: "c2", parallel: { x: [pause("c3")], y: [pause("c4")] } }],
        },
      },
    },
    [
      "MALFORMED /steps/3/parallel",
      "MALFORMED /steps/4/parallel",
      "MALFORMED /steps/7/parallel/1st",
      "MALFORMED /steps/7/parallel/empty",
      "MALFORMED /steps/7/parallel/deep/0",
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
