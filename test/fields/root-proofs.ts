import {
  checked,
  ending,
  faults,
  items,
  note,
  type ProgramProof,
  type ProgramProofs,
  point,
  ran,
  requests,
  result,
} from "./program-proofs.ts";
import type { Answers } from "./program-world.ts";
import { under } from "./proof.ts";

const inputSchema = { type: "object", properties: { text: { type: "string", default: "of the schema" } } };
const said = ran(({ sent }) => sent.flatMap(({ body }) => (body === undefined ? [] : [JSON.parse(body).text])));
const saying = (path: string) => ({ ...note, args: { text: { $ref: path } } });
const sendAll = { id: "each", map: "items", do: [{ ...note, args: { text: { $ref: "row.id" } } }] };
const asking = { id: "again", until: "false", max: 3, every: "1s", do: [{ id: "gate", judge: "sure" }] };
const needsApproval = checked((answer) => answer.needsApproval);
const endingAnswered = ran(({ job }) => job.lastError.split(":")[0], {
  sure: Array.from({ length: 9 }, () => ({ continuation: "proceed" })),
});
const addressed = ran(({ job }) => job.pendingAsk?.deliveredPrincipals);

/** Returns a proof that a limit ends a job which otherwise ends normally. */
function limited(name: string, value: unknown, steps: readonly object[]): ProgramProof {
  const gives: ProgramProof["gives"] = [
    ["FAILED", "LIMIT_REACHED"],
    ["SUCCEEDED", ""],
  ];
  return { of: { limits: { [name]: value }, steps }, at: `/limits/${name}`, shows: ending, gives };
}

const patient = {
  id: "it",
  call: "desk.get_item",
  entity: "ops",
  args: { id: "down" },
  retry: { max: 2, initial: "1h", factor: 1, cap: "1h" },
};
const undone = {
  saga: { on: ["failed"] },
  approval: { plan: "never" },
  steps: [
    { ...note, undo: { call: "desk.delete_note", args: { id: { $ref: "output.id" }, confirm: true } } },
    { id: "stop", fail: "No" },
  ],
};
const remove = { id: "it", call: "desk.delete_note", entity: "ops", args: { id: "a", confirm: true } };
const planned = { approval: { plan: "always", escalation: [{ principal: "head" }] }, steps: [note] };

/** Proofs for every field of a program, except the fields of its steps and points. */
export const rootProofs: ProgramProofs = under("program", {
  version: {
    of: { version: 1, steps: [note] },
    at: "/version",
    other: 2,
    shows: faults,
    gives: [[], ["PROGRAM_MALFORMED /version"]],
  },
  title: {
    of: { title: "One", steps: [note] },
    at: "/title",
    other: "Two",
    shows: ran(({ job }) => job.title),
    gives: ["One", "Two"],
  },
  steps: {
    of: { steps: [note] },
    at: "/steps",
    other: [{ ...note, args: { text: "bye" } }],
    shows: said,
    gives: [["hello"], ["bye"]],
  },
  // The field is meant for editors. The service accepts it, and it changes only the hash of the program.
  $schema: {
    ...{
      of: { $schema: "https://svc.example.com/schemas/program.v1.json", steps: [note] },
      at: "/$schema",
      other: 1,
      shows: faults,
    },
    gives: [[], ["PROGRAM_MALFORMED /$schema"]],
  },
  inputSchema: {
    ...{ of: { inputSchema, input: {}, steps: [saying("input.text")] }, at: "/inputSchema", shows: said },
    gives: [["of the schema"], ["PROGRAM_REFERENCE_INVALID /steps/0/args/text"]],
  },
  input: {
    of: { input: { text: "one" }, steps: [saying("input.text")] },
    at: "/input",
    other: { text: "two" },
    shows: said,
    gives: [["one"], ["two"]],
  },
  params: {
    of: { params: { text: "one" }, steps: [saying("params.text")] },
    at: "/params",
    other: { text: "two" },
    shows: said,
    gives: [["one"], ["two"]],
  },
  "limits.deadline": {
    ...{ of: { limits: { deadline: "90m" }, steps: [patient] }, at: "/limits/deadline", shows: ending },
    gives: [
      ["EXPIRED", ""],
      ["FAILED", "provider_error"],
    ],
  },
  "limits.toolCalls": limited("toolCalls", 3, [items, sendAll]),
  "limits.writes": limited("writes", 3, [items, sendAll]),
  "limits.rows": limited("rows", 3, [items]),
  "limits.asks": {
    ...{ of: { limits: { asks: 2 }, points: { sure: point }, steps: [asking] }, at: "/limits/asks" },
    ...{ shows: endingAnswered, gives: ["LIMIT_REACHED", "UNTIL_EXHAUSTED"] },
  },
  "limits.concurrency": {
    of: { limits: { concurrency: 2 }, steps: [items, sendAll] },
    at: "/limits/concurrency",
    shows: ran(({ widest }) => widest),
    gives: [2, 4],
  },
  "approval.plan": {
    of: { approval: { plan: "never" }, steps: [remove] },
    at: "/approval/plan",
    shows: needsApproval,
    gives: [false, true],
  },
  "approval.escalation.principal": {
    of: planned,
    at: "/approval/escalation/0/principal",
    other: "owner",
    shows: addressed,
    gives: [["head"], ["owner"]],
  },
  points: {
    of: { points: { sure: point }, steps: [{ id: "gate", judge: "sure" }] },
    at: "/points",
    shows: faults,
    gives: [[], ["PROGRAM_REFERENCE_INVALID /steps/0/judge"]],
  },
  "saga.on": {
    of: undone,
    at: "/saga/on",
    other: ["aborted"],
    shows: requests,
    gives: [["POST /notes", "DELETE /notes/note-hello"], ["POST /notes"]],
  },
  result: {
    of: { steps: [items], result: { n: { $ref: "rows.items" } } },
    at: "/result",
    other: { m: 1 },
    shows: result,
    gives: [{ n: 4 }, { m: 1 }],
  },
});

const answerSchema = { type: "object", additionalProperties: false, properties: { text: { type: "string" } } };
const ladder = [
  { principal: "lead", timeout: "1h" },
  { principal: "head", timeout: "1h" },
];
const asked = {
  params: { text: "one" },
  steps: [
    { id: "before", wait: "1s" },
    { id: "between", wait: "1s" },
    { id: "gate", judge: "sure" },
    saying("params.text"),
  ],
  points: {
    sure: {
      ...{
        question: "Sure?",
        continuations: ["proceed", "retry-with", "abort"],
        overrides: { target: "params", rerunFrom: "before" },
        answerSchema,
      },
      ...{ escalation: ladder, default: { continuation: "proceed" } },
    },
  },
};

const again: Answers = {
  sure: [{ continuation: "retry-with", overrides: { text: "two" } }, { continuation: "proceed" }],
};

function pointed(
  field: string,
  other: unknown,
  shows: ProgramProof["shows"],
  gives: ProgramProof["gives"],
): ProgramProof {
  return { of: asked, at: `/points/sure/${field}`, other, shows, gives };
}

/** Shows the steps that are run again after an answer, and the texts they then send. */
const afterAnswer = ran(
  ({ steps, sent }) => [steps["before"].attempts, ...sent.map(({ body = "" }) => JSON.parse(body).text)],
  again,
);
const principals = ran(({ log }) =>
  log.flatMap(({ type, payloadJson }) => {
    if (type !== "ask-raised" && type !== "ask-escalated") return [];
    const { principalId, to } = JSON.parse(payloadJson);
    return [principalId ?? to];
  }),
);
const hours = ran(({ job }) => Math.floor((Date.parse(job.finishedAt) - Date.parse(job.createdAt)) / 3_600_000));
const gate = { points: { sure: { question: "Sure?", approval: true } }, steps: [{ id: "gate", judge: "sure" }] };
const plain = { points: { sure: point }, steps: [{ id: "gate", judge: "sure" }] };
const judgment = (field: string) => ran(({ job }) => job.park?.judgment?.[field]);

/** Proofs for every field of a judgment point. */
export const pointProofs: ProgramProofs = {
  ...under("point", {
    question: {
      of: plain,
      at: "/points/sure/question",
      other: "Sure?",
      shows: judgment("question"),
      gives: ["Go on?", "Sure?"],
    },
    approval: {
      of: gate,
      at: "/points/sure/approval",
      shows: faults,
      gives: [[], ["PROGRAM_MALFORMED /points/sure", "PROGRAM_MALFORMED /points/sure"]],
    },
    continuations: {
      of: plain,
      at: "/points/sure/continuations",
      other: ["proceed"],
      shows: judgment("continuations"),
      gives: [["proceed", "abort"], ["proceed"]],
    },
    "overrides.target": pointed("overrides/target", "steps.note.args", afterAnswer, [
      [2, "two"],
      ["PROGRAM_POINT_INVALID /points/sure/overrides/rerunFrom"],
    ]),
    "overrides.rerunFrom": pointed("overrides/rerunFrom", "between", afterAnswer, [
      [2, "two"],
      [1, "two"],
    ]),
    answerSchema: pointed(
      "answerSchema",
      { ...answerSchema, properties: { text: { maxLength: 2 } } },
      ran(({ refused }) => refused, again),
      ["", "OVERRIDES_INVALID"],
    ),
    "escalation.principal": pointed("escalation/0/principal", "owner", principals, [
      ["lead", "head"],
      ["owner", "head"],
    ]),
    "escalation.timeout": pointed("escalation/0/timeout", "2h", hours, [2, 3]),
    "default.continuation": pointed("default/continuation", "abort", ending, [
      ["SUCCEEDED", ""],
      ["ABORTED", ""],
    ]),
  }),
  ...under("schema", {
    type: {
      of: { inputSchema, steps: [note] },
      at: "/inputSchema/type",
      other: "array",
      shows: faults,
      gives: [[], ["PROGRAM_MALFORMED /inputSchema"]],
    },
  }),
};
