import type { Scenario } from "../record-history.ts";
import {
  answers,
  cancels,
  deskScenario,
  getItem,
  listItems,
  point,
  sendEach,
  sendNote,
  submitProgram,
  undo,
} from "./desk.ts";

const simulateFirst = { simulateFirst: true };
const simulate = { mode: "simulate" };
const planned = { status: "PENDING_PLAN_APPROVAL", reason: "approval" };
const remove = (id: string) => ({ id, call: "desk.delete_note", entity: "ops", args: { id: "old", confirm: true } });
const destructive = { steps: [getItem("item"), remove("gone"), sendNote("after")] };
const gate = { id: "gate", judge: "ask" };

/** Simulation, approval of plans, and skills. */
export const planScenarios: readonly Scenario[] = [
  deskScenario({
    name: "simulate",
    shows: "a simulation: reads are made, writes are not, waits are over at once and questions are answered",
    options: simulate,
    program: {
      saga: { on: ["failed"] },
      points: { ask: point(), other: point({ continuations: ["skip", "abort"] }) },
      steps: [
        listItems(),
        sendNote("first", undo),
        gate,
        { id: "pause", wait: "10m" },
        sendEach({ onRows: { failed: "ask" } }),
        { id: "second", judge: "other" },
        sendNote("skipped"),
        { id: "sum", reduce: "each", as: { ok: "count ok" } },
      ],
      result: { first: { $ref: "steps.first.id" }, ok: { $ref: "steps.sum.ok" } },
    },
  }),
  deskScenario({
    name: "simulate-ended",
    shows: "a simulation ends at a question that neither goes on nor skips",
    options: simulate,
    program: {
      params: { least: 0.0 },
      points: {
        ask: point({
          continuations: ["retry-with", "abort"],
          overrides: { target: "params", rerunFrom: "items" },
          answerSchema: { type: "object", additionalProperties: false, properties: { least: { type: "number" } } },
        }),
      },
      steps: [listItems(), gate, sendNote("never")],
    },
  }),
  deskScenario({
    name: "simulated-and-approved",
    shows: "a plan is simulated, approved and run",
    options: simulateFirst,
    program: destructive,
    acts: [answers(planned, "proceed", { note: "as simulated" })],
  }),
  deskScenario({
    name: "simulated-and-rejected",
    shows: "a plan is simulated and rejected",
    options: simulateFirst,
    program: destructive,
    acts: [answers(planned, "abort")],
  }),
  deskScenario({
    name: "simulated-and-run",
    shows: "a plan that needs no approval is simulated and run",
    options: simulateFirst,
    program: { steps: [getItem("item"), sendNote("note")], result: { id: { $ref: "steps.note.id" } } },
  }),
  deskScenario({
    name: "simulation-failed",
    shows: "a plan whose simulation fails is not run",
    options: simulateFirst,
    program: { steps: [getItem("item"), sendNote("never")] },
    answers: { "GET /items/item": [{ status: 404 }] },
  }),
  deskScenario({
    name: "plan-approved",
    shows: "a plan is approved by one of those whom it names, and its deadline begins then",
    contacts: [{ principalId: "lead" }, { principalId: "head", approver: true }],
    program: {
      approval: { plan: "always", escalation: [{ principal: "lead" }, { principal: "head" }] },
      limits: { deadline: "1h" },
      steps: [sendNote("note"), { id: "pause", wait: "10m" }],
    },
    acts: [answers(planned, "proceed", { principalId: "head" })],
  }),
  deskScenario({
    name: "plan-rejected",
    shows: "a plan is rejected",
    program: destructive,
    acts: [answers(planned, "abort", { note: "not today" })],
  }),
  deskScenario({
    name: "cancel-planned",
    shows: "a job is cancelled while its plan waits for approval",
    program: destructive,
    acts: [cancels(planned)],
  }),
  deskScenario({
    name: "cancel-simulating",
    shows: "a job is cancelled while it is simulated, and its simulation with it",
    options: simulateFirst,
    program: { steps: [getItem("item", { retry: { max: 1, initial: "1s" } }), remove("gone")] },
    answers: { "GET /items/item": [{ status: 429, headers: { "retry-after": "3600" } }, "usual"] },
    acts: [cancels({ status: "SIMULATING" })],
  }),
  deskScenario({
    name: "skill-called",
    shows: "a program that was promoted is called with an input of the caller's",
    program: {},
    async prepare(engine, caller, finish) {
      const jobId = await submitProgram(engine, caller, skill);
      await finish(jobId);
      const description = "Greets somebody by a note, for the recordings.";
      await engine.jobs(caller).promoteJob({ jobId, slug: "greet", description });
    },
    async submit(engine, caller) {
      const called = await engine.callTool(caller, "skills.greet", { name: "Ada" });
      if (called.outcome !== "answered") throw new Error(`the skill was ${called.outcome}`);
      return (called.answer.result.value as { job_id: string }).job_id;
    },
  }),
];

const skill = {
  title: "skill-called",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["name"],
    properties: {
      name: { type: "string", description: "Who is greeted." },
      mark: { type: "string", default: "!", description: "What stands after the name." },
    },
  },
  input: { name: "somebody" },
  steps: [
    getItem("item", { args: { id: { $ref: "input.name" } } }),
    sendNote("note", { args: { text: { $text: "Hello {input.name}{input.mark}" } } }),
  ],
  result: { note: { $ref: "steps.note.id", else: null } },
};
