import type { Scenario } from "../record-history.ts";
import { answers, branch, deskScenario, getItem, listItems, sendEach, sendKeyed, sendNote } from "./desk.ts";

const inDoubt = { status: "PARKED", reason: "in_doubt" };
const doubtful = {
  steps: [getItem("first"), sendNote("doubtful"), getItem("second"), sendNote("last")],
  result: { doubtful: { $ref: "steps.doubtful.id", else: null } },
};

/** Calls without rows, branches and waits. */
export const callScenarios: readonly Scenario[] = [
  deskScenario({
    name: "call-value",
    shows: "a read, a write that uses its answer, and a result",
    program: {
      steps: [getItem("item"), sendNote("note", { args: { text: { $text: "{steps.item.text} of {input.for}" } } })],
      inputSchema: { type: "object", properties: { for: { type: "string" } } },
      input: { for: "everybody" },
      result: { note: { $ref: "steps.note.id", else: null }, item: { $ref: "steps.item.id" } },
    },
  }),
  deskScenario({
    name: "call-keyed-retried",
    shows: "a write with a key of the app: it fails, its connection breaks, and it is done once",
    program: { steps: [sendKeyed("keyed", { retry: { max: 3, initial: "1s" } })] },
    answers: { "POST /keyed": [{ status: 500 }, "broken", "usual"] },
  }),
  deskScenario({
    name: "call-read-retried",
    shows: "a read that fails twice and is tried again at once",
    program: { steps: [getItem("item", { retry: { max: 3, initial: "1s" } }), sendNote("note")] },
    answers: { "GET /items/item": [{ status: 500 }, { status: 500 }, "usual"] },
  }),
  deskScenario({
    name: "call-postponed",
    shows: "calls that an app asks to come back for later: the job gives way meanwhile",
    program: {
      steps: [
        getItem("item", { retry: { max: 2, initial: "1s" } }),
        sendNote("note", { retry: { max: 2, initial: "1s" } }),
        sendKeyed("keyed", { retry: { max: 4, initial: "5s", factor: 3 } }),
      ],
    },
    answers: {
      "GET /items/item": [{ status: 429, headers: { "retry-after": "30" } }, "usual"],
      "POST /notes": [{ status: 429, headers: { "retry-after": "60" } }, "usual"],
      "POST /keyed": [{ status: 503 }, { status: 503 }, { status: 502 }, "usual"],
    },
  }),
  deskScenario({
    name: "call-failed",
    shows: "a call that the app refuses ends the job",
    program: { steps: [sendNote("note"), getItem("item"), sendNote("never")] },
    answers: { "GET /items/item": [{ status: 404, body: { error: { message: "there is no such item" } } }] },
  }),
  deskScenario({
    name: "call-arguments-missing",
    shows: "an argument whose source is absent fails its step",
    program: { steps: [getItem("item"), sendNote("note", { args: { text: { $ref: "steps.item.text" } } })] },
    answers: { "GET /items/item": [{ status: 200, body: { id: "item" } }] },
  }),
  deskScenario({
    name: "call-in-doubt-proceed",
    shows: "a write whose answer never came is treated as done",
    program: doubtful,
    answers: { "POST /notes doubtful": ["broken"] },
    acts: [answers(inDoubt, "proceed")],
  }),
  deskScenario({
    name: "call-in-doubt-skip",
    shows: "a write whose answer never came is skipped",
    program: doubtful,
    answers: { "POST /notes doubtful": ["timeout"] },
    acts: [answers(inDoubt, "skip", { note: "look into it" })],
  }),
  deskScenario({
    name: "call-in-doubt-abort",
    shows: "a write whose answer never came ends the job",
    program: doubtful,
    answers: { "POST /notes doubtful": ["broken"] },
    acts: [answers(inDoubt, "abort")],
  }),
  deskScenario({
    name: "call-answer-too-large",
    shows: "an answer beyond what is kept as a value fails its step",
    program: { steps: [getItem("item")] },
    answers: { "GET /items/item": [{ status: 200, body: { id: "item", text: "x".repeat(66_000) } }] },
  }),
  deskScenario({
    name: "call-digits",
    shows: "numbers of more digits than a double holds pass through rows and values unharmed",
    program: {
      steps: [
        listItems(),
        sendEach({ do: [sendNote("note", { args: { text: { $text: "{row.n}" } } })] }),
        sendNote("last", { args: { text: { $text: "{rows.each} rows" } } }),
      ],
    },
    answers: { "GET /items": [{ status: 200, body: { items: digits() } }] },
  }),
  deskScenario({
    name: "if-branches",
    shows: "both branches of an if, and values of a branch that was not taken",
    program: {
      params: { many: 4.0 },
      steps: [
        listItems(),
        branch("any", "rows.items >= params.many", [sendNote("yes"), getItem("more")], [sendNote("no")]),
        branch(
          "none",
          "rows.items < params.many",
          [sendNote("fewer")],
          [{ id: "pause", wait: "1m" }, sendNote("enough")],
        ),
        branch("neither", "false", [sendNote("nothing")]),
        sendNote("after", { args: { text: { $text: "after {rows.items}" } } }),
      ],
      result: { yes: { $ref: "steps.yes.id", else: "-" }, fewer: { $ref: "steps.fewer.id", else: "-" } },
    },
  }),
  deskScenario({
    name: "if-failed",
    shows: "a condition that cannot be computed fails its step",
    program: {
      steps: [getItem("item"), branch("either", "steps.item.text > 'a'", [sendNote("yes")])],
    },
    answers: { "GET /items/item": [{ status: 200, body: { id: "item" } }] },
  }),
  deskScenario({
    name: "waits",
    shows: "a wait for a time, one until a time, and one whose time is past",
    program: {
      inputSchema: { type: "object", properties: { at: { type: "string" } } },
      input: { at: "2026-01-05T11:00:00Z" },
      steps: [
        sendNote("before"),
        { id: "pause", wait: "10m" },
        sendNote("between"),
        { id: "until", wait: { until: { $ref: "input.at" } } },
        { id: "past", wait: { until: "2026-01-01T00:00:00Z" } },
        sendNote("after"),
      ],
    },
  }),
  deskScenario({
    name: "wait-invalid",
    shows: "a wait until what is no time fails its step",
    program: { steps: [getItem("item"), { id: "until", wait: { until: { $ref: "steps.item.text" } } }] },
  }),
];

function digits(): object[] {
  const json = JSON as JSON & { rawJSON(text: string): unknown };
  return ["9007199254740993", "12345678901234567890"].map((text, index) => ({
    id: `d${index}`,
    n: json.rawJSON(text),
  }));
}
