import type { Scenario } from "../record-history.ts";
import { answers, branch, deskScenario, getItem, listItems, point, sendEach, sendNote, undo } from "./desk.ts";

const gate = { id: "gate", judge: "ask" };
const judged = { status: "PARKED", reason: "judgment", stepId: "gate" };
const approval = { status: "PARKED", reason: "approval", stepId: "gate" };
const lead = { principalId: "lead" };
const numbers = { type: "object", additionalProperties: false, properties: { least: { type: "number" } } };
const ladder = [
  { principal: "lead", timeout: "4h" },
  { principal: "head", timeout: "20h" },
];
const people = [{ principalId: "lead" }, { principalId: "head", approver: true }];
const tellsOf = (toolSlug: string) => ({
  principalId: "lead",
  reach: { toolSlug, entityId: "ops", argsJson: '{"text":"{question} {jobId} {requestId}"}' },
});

/** Questions to people, and what follows from their answers. */
export const askScenarios: readonly Scenario[] = [
  deskScenario({
    name: "judge-proceed",
    shows: "a question that is asked and one whose condition does not hold",
    program: {
      params: { many: 4.0 },
      points: { ask: point({ question: "{rows.items} notes would go out. Send them?" }) },
      steps: [
        listItems(),
        { ...gate, when: "rows.items > params.many" },
        { id: "few", judge: "ask", when: "rows.items < params.many" },
        sendNote("after"),
      ],
    },
    acts: [answers(judged, "proceed", { note: "it is well" })],
  }),
  deskScenario({
    name: "judge-params-overridden",
    shows: "an answer that changes params and goes back, then one that goes on",
    program: {
      params: { least: 0.0 },
      points: {
        ask: point({
          question: "{rows.some} of {params.least} and more?",
          continuations: ["proceed", "retry-with", "abort"],
          overrides: { target: "params", rerunFrom: "some" },
          answerSchema: numbers,
        }),
      },
      steps: [
        listItems(),
        { id: "some", filter: "items", where: "row.n >= params.least" },
        branch("any", "rows.some > 3", [gate]),
        sendEach({ map: "some" }),
        { id: "sum", reduce: "each", as: { ok: "count ok" } },
      ],
      result: { ok: { $ref: "steps.sum.ok" }, least: { $ref: "params.least" } },
    },
    acts: [
      answers(judged, "retry-with", { overridesJson: '{"least": 1}' }),
      answers(judged, "retry-with", { overridesJson: '{"least": 4}' }),
    ],
  }),
  deskScenario({
    name: "judge-args-overridden",
    shows: "an answer that changes the arguments of an earlier read and goes back to it",
    program: {
      points: {
        ask: point({
          question: "{steps.item.text}?",
          continuations: ["proceed", "retry-with", "abort"],
          overrides: { target: "steps.item.args", rerunFrom: "item" },
          answerSchema: { type: "object", additionalProperties: false, properties: { id: { type: "string" } } },
        }),
      },
      steps: [getItem("item"), gate, sendNote("note", { args: { text: { $ref: "steps.item.id" } } })],
      result: { id: { $ref: "steps.item.id" } },
    },
    acts: [answers(judged, "retry-with", { overridesJson: '{"id": "other"}' }), answers(judged, "proceed")],
  }),
  deskScenario({
    name: "judge-other-branch",
    shows: "an answer that goes back before an if, which takes its other branch: what the first one made is gone",
    program: {
      params: { least: 0.0 },
      points: {
        ask: point({
          continuations: ["proceed", "retry-with"],
          overrides: { target: "params", rerunFrom: "way" },
          answerSchema: numbers,
        }),
      },
      steps: [
        listItems(),
        branch("way", "params.least < 1.0", [getItem("one")], [getItem("other")]),
        gate,
        sendNote("note", { args: { text: { $ref: "steps.one.id", else: "not that one" } } }),
      ],
      result: { one: { $ref: "steps.one.id", else: null }, other: { $ref: "steps.other.id", else: null } },
    },
    acts: [answers(judged, "retry-with", { overridesJson: '{"least": 1}' }), answers(judged, "proceed")],
  }),
  deskScenario({
    name: "judge-skip",
    shows: "answers that skip the next step: a call, a map, and an if with its branches",
    program: {
      points: { ask: point({ continuations: ["proceed", "skip"] }) },
      steps: [
        listItems(),
        gate,
        sendNote("skipped"),
        { ...gate, id: "second" },
        sendEach(),
        { ...gate, id: "third" },
        branch("any", "rows.items > 0", [sendNote("yes")], [sendNote("no")]),
        sendNote("after", { args: { text: { $text: "{rows.each} rows" } } }),
      ],
      result: { skipped: { $ref: "steps.skipped.id", else: null } },
    },
    acts: ["gate", "second", "third"].map((stepId) => answers({ ...judged, stepId }, "skip")),
  }),
  deskScenario({
    name: "judge-abort",
    shows: "an answer that ends the job, and what was done is undone",
    program: {
      approval: { plan: "never" },
      saga: { on: ["aborted"] },
      points: { ask: point() },
      steps: [sendNote("first", undo), sendNote("second", undo), sendNote("third"), gate],
    },
    acts: [answers(judged, "abort", { note: "no more" })],
  }),
  deskScenario({
    name: "judge-failed",
    shows: "a condition of a question that cannot be computed fails its step",
    program: {
      points: { ask: point() },
      steps: [getItem("item"), { ...gate, when: "steps.item.text > 'a'" }],
    },
    answers: { "GET /items/item": [{ status: 200, body: { id: "item" } }] },
  }),
  deskScenario({
    name: "ladder-second-hop",
    shows: "a question that climbs a hop, answers that are refused, and one that is taken",
    contacts: people,
    program: {
      params: { least: 0.0 },
      points: {
        ask: point({
          continuations: ["proceed", "retry-with", "abort"],
          overrides: { target: "params", rerunFrom: "items" },
          answerSchema: numbers,
          escalation: ladder,
          default: { continuation: "abort" },
        }),
      },
      steps: [listItems(), gate, sendNote("after")],
    },
    acts: [
      answers({ ...judged, hopIndex: 0 }, "proceed", { principalId: "head", refusal: "PRINCIPAL_NOT_REACHED" }),
      answers({ ...judged, hopIndex: 1 }, "skip", { principalId: "head", refusal: "CONTINUATION_NOT_DECLARED" }),
      answers({ ...judged, hopIndex: 1 }, "retry-with", {
        ...lead,
        overridesJson: '{"most": 1}',
        refusal: "OVERRIDES_INVALID",
      }),
      answers({ ...judged, hopIndex: 1 }, "proceed", lead),
    ],
  }),
  deskScenario({
    name: "ladder-default",
    shows: "a question that nobody answers is settled by the clock",
    contacts: people,
    program: {
      points: { ask: point({ escalation: ladder, default: { continuation: "proceed" } }) },
      limits: { deadline: "1h" },
      steps: [sendNote("before"), gate, sendNote("after")],
    },
  }),
  deskScenario({
    name: "ladder-exhausted",
    shows: "a question whose ladder is over stays, and is answered late",
    contacts: people,
    program: {
      points: { ask: point({ escalation: ladder }) },
      steps: [sendNote("before"), gate, sendNote("after")],
    },
    acts: [answers({ ...judged, isExhausted: true }, "proceed", { principalId: "head" })],
  }),
  deskScenario({
    name: "approval-granted",
    shows: "an approval in mid-run, which only a contact that is an approver may give",
    contacts: people,
    program: {
      approval: { escalation: [{ principal: "lead" }, { principal: "head" }] },
      points: { ask: { approval: true, question: "Go on?" } },
      steps: [sendNote("before"), gate, sendNote("after")],
    },
    acts: [
      answers(approval, "proceed", { ...lead, refusal: "PRINCIPAL_NOT_APPROVER" }),
      answers(approval, "proceed", { principalId: "head" }),
    ],
  }),
  deskScenario({
    name: "approval-denied",
    shows: "an approval in mid-run that is not given",
    program: {
      points: { ask: { approval: true, question: "Go on?" } },
      steps: [sendNote("before"), gate, sendNote("after")],
    },
    acts: [answers(approval, "abort")],
  }),
  deskScenario({
    name: "reach",
    shows: "a contact that is told of a question by a tool of its own",
    contacts: [tellsOf("desk.send_note")],
    program: { points: { ask: point({ escalation: [{ principal: "lead" }] }) }, steps: [gate, sendNote("after")] },
    acts: [answers({ ...judged, isDelivered: true }, "proceed", lead)],
  }),
  deskScenario({
    name: "reach-retried",
    shows: "a contact that is reached only at a later try, while the question has moved on",
    contacts: [tellsOf("desk.send_note"), { principalId: "head" }],
    program: { points: { ask: point({ escalation: ladder }) }, steps: [gate, sendNote("after")] },
    answers: { "POST /notes": [{ status: 429 }, { status: 503 }, "usual"] },
    acts: [answers({ ...judged, hopIndex: 1 }, "proceed", lead)],
  }),
  deskScenario({
    name: "reach-in-doubt",
    shows: "a contact of whom nobody knows whether it was reached may answer all the same",
    contacts: [tellsOf("desk.send_note")],
    program: { points: { ask: point({ escalation: [{ principal: "lead" }] }) }, steps: [gate, getItem("after")] },
    answers: { "POST /notes": ["broken"] },
    acts: [answers(judged, "proceed", lead)],
  }),
];
