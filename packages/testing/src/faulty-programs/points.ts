import { type FaultyProgram, faulty, pause, send } from "./faulty-program.ts";

/** Programs with faults in their judgment points, each with the errors that the check must find. */
export const faultyPoints: readonly FaultyProgram[] = [
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
    "a rerun out of the round of an until",
    {
      "steps/7": { id: "rounds", until: "true", do: [pause("first"), { id: "ask", judge: "m" }], max: 2 },
      "points/m": {
        question: "?",
        continuations: ["retry-with"],
        overrides: { target: "params", rerunFrom: "sum" },
        answerSchema: { type: "object", additionalProperties: false },
        escalation: [{ principal: "lead" }],
      },
    },
    ["POINT_INVALID /points/m/overrides/rerunFrom"],
  ),
  faulty(
    "an answer in a branch that changes what others read, or leads out of it",
    {
      "steps/7": {
        id: "ways",
        parallel: { left: [pause("first"), { id: "ask", judge: "m" }], right: [{ id: "ask2", judge: "n" }] },
      },
      "points/m": {
        question: "?",
        continuations: ["retry-with"],
        overrides: { target: "params", rerunFrom: "first" },
        answerSchema: { type: "object", additionalProperties: false },
        escalation: [{ principal: "lead" }],
      },
      "points/n": {
        question: "?",
        continuations: ["retry-with"],
        overrides: { target: "steps.plan.args", rerunFrom: "first" },
        answerSchema: { type: "object", additionalProperties: false },
        escalation: [{ principal: "lead" }],
      },
    },
    ["POINT_INVALID /points/m/overrides/target", "POINT_INVALID /points/n/overrides/rerunFrom"],
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
];
