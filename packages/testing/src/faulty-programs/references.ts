import { ifStep } from "../programs.ts";
import { type FaultyProgram, faulty, get, pause, send } from "./faulty-program.ts";

/**
 * Programs with faults in references. Here, a reference is a part such as `{"$ref": "params.chat"}`, in whose place a job uses a value from
 * elsewhere in the program.
 */
export const faultyReferences: readonly FaultyProgram[] = [
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
      "steps/5/do/0/args/text": { $text: "a", default: "b" },
      "steps/0/args/query": { $ref: "params.note", else: { $ref: "params.calendar" } },
    },
    [
      "MALFORMED /steps/0/args/calendar_id/default",
      "MALFORMED /steps/0/args/query/else",
      "MALFORMED /steps/5/do/0/args/text/default",
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
      "REFERENCE_INVALID /points/sure/question",
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
    "what a step left that may have failed, and an error where there is none",
    {
      "steps/7": {
        ...get("who"),
        onError: {
          do: [send("tell2", { chat_id: "@team", text: { $text: "{steps.who.error.code} {steps.who.username}" } })],
          // biome-ignore lint/suspicious/noThenProperty: programs have the field.
          then: "continue",
        },
      },
      "steps/8": ifStep("look1", "steps.who.id > 0.0", [pause("look2")]),
      "steps/9": ifStep("look3", "has(steps.who.error) && steps.who.error.status >= 500.0", [pause("look4")]),
      "result/who": { $ref: "steps.who.username" },
      "result/why": { $ref: "steps.who.error.reason", else: "" },
      "result/all": { $ref: "steps.plan.error.code", else: "" },
    },
    [
      "REFERENCE_INVALID /steps/7/onError/do/0/args/text",
      "REFERENCE_INVALID /steps/8/if",
      "REFERENCE_INVALID /result/all",
      "REFERENCE_INVALID /result/who",
      "REFERENCE_INVALID /result/why",
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
];
