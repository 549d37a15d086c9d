import type { AccessClass, Action } from "@svc/catalog";
import type { Check } from "../check/context.ts";
import { type Path, pathOf } from "../json.ts";
import { type ObjectForm, ref, schemaOf } from "../read/form.ts";
import { entriesOf } from "../template.ts";
import { answerTypeOf } from "../types/schema-type.ts";
import { nothing, type RowSet, type StepOutcome } from "../types/scope.ts";
import type { AnyStep, Measure, StepLanguage } from "./language.ts";
import { argumentOfPage, checkPage, checkStart, pageForm } from "./parts/page.ts";
import { type RowsSpec, readRows, rowsForm, setOfRows, tellLists } from "./parts/rows.ts";
import { slugTitle } from "./parts/title.ts";
import {
  callOptions,
  checkToolCall,
  checkUndo,
  readEntity,
  readToolCall,
  readUndo,
  type StepCall,
  toolCallDefinitions,
  undoForm,
} from "./parts/tool-call.ts";
import { noUse, type Use } from "./use.ts";

/** Step kind `call`: makes one tool call. Each call in the `do` of a `map` step has the same form, but must not have the field `rows`. */
export type CallStep = AnyStep & StepCall & { readonly kind: "call" };

const { args, retry, timeout } = callOptions;
const undo = ref("undo");

const form: ObjectForm = {
  description:
    "One tool call. With rows, a list of the answer becomes a row set; without rows, the answer is steps.<id>, at most 64 KiB.",
  required: { call: ref("tool"), entity: ref("entity") },
  optional: { args, rows: ref("rows"), retry, timeout, undo },
  examples: [
    {
      id: "fetch",
      call: "calendar.list_events",
      entity: "ops",
      args: { calendar_id: { $ref: "input.calendar" }, max_results: 250 },
      rows: { from: "items[]", keep: ["id"] },
    },
  ],
};

const formInMap: ObjectForm = {
  description: "One call for each row of a map.",
  required: form.required,
  optional: { args, retry, timeout, undo },
  examples: [
    {
      id: "send",
      call: "messaging_bot.send_message",
      entity: "ops",
      args: { chat_id: "@team", text: { $text: "Please confirm: {row.summary}" } },
    },
  ],
};

/** Definition of the step kind `call`: its fields, and how svc reads and checks such a step and estimates its calls, rows and questions. */
export const callLanguage: StepLanguage<CallStep> = {
  form,
  formInMap,
  refusedInItself: undefined,
  takesOnError: true,
  definitions: {
    ...toolCallDefinitions,
    undo: schemaOf(undoForm),
    rows: schemaOf(rowsForm),
    page: schemaOf(pageForm),
  },
  named: { value: "calls", set: "a call with rows", row: undefined },

  read({ id, pointer, when }, fields, { reader }) {
    const call = readToolCall(fields, pointer, reader);
    const entity = readEntity(fields.at("entity"), reader);
    const rows = fields.has("rows") ? readRows(fields.at("rows"), reader) : undefined;
    const undone = fields.has("undo") ? readUndo(fields.at("undo"), reader, entity) : undefined;
    if (rows?.page !== undefined && undone !== undefined) {
      const hint = "leave out one of the two: with rows.page, svc makes the call once for each page";
      reader.faults.add("PROGRAM_MALFORMED", fields.at("undo").path, "is not allowed next to rows.page", hint);
    }
    const given = { value: call && entriesOf(call.args), path: fields.at("args").path };
    checkStart(fields.at("rows"), rows?.page, given, reader);
    return call && { kind: "call", id, when, ...call, entity, rows, undo: undone };
  },

  check(call, { scope, check }) {
    const given = argumentOfPage(call.rows?.page, check.view.tools.get(call.tool));
    const action = checkToolCall(call, given, scope, check);
    if (call.undo !== undefined) checkUndo(call, call.undo, action?.outputSchema, scope, check);
    const answer: StepOutcome = { ...nothing, value: { type: action && answerTypeOf(action) } };
    const set = setOf(call, action, check);
    // The step leaves its answer as a value, and no set of rows. This is true for every call inside a `map` step (`scope.calls`), because
    // later calls for the row use its answer. A field `rows` in such a call is reported elsewhere.
    if (set === undefined || scope.calls !== undefined) return { own: answer, inner: [] };
    // The step leaves a set of rows. If its field `rows` could not be read, the author may have wanted a value or a set, so later steps may
    // use both without a second fault.
    return {
      own: call.rows === undefined ? { ...nothing, value: { type: undefined }, set } : { ...nothing, set },
      inner: [],
    };
  },

  title: ({ tool }) => slugTitle(tool),
  lists: () => [],
  calls: (call) => [call],
  asks: () => [],
  estimate: useOfCall,
};

/**
 * Returns the maximum that a call step may use: numbers of calls, writes and rows. Retries, and the calls for further pages of a list, are
 * included.
 */
export function useOfCall(call: StepCall, { isRepeating, rowsMax, classOf }: Omit<Measure<never>, "list">): Use {
  const { rows, retry } = call;
  const times = (rows?.page?.max ?? 1) * (isRepeating ? 1 + retry.max : 1);
  return { ...useOfCalls(times, classOf(call)), rowsMax: rows === undefined ? 0 : rowsMax };
}

/**
 * Returns the fields and types of the rows that later steps can read from a call's result. Returns "any" if `rows` has an error, and
 * undefined if the call has no `rows`.
 */
function setOf({ rows, pointer }: CallStep, action: Action | undefined, check: Check): RowSet | "any" | undefined {
  const hasRows = check.faults.has(`${pointer}/rows`);
  if (rows === undefined) {
    if (!hasRows) return undefined;
    if (action !== undefined) tellLists([...pathOf(pointer), "rows"], action, check);
    return "any";
  }
  if (action === undefined || check.faults.has(`${pointer}/rows/keep`)) return "any";
  return checkRows(rows, [...pathOf(pointer), "rows"], action, check);
}

/** Returns how many calls and writes a step can make if it calls its tool 1 to `count` times. `access`: access class of the tool. */
function useOfCalls(count: number, access: AccessClass): Use {
  return {
    ...noUse,
    callsMin: 1,
    callsMax: count,
    writesMax: access === "read" ? 0 : count,
    destructiveMax: access === "destructive" ? count : 0,
  };
}

/**
 * Checks `rows` against the output schema of the tool. Returns the type of the set of rows that the tool call makes. Records every fault.
 */
function checkRows(rows: RowsSpec, path: Path, action: Action, check: Check): RowSet | "any" {
  if (rows.page !== undefined) checkPage(rows.page, [...path, "page"], action, check);
  return setOfRows(rows, path, { slug: action.slug, outputSchema: answerTypeOf(action) }, check);
}
