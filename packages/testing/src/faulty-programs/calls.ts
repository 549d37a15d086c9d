import { type FaultyProgram, faulty, pause, remove } from "./faulty-program.ts";

/** Programs with faults in calls: tools, accounts, arguments, confirmations, undo. */
export const faultyCalls: readonly FaultyProgram[] = [
  faulty(
    "tools that nobody sees",
    {
      "steps/0/call": "calendar.nope",
      "steps/2/then/0/call": "nope.nope",
      "steps/5/do/0/undo/call": "messaging_bot.unsend",
    },
    ["TOOL_UNKNOWN /steps/0/call", "TOOL_UNKNOWN /steps/2/then/0/call", "TOOL_UNKNOWN /steps/5/do/0/undo/call"],
  ),
  faulty(
    "tools that cannot be called",
    {
      "steps/0/call": "calendar.events_changed",
      "steps/2/then/0/call": "skills.weekly",
      "steps/5/do/1/call": "not a slug",
    },
    ["TOOL_NOT_CALLABLE /steps/0/call", "TOOL_NOT_CALLABLE /steps/2/then/0/call", "MALFORMED /steps/5/do/1/call"],
  ),
  faulty(
    "entities without accounts",
    { "steps/0/entity": "nobody", "steps/5/do/0/entity": "nobody", "steps/5/do/1/entity": "" },
    ["ACCOUNT_MISSING /steps/0/entity", "ACCOUNT_MISSING /steps/5/do/0/entity", "MALFORMED /steps/5/do/1/entity"],
  ),
  faulty(
    "arguments that are unknown, missing or of the wrong type",
    {
      "steps/0/args": { calendar: "x", max_results: "many" },
      "steps/2/then/0/args": { verbose: true },
      "steps/5/do/0/args/text": 5,
    },
    [
      "ARGUMENT_INVALID /steps/0/args",
      "ARGUMENT_INVALID /steps/0/args/calendar",
      "ARGUMENT_INVALID /steps/0/args/max_results",
      "ARGUMENT_INVALID /steps/2/then/0/args/verbose",
      "ARGUMENT_INVALID /steps/5/do/0/args/text",
    ],
  ),
  faulty(
    "arguments that break rules between them",
    { "steps/0/args": { calendar_id: { $ref: "params.calendar" }, order_by: "startTime" } },
    ["ARGUMENT_INVALID /steps/0/args"],
  ),
  faulty(
    "literal arguments that break rules between them",
    {
      "steps/0/args": { calendar_id: "primary", order_by: "updated", time_min: "yesterday" },
      "steps/2/then/0/args": [],
    },
    ["ARGUMENT_INVALID /steps/0/args/time_min", "MALFORMED /steps/2/then/0/args"],
  ),
  faulty(
    "sensitive arguments that stand in the program",
    {
      "steps/0": { id: "plan", call: "bank_link.get_item", entity: "ops", args: { access_token: "token-1" } },
      "steps/1": {
        id: "named",
        call: "bank_link.get_item",
        entity: "ops",
        args: { access_token: { $ref: "params.note" } },
      },
      "steps/3": {
        id: "approve",
        call: "bank_link.get_item",
        entity: "ops",
        args: { access_token: { $ref: "input.chat" } },
      },
      "steps/4": pause("check"),
      "steps/5": pause("tell"),
      "steps/2": pause("choice"),
      "steps/6": pause("sum"),
      points: {},
      result: {},
      saga: undefined,
    },
    [
      "SENSITIVE_LITERAL /steps/0/args/access_token",
      "SENSITIVE_LITERAL /steps/1/args/access_token",
      "SENSITIVE_LITERAL /steps/3/args/access_token",
    ],
  ),
  faulty(
    "references of types that arguments cannot take",
    {
      "steps/0/args/max_results": { $ref: "params.note" },
      "steps/5/do/1/args/message_id": { $text: "{row.id}" },
      "steps/5/do/0/args/chat_id": { $ref: "row.start" },
      "steps/5/do/0/args/text": { $ref: "rows.named" },
    },
    [
      "ARGUMENT_INVALID /steps/0/args/max_results",
      "ARGUMENT_INVALID /steps/5/do/0/args/chat_id",
      "ARGUMENT_INVALID /steps/5/do/0/args/text",
      "ARGUMENT_INVALID /steps/5/do/1/args/message_id",
    ],
  ),
  faulty(
    "an else that does not fit",
    {
      "steps/5/do/0/args/chat_id": { $ref: "input.chat", else: 5 },
      "steps/5/do/1/args/message_id": { $ref: "calls.write.message_id", else: "x" },
    },
    ["ARGUMENT_INVALID /steps/5/do/0/args/chat_id/else", "ARGUMENT_INVALID /steps/5/do/1/args/message_id/else"],
  ),
  faulty(
    "destructive calls without the literal",
    {
      "steps/5/do/0/undo/args/confirm": undefined,
      "steps/6": remove({ chat_id: "@team", message_id: 5, confirm: { $ref: "params.yes" } }),
      "result/all": 1,
      "params/yes": true,
      "steps/2/then/0/args": { confirm: true },
    },
    [
      "ARGUMENT_INVALID /steps/2/then/0/args/confirm",
      "CONFIRM_MISSING /steps/5/do/0/undo/args",
      "CONFIRM_MISSING /steps/6/args/confirm",
    ],
  ),
  faulty(
    "undo calls that are wrong",
    {
      "steps/5/do/0/undo/args": {
        chat_id: { $ref: "output.nope" },
        message_id: { $ref: "output.text" },
        confirm: true,
        force: true,
      },
      "steps/5/do/1/undo": {
        call: "messaging_bot.delete_message",
        entity: "nobody",
        args: { chat_id: "@team", message_id: { $ref: "calls.mend.message_id" } },
      },
    },
    [
      "REFERENCE_INVALID /steps/5/do/0/undo/args/chat_id",
      "ARGUMENT_INVALID /steps/5/do/0/undo/args/message_id",
      "ARGUMENT_INVALID /steps/5/do/0/undo/args/force",
      "ACCOUNT_MISSING /steps/5/do/1/undo/entity",
      "CONFIRM_MISSING /steps/5/do/1/undo/args",
    ],
  ),
  faulty(
    "an undo beside pages",
    {
      "steps/0/rows/page": { arg: "page_token", from: "nextPageToken", max: 2 },
      "steps/0/undo": { call: "calendar.list_events" },
    },
    ["MALFORMED /steps/0/undo", "ARGUMENT_INVALID /steps/0/undo"],
  ),
];
