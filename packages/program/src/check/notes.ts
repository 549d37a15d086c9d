import type { Action } from "@svc/catalog";
import { formatDuration, isObject } from "@svc/core";
import { type JsonObject, pathOf } from "../json.ts";
import { beyondDeadline } from "../limits.ts";
import type { Program } from "../program.ts";
import { parsePath } from "../read/reference.ts";
import { callsOf, ownCallsOf, ownRunsOf, type Step, type StepOf, stepsOf } from "../steps/index.ts";
import { effectOf, type StepCall } from "../steps/parts/tool-call.ts";
import { entriesOf } from "../template.ts";
import { typesOf, walkType } from "../types/schema-type.ts";
import type { Scope } from "../types/scope.ts";
import { constantSpanMs } from "./constants.ts";
import type { Check } from "./context.ts";

/** Adds notes on parts of an accepted program that may not do what the author means. `document`: the parsed text of the program. */
export function noteProgram(program: Program, document: JsonObject, check: Check): void {
  const text = JSON.stringify(document);
  for (const step of stepsOf(program.steps)) if (step.kind === "call") notePages(step, program, text, check);
  for (const call of callsOf(program.steps)) {
    noteAnswer(call, text, check);
    noteOutput(call, text, check);
  }
  noteSaga(program, check);
}

/** Hint: how to read all pages of a list. */
const readAll = 'write "page": {"max": 20} in rows, which reads them all';

/** Adds a note if a call reads only the first page of a list that may have more pages. */
function notePages(call: StepOf<"call">, { steps }: Program, text: string, { actions, faults }: Check): void {
  const { id, tool, rows, pointer } = call;
  const action = actions.get(tool);
  if (rows === undefined || rows.page !== undefined || action?.paging === undefined) return;
  if (takesFirst(call, action, [...stepsOf(steps)], text)) return;
  const message = `reads only the first page: ${tool} returns its list in pages, so rows of later pages are missing from ${id}`;
  const first = `if the first rows are enough, take them with a step such as {"id": "first", "limit": "${id}", "max": 10}`;
  faults.note("PAGES_UNREAD", [...pathOf(pointer), "rows"], message, `${readAll}; or ${first}`);
}

/**
 * True if the program uses only the first few rows of a call's list, and the first page of the list contains all these rows. Further pages
 * then need not be read.
 */
function takesFirst(call: StepOf<"call">, action: Action, steps: readonly Step[], text: string): boolean {
  const readers = steps.filter((step) => {
    return ("source" in step && step.source === call.id) || (step.kind === "join" && step.right === call.id);
  });
  if (readers.length === 0 || new RegExp(String.raw`\brows\.${call.id}\b`).test(text)) return false;
  const size = pageSizeOf(call, action);
  return readers.every((step) => step.kind === "limit" && (size === undefined || step.max <= size));
}

/** Names of arguments that usually set the page size. Used if a tool does not declare its page size argument. */
const sizeNames = ["limit", "page_size", "per_page", "max_results", "count", "size", "first"];

/**
 * Returns the number of rows that the app returns on one page of a list. Returns undefined if neither the call nor its tool says how many.
 */
function pageSizeOf(call: StepCall, { paging, inputSchema }: Action): number | undefined {
  const declared = paging !== undefined && "size" in paging ? paging.size : undefined;
  const name = declared ?? sizeNames.find((one) => "type" in walkType(inputSchema, [one]));
  if (name === undefined) return undefined;
  const [, given] = entriesOf(call.args)?.find(([one]) => one === name) ?? [];
  if (given?.kind === "literal" && typeof given.value === "number") return given.value;
  const argument = walkType(inputSchema, [name]);
  const size = given === undefined && "type" in argument ? argument.type?.["default"] : undefined;
  return typeof size === "number" ? size : undefined;
}

/**
 * Adds a note if a list in an answer is passed on as a whole, although the tool returns the list in pages and only the first page was read.
 */
function noteAnswer({ id, tool, rows, pointer }: StepCall, text: string, { actions, faults }: Check): void {
  const action = actions.get(tool);
  if (rows !== undefined || action?.paging === undefined) return;
  const named = text.matchAll(new RegExp(String.raw`\b(?:steps|calls)\.${id}\.([\w.[\]]+)`, "g"));
  for (const [, path = ""] of named) {
    const parsed = parsePath(path);
    const found = parsed === undefined ? undefined : walkType(action.outputSchema, parsed);
    if (found === undefined || "fault" in found || typesOf(found.type)?.has("array") !== true) continue;
    const message = `returns ${path} of its first page only: ${tool} returns its list in pages`;
    const hint = `read the rows in a separate step, "rows": {"from": "${path}[]", "keep": […], "page": {"max": 20}}, and list or map those`;
    faults.note("PAGES_UNREAD", [...pathOf(pointer), "call"], message, hint);
  }
}

/**
 * Adds a note if a program uses the answer to a write whose tool does not declare its output. A simulation sends no write and takes a sample
 * of the declared output instead, so here it continues with made-up data.
 */
function noteOutput({ id, tool, rows, pointer }: StepCall, text: string, { actions, faults }: Check): void {
  const action = actions.get(tool);
  if (action === undefined || action.class === "read" || declaresOutput(action)) return;
  const isUsed = rows !== undefined || new RegExp(String.raw`\b(?:steps|calls)\.${id}\.`).test(text);
  if (!isUsed) return;
  const message = `uses the answer of ${tool}, which does not declare its output: a simulation sends no write, and continues with made-up data`;
  const hint = "read what you need in a step of its own, or check the parts that depend on the answer in a live run";
  faults.note("OUTPUT_UNDECLARED", [...pathOf(pointer), "call"], message, hint);
}

/** Fields of the result of an MCP server's tool without an output schema, as svc declares them. */
const plainFields = ["text", "data", "parts"];

function declaresOutput({ mcp, outputSchema }: Action): boolean {
  const { properties, anyOf } = outputSchema;
  const fields = isObject(properties) ? Object.keys(properties) : [];
  const isPlain =
    mcp !== undefined && fields.length === plainFields.length && plainFields.every((name) => fields.includes(name));
  return anyOf !== undefined || (fields.length > 0 && !isPlain);
}

/**
 * Adds a note if a program declares a saga (undoing its calls after a failure), but none of its calls has an undo. A program that runs a
 * skill gets no note, because calls of the skill may have an undo.
 */
function noteSaga({ steps, sagaOn }: Program, { faults }: Check): void {
  if (sagaOn.length === 0) return;
  const isUndone = [...stepsOf(steps)].some((step) => {
    return ownRunsOf(step).length > 0 || ownCallsOf(step).some(({ undo }) => undo !== undefined);
  });
  if (isUndone) return;
  const hint = "give each call that writes an undo, or leave saga out";
  faults.note("SAGA_UNDOES_NOTHING", ["saga"], "undoes nothing, because no call has an undo", hint);
}

/** True if a step itself makes a call that writes, or runs a skill that may write. Steps inside the step are not included. */
export function mayWrite(step: Step, { actions, skills }: Check): boolean {
  const isWriting = ownCallsOf(step).some((call) => (effectOf(call, actions)?.access ?? "read") !== "read");
  return isWriting || ownRunsOf(step).some((name) => skillWrites(name, skills));
}

function skillWrites(name: string, skills: Check["skills"]): boolean {
  const skill = skills.get(name);
  return skill !== undefined && "mayWrite" in skill && skill.mayWrite;
}

/**
 * Waits of a part of a program, in milliseconds. `leastMs`: sum of the waits that happen on every path. `mostMs`: sum on the path with the
 * longest waits.
 */
type WaitTimes = { readonly leastMs: number; readonly mostMs: number };

const none: WaitTimes = { leastMs: 0, mostMs: 0 };

/**
 * A function that returns how long a step itself waits, in milliseconds. Waits of the steps inside it are not included. The result is 0 if
 * the duration is unknown.
 */
type OwnMs = (step: Step) => number;

/**
 * Reports a fault if the waits of a program take longer than its deadline allows. All waits on one path through the program are added up. A
 * single wait of fixed length was already compared with the deadline when the program was read.
 */
export function checkWaits({ steps, limits: { deadlineMs } }: Program, scope: Scope, { faults }: Check): void {
  const spans = new Map<Step, number>();
  for (const step of stepsOf(steps)) {
    if (step.kind !== "wait") continue;
    const { wait, pointer } = step;
    const untilMs = "until" in wait && wait.until.kind === "computed" && constantSpanMs(wait.until.expression, scope);
    spans.set(step, "forMs" in wait ? wait.forMs : untilMs || 0);
    if (!untilMs || untilMs <= deadlineMs || faults.has("/limits/deadline")) continue;
    const [message, hint] = beyondDeadline(untilMs, deadlineMs);
    faults.addYounger("PROGRAM_LIMIT_INVALID", [...pathOf(pointer), "wait", "until"], message, hint);
  }
  const { mostMs } = waitedOfList(steps, (step) => spans.get(step) ?? 0);
  const isTold = [...spans.values()].some((ms) => ms > deadlineMs);
  if (mostMs <= deadlineMs || faults.has("/limits/deadline") || isTold) return;
  const message = `limits.deadline is ${formatDuration(deadlineMs)}, but the waits of one path through the steps take ${formatDuration(mostMs)} together`;
  const hint =
    "shorten them, or raise limits.deadline above that sum: otherwise the job expires before the last wait ends";
  faults.addYounger("PROGRAM_LIMIT_INVALID", ["limits", "deadline"], message, hint);
}

/**
 * Returns the shortest and the longest total wait of a list of steps. The longest total contains the waits of all unconditional steps, and
 * of the one conditional step that waits longest. Waits of two conditional steps are not added, because their conditions may exclude each
 * other. So a wait is reported only if a job can really have to wait that long.
 */
function waitedOfList(steps: readonly Step[], ownMs: OwnMs): WaitTimes {
  const each = steps.map((step) => waitedOfStep(step, ownMs));
  const leastMs = each.reduce((sum, waited) => sum + waited.leastMs, 0);
  return { leastMs, mostMs: leastMs + Math.max(0, ...each.map((waited) => waited.mostMs - waited.leastMs)) };
}

function waitedOfStep(step: Step, ownMs: OwnMs): WaitTimes {
  const own = waitedInside(step, ownMs);
  const handled = step.onError === undefined ? none : waitedOfList(step.onError.steps, ownMs);
  const leastMs = step.when === undefined && step.onError === undefined ? own.leastMs : 0;
  return { leastMs, mostMs: Math.max(own.mostMs, handled.mostMs) };
}

function waitedInside(step: Step, ownMs: OwnMs): WaitTimes {
  switch (step.kind) {
    case "if": {
      const [yes, no] = [waitedOfList(step.whenTrue, ownMs), waitedOfList(step.whenFalse, ownMs)];
      return { leastMs: Math.min(yes.leastMs, no.leastMs), mostMs: Math.max(yes.mostMs, no.mostMs) };
    }
    case "parallel": {
      const branches = step.branches.map((branch) => waitedOfList(branch.steps, ownMs));
      return {
        leastMs: Math.max(0, ...branches.map(({ leastMs }) => leastMs)),
        mostMs: Math.max(0, ...branches.map(({ mostMs }) => mostMs)),
      };
    }
    case "until":
      // The inner steps of an `until` step run at least once, so the shortest wait contains the waits of one round.
      return waitedOfList(step.body, ownMs);
    default:
      return { leastMs: ownMs(step), mostMs: ownMs(step) };
  }
}
