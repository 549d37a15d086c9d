import type { Scripted } from "@svc/testing/desk";
import type { Scenario } from "../record-history.ts";
import { answers, deskScenario, getItem, listItems, point, sendEach, sendKeyed, sendNote, undo } from "./desk.ts";

const asked = { status: "PARKED", reason: "judgment", stepId: "each" };
const sum = { id: "sum", reduce: "each", as: { all: "count", ok: "count ok", failed: "count failed" } };
const failing = (...rows: readonly string[]) => answersTo(rows, { status: 400, body: { error: { message: "no" } } });
const breaking = (...rows: readonly string[]) => answersTo(rows, "broken");

function answersTo(rows: readonly string[], ...given: readonly (Scripted | "usual")[]) {
  return Object.fromEntries(rows.flatMap((row) => ["notes", "keyed"].map((path) => [`POST /${path} ${row}`, given])));
}

const rowsPoint = (...continuations: readonly string[]) => point({ continuations });
const keyedEach = (changes: object = {}) =>
  sendEach({ do: [sendKeyed("note", { args: { text: { $ref: "row.id" } } })], ...changes });

/** Row sets, and what is made of them. */
export const rowScenarios: readonly Scenario[] = [
  deskScenario({
    name: "rows-reduced",
    shows: "pages of rows, two filters, and every reduction, also of nothing",
    items: 26,
    pageSize: 10,
    program: {
      params: { least: 7.0 },
      steps: [
        listItems(),
        { id: "some", filter: "items", where: "row.n >= params.least" },
        { id: "none", filter: "some", where: "row.n < 0.0" },
        { id: "sums", reduce: "some", as: { rows: "count", sum: "sum n", min: "min n", max: "max n", avg: "avg n" } },
        {
          id: "nothing",
          reduce: "none",
          as: { rows: "count", sum: "sum n", min: "min n", max: "max n", avg: "avg n" },
        },
      ],
      result: {
        of: { $ref: "rows.items" },
        sum: { $ref: "steps.sums.sum" },
        min: { $ref: "steps.sums.min" },
        max: { $ref: "steps.sums.max" },
        avg: { $ref: "steps.sums.avg" },
        nothing: { $ref: "steps.nothing.avg" },
      },
    },
  }),
  deskScenario({
    name: "rows-postponed",
    shows: "a page that an app asks to come back for later",
    items: 9,
    pageSize: 4,
    program: { steps: [listItems({ retry: { max: 2, initial: "1s" } }), sendEach()] },
    answers: { "GET /items 4": [{ status: 429, headers: { "retry-after": "20" } }, "usual"] },
  }),
  deskScenario({
    name: "rows-page-limit",
    shows: "a page token that is left over fails its step",
    items: 9,
    pageSize: 2,
    program: {
      steps: [listItems({ rows: { from: "items[]", keep: ["id"], page: { arg: "page", from: "next", max: 2 } } })],
    },
  }),
  deskScenario({
    name: "rows-plain",
    shows: "items that are no objects are rows of one field",
    program: {
      steps: [
        listItems({ rows: { from: "items[]", keep: ["value"] } }),
        sendEach({ do: [sendNote("note", { args: { text: { $text: "{row.value}" } } })] }),
      ],
    },
    answers: { "GET /items": [{ status: 200, body: { items: ["a", "b"] } }] },
  }),
  deskScenario({
    name: "rows-missing",
    shows: "an answer without its list has no rows",
    program: { steps: [listItems(), sendEach(), sum], result: { all: { $ref: "steps.sum.all" } } },
    answers: { "GET /items": [{ status: 200, body: {} }] },
  }),
  deskScenario({
    name: "rows-no-list",
    shows: "an answer with something else in the place of its list fails its step",
    program: { steps: [listItems()] },
    answers: { "GET /items": [{ status: 200, body: { items: "none" } }] },
  }),
  deskScenario({
    name: "filter-failed",
    shows: "an expression that cannot be computed for a row fails its step",
    program: { steps: [listItems(), { id: "some", filter: "items", where: "row.n > 1.0" }] },
    answers: { "GET /items": [{ status: 200, body: { items: [{ id: "a", n: 3 }, { id: "b" }] } }] },
  }),
  deskScenario({
    name: "map-calls",
    shows: "two calls for each row, the second with the answer of the first",
    items: 5,
    program: {
      steps: [
        listItems(),
        sendEach({
          concurrency: 3,
          do: [
            getItem("read", { args: { id: { $ref: "row.id" } } }),
            sendNote("note", { args: { text: { $text: "{calls.read.text} {row.n}" } } }),
          ],
        }),
        sum,
      ],
      result: { ok: { $ref: "steps.sum.ok" } },
    },
  }),
  deskScenario({
    name: "map-chunks",
    shows: "more rows than one commit holds",
    items: 57,
    program: {
      steps: [
        listItems(),
        sendEach({ concurrency: 8, do: [getItem("read", { args: { id: { $ref: "row.id" } } })] }),
        sum,
      ],
      result: { ok: { $ref: "steps.sum.ok" } },
    },
  }),
  deskScenario({
    name: "map-tolerated",
    shows: "failed rows within both bounds of what is tolerated",
    program: { steps: [listItems(), sendEach({ tolerate: { count: 2, percent: 40 } }), sum] },
    answers: failing("i1", "i4"),
  }),
  deskScenario({
    name: "map-arguments-missing",
    shows: "a row that lacks what an argument names fails, and no call is made for it",
    program: {
      steps: [listItems(), sendEach({ tolerate: { count: 1, percent: 50 } }), sum],
      result: { failed: { $ref: "steps.sum.failed" } },
    },
    answers: { "GET /items": [{ status: 200, body: { items: [{ id: "a" }, { n: 1 }, { id: "c" }] } }] },
  }),
  deskScenario({
    name: "map-postponed",
    shows: "rows that an app asks to come back for later, beside others that go on",
    program: {
      steps: [
        listItems(),
        sendEach({
          do: [
            getItem("read", { args: { id: { $ref: "row.id" } }, retry: { max: 2, initial: "1s" } }),
            sendNote("note", { args: { text: { $ref: "row.id" } }, retry: { max: 2, initial: "10s", factor: 2 } }),
          ],
        }),
        sum,
      ],
    },
    answers: {
      "GET /items/i2": [{ status: 429, headers: { "retry-after": "15" } }, "usual"],
      ...answersTo(["i1", "i3"], { status: 429, headers: { "retry-after": "40" } }, { status: 429 }, "usual"),
    },
  }),
  deskScenario({
    name: "map-keyed-retried",
    shows: "rows whose keyed write fails or breaks and is repeated under its key",
    items: 4,
    program: {
      steps: [
        listItems(),
        keyedEach({
          do: [sendKeyed("note", { args: { text: { $ref: "row.id" } }, retry: { max: 3, initial: "1s" } })],
        }),
        sum,
      ],
    },
    answers: {
      ...answersTo(["i1"], { status: 500 }, "usual"),
      ...answersTo(["i2"], "timeout", { status: 502 }, "usual"),
    },
  }),
  deskScenario({
    name: "map-failed-retried",
    shows: "failed rows beyond what is tolerated: asked twice, tried again, then skipped",
    program: {
      points: { rows: rowsPoint("proceed", "retry-with", "skip", "abort") },
      steps: [
        listItems(),
        sendEach({
          onRows: { failed: "rows" },
          do: [
            getItem("read", { args: { id: { $ref: "row.id" } } }),
            sendNote("note", { args: { text: { $ref: "row.id" } } }),
          ],
        }),
        sum,
      ],
      result: { ok: { $ref: "steps.sum.ok" }, failed: { $ref: "steps.sum.failed" } },
    },
    answers: {
      ...answersTo(["i1"], { status: 400 }, "usual"),
      ...failing("i4"),
      "GET /items/i5": [{ status: 404 }, "usual"],
    },
    acts: [answers(asked, "retry-with"), answers(asked, "skip")],
  }),
  deskScenario({
    name: "map-failed-overridden",
    shows: "failed rows tried again with arguments that the answer brings",
    program: {
      points: {
        rows: point({
          continuations: ["retry-with", "abort"],
          overrides: { target: "steps.note.args" },
          answerSchema: { type: "object", additionalProperties: false, properties: { text: { type: "string" } } },
        }),
      },
      steps: [listItems(), sendEach({ onRows: { failed: "rows" } }), sum],
    },
    answers: failing("i1", "i2"),
    acts: [answers(asked, "retry-with", { overridesJson: '{"text":"instead"}' })],
  }),
  deskScenario({
    name: "map-failed-accepted",
    shows: "failed rows beyond what is tolerated are accepted as failed",
    program: {
      points: { rows: rowsPoint("proceed", "abort") },
      steps: [listItems(), sendEach({ tolerate: { count: 1, percent: 100 }, onRows: { failed: "rows" } }), sum],
      result: { failed: { $ref: "steps.sum.failed" } },
    },
    answers: failing("i0", "i5"),
    acts: [answers(asked, "proceed")],
  }),
  deskScenario({
    name: "map-failed-aborted",
    shows: "failed rows end the job, and what the others did is undone",
    items: 4,
    program: {
      approval: { plan: "never" },
      saga: { on: ["aborted"] },
      points: { rows: rowsPoint("proceed", "abort") },
      steps: [
        listItems(),
        sendEach({
          onRows: { failed: "rows" },
          do: [sendNote("note", { args: { text: { $ref: "row.id" } }, ...undo })],
        }),
      ],
    },
    answers: failing("i2"),
    acts: [answers(asked, "abort")],
  }),
  deskScenario({
    name: "map-failed-unasked",
    shows: "failed rows that no point is named for fail the step",
    program: { steps: [listItems(), sendEach({ tolerate: { count: 1, percent: 100 } }), sendNote("never")] },
    answers: failing("i0", "i5"),
  }),
  deskScenario({
    name: "map-unknown-accepted",
    shows: "rows in doubt are treated as done, and failed ones are asked about after them",
    program: {
      points: { doubt: rowsPoint("proceed", "skip", "abort"), rows: rowsPoint("proceed", "abort") },
      steps: [listItems(), sendEach({ onRows: { unknown: "doubt", failed: "rows" } }), sum],
      result: { ok: { $ref: "steps.sum.ok" }, failed: { $ref: "steps.sum.failed" } },
    },
    answers: { ...breaking("i1", "i4"), ...failing("i2") },
    acts: [answers(asked, "proceed"), answers(asked, "proceed")],
  }),
  deskScenario({
    name: "map-unknown-skipped",
    shows: "rows in doubt are skipped",
    program: {
      points: { doubt: rowsPoint("proceed", "skip", "abort") },
      steps: [listItems(), sendEach({ onRows: { unknown: "doubt" } }), sum],
    },
    answers: breaking("i3"),
    acts: [answers(asked, "skip")],
  }),
  deskScenario({
    name: "map-unknown-aborted",
    shows: "rows in doubt end the job, and what the others did is undone",
    items: 3,
    program: {
      approval: { plan: "never" },
      saga: { on: ["aborted"] },
      points: { doubt: rowsPoint("proceed", "abort") },
      steps: [
        listItems(),
        sendEach({
          onRows: { unknown: "doubt" },
          do: [sendNote("note", { args: { text: { $ref: "row.id" } }, ...undo })],
        }),
      ],
    },
    answers: breaking("i1"),
    acts: [answers(asked, "abort")],
  }),
  deskScenario({
    name: "map-unknown-retried",
    shows: "rows in doubt are sent again under the app's key of the first time",
    program: {
      points: { doubt: rowsPoint("retry-with", "abort") },
      steps: [listItems(), keyedEach({ onRows: { unknown: "doubt" } }), sum],
    },
    answers: answersTo(["i1", "i3"], "timeout", "usual"),
    acts: [answers(asked, "retry-with")],
  }),
  deskScenario({
    name: "map-unknown-unasked",
    shows: "rows in doubt that no point is named for fail the step",
    program: { steps: [listItems(), sendEach({ tolerate: { count: 6, percent: 100 } })] },
    answers: breaking("i3"),
  }),
];
