import type { Scripted } from "@svc/testing/desk";
import type { Scenario } from "../record-history.ts";
import {
  answers,
  cancels,
  type DeskRun,
  deskScenario,
  getItem,
  listItems,
  point,
  sendEach,
  sendNote,
  undo,
} from "./desk.ts";

const bad = getItem("bad");
const badAnswer: Readonly<Record<string, readonly (Scripted | "usual")[]>> = { "GET /items/bad": [{ status: 404 }] };
const stuck = { status: "PARKED", reason: "undo_stuck" };
const undone = (id: string) => sendNote(id, undo);
const undoneEach = sendEach({ do: [sendNote("note", { args: { text: { $ref: "row.id" } }, ...undo })] });

function sagaOf({
  program,
  answers: own = {},
  ...run
}: Omit<DeskRun, "program"> & { readonly program?: object }): Scenario {
  const whole = {
    approval: { plan: "never" },
    saga: { on: ["failed", "aborted", "cancelled"] },
    steps: [undone("first"), undone("second"), bad],
    ...program,
  };
  return deskScenario({ program: whole, answers: { ...badAnswer, ...own }, items: 3, ...run });
}

/** What is undone, what cannot be undone, and what is cancelled. */
export const sagaScenarios: readonly Scenario[] = [
  sagaOf({
    name: "saga-failed",
    shows: "a failed step: calls and rows before it are undone, the last first",
    program: { steps: [listItems(), undone("first"), undoneEach, sendNote("kept"), bad] },
  }),
  sagaOf({
    name: "saga-undeclared",
    shows: "an end that the saga is not declared for leaves everything as it is",
    program: { saga: { on: ["cancelled"] } },
  }),
  sagaOf({
    name: "saga-unfilled",
    shows: "an undo whose arguments are absent counts as failed",
    program: { steps: [undone("first"), sendNote("second", undo), bad] },
    answers: { "POST /notes second": [{ status: 200, body: { text: "second" } }] },
  }),
  sagaOf({
    name: "saga-retried",
    shows: "an undo that fails is tried again, at once and later",
    answers: {
      "DELETE /notes/note-second": [{ status: 429 }, { status: 429, headers: { "retry-after": "30" } }, "usual"],
    },
  }),
  sagaOf({
    name: "undo-stuck-left",
    shows: "an undo that does not work is left, and the others go on",
    answers: { "DELETE /notes/note-second": [{ status: 409 }] },
    acts: [answers(stuck, "proceed")],
  }),
  sagaOf({
    name: "undo-stuck-retried",
    shows: "an undo that does not work is tried again, and works",
    answers: { "DELETE /notes/note-second": [{ status: 409 }, "usual"] },
    acts: [answers(stuck, "retry-with")],
  }),
  sagaOf({
    name: "undo-stuck-aborted",
    shows: "an undo that is in doubt stops the undoing",
    answers: { "DELETE /notes/note-second": ["broken"] },
    acts: [answers(stuck, "abort")],
  }),
  sagaOf({
    name: "undo-stuck-cancelled",
    shows: "a job whose undo does not work is cancelled",
    answers: { "DELETE /notes/note-second": [{ status: 409 }] },
    acts: [cancels(stuck)],
  }),
  sagaOf({
    name: "cancel-running",
    shows: "a job is cancelled while a write is under way, and what it did is undone",
    program: { steps: [undone("first"), undone("second"), sendNote("never")] },
    acts: [cancels({ tool: "desk.send_note", before: 1 })],
  }),
  sagaOf({
    name: "cancel-map",
    shows: "a job is cancelled in the middle of a map",
    items: 5,
    // One row after the other: which of them are begun before the driver looks up is else a race.
    program: { steps: [listItems(), { ...undoneEach, concurrency: 1 }, sendNote("never")] },
    acts: [cancels({ tool: "desk.send_note", before: 2 })],
  }),
  sagaOf({
    name: "cancel-pages",
    shows: "a job that has done nothing is cancelled between two pages",
    program: { steps: [listItems(), sendNote("never")] },
    items: 6,
    pageSize: 2,
    acts: [cancels({ tool: "desk.list_items", before: 1 })],
  }),
  sagaOf({
    name: "cancel-compensating",
    shows: "a job that undoes already is cancelled: the undoing goes on",
    acts: [cancels({ tool: "desk.delete_note" })],
  }),
  sagaOf({
    name: "cancel-queued",
    shows: "a job is cancelled before anything was done",
    acts: [cancels("submitted")],
  }),
  sagaOf({
    name: "cancel-parked",
    shows: "a job is cancelled while a person is asked: the question is withdrawn, and what was done is undone",
    program: { points: { ask: point() }, steps: [undone("first"), { id: "gate", judge: "ask" }, sendNote("never")] },
    acts: [cancels({ status: "PARKED", reason: "judgment" })],
  }),
  sagaOf({
    name: "cancel-waiting",
    shows: "a job is cancelled while it waits, without a saga for that",
    program: { saga: { on: ["failed"] }, steps: [undone("first"), { id: "pause", wait: "10m" }, sendNote("never")] },
    acts: [cancels({ status: "PARKED", reason: "wait" })],
  }),
];
