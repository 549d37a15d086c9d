import type { Scenario } from "../record-history.ts";
import { answers, deskScenario, getItem, listItems, point, sendEach, sendNote, undo } from "./desk.ts";

const gate = { id: "gate", judge: "ask" };

/** Limits, the deadline, and results. */
export const limitScenarios: readonly Scenario[] = [
  deskScenario({
    name: "limit-calls",
    shows: "the limit of calls is reached by repetitions",
    program: {
      limits: { toolCalls: 3 },
      steps: [getItem("item", { retry: { max: 5, initial: "100ms" } })],
    },
    answers: { "GET /items/item": [{ status: 500 }] },
  }),
  deskScenario({
    name: "limit-writes",
    shows: "the limit of writes is reached within a map, and what was written is undone",
    program: {
      limits: { writes: 3 },
      approval: { plan: "never" },
      saga: { on: ["failed"] },
      steps: [
        listItems(),
        sendEach({ concurrency: 1, do: [sendNote("note", { args: { text: { $ref: "row.id" } }, ...undo })] }),
      ],
    },
  }),
  deskScenario({
    name: "limit-rows",
    shows: "the limit of rows is reached at a page",
    items: 8,
    pageSize: 3,
    program: { limits: { rows: 5 }, steps: [listItems()] },
  }),
  deskScenario({
    name: "limit-asks",
    shows: "the limit of questions is reached",
    program: {
      limits: { asks: 1 },
      points: {
        ask: point({
          continuations: ["retry-with", "abort"],
          overrides: { target: "params", rerunFrom: "items" },
          answerSchema: { type: "object", additionalProperties: false, properties: { least: { type: "number" } } },
        }),
      },
      params: { least: 0.0 },
      steps: [listItems(), gate],
    },
    acts: [answers({ status: "PARKED", reason: "judgment" }, "retry-with", { overridesJson: "{}" })],
  }),
  deskScenario({
    name: "deadline-queued",
    shows: "the deadline passes before anybody takes the job up",
    startsAfterMs: 3_600_000,
    program: { limits: { deadline: "2m" }, steps: [sendNote("never")] },
  }),
  deskScenario({
    name: "deadline-waiting",
    shows: "the deadline passes while the job waits for a time, and nothing is undone",
    program: {
      limits: { deadline: "1h" },
      approval: { plan: "never" },
      saga: { on: ["failed", "aborted", "cancelled"] },
      steps: [{ id: "rest", wait: "40m" }, sendNote("first", undo), { id: "pause", wait: "40m" }, sendNote("never")],
    },
  }),
  deskScenario({
    name: "deadline-postponed",
    shows: "the deadline passes while a call is to be made later",
    program: { limits: { deadline: "1h" }, steps: [getItem("item", { retry: { max: 3, initial: "1s" } })] },
    answers: { "GET /items/item": [{ status: 429, headers: { "retry-after": "7200" } }] },
  }),
  deskScenario({
    name: "deadline-stands-still",
    shows: "the deadline's clock stands still while a person is waited for, and goes on afterwards",
    contacts: [{ principalId: "lead" }],
    program: {
      limits: { deadline: "2h" },
      points: { ask: point({ escalation: [{ principal: "lead", timeout: "30h" }, { principal: "owner" }] }) },
      steps: [
        { id: "before", wait: "30m" },
        gate,
        { id: "after", wait: "30m" },
        sendNote("note"),
        { id: "last", wait: "90m" },
      ],
    },
    acts: [answers({ status: "PARKED", reason: "judgment", hopIndex: 1 }, "proceed")],
  }),
  deskScenario({
    name: "result-too-large",
    shows: "a result beyond its bound is left out, and the job succeeds",
    program: { steps: [getItem("item")], result: { text: { $ref: "steps.item.text" } } },
    answers: { "GET /items/item": [{ status: 200, body: { id: "item", text: "x".repeat(17_000) } }] },
  }),
];
