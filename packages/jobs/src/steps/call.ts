import { isObject } from "@svc/core";
import { type CallStep, type JsonObject, type JsonValue, valueAt } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { ProgressOf } from "../state/progress.ts";
import { fillCall, undoOf } from "./arguments.ts";
import type { Invocation, StepEffects } from "./effects.ts";
import { type CallFault, firstTurn, type Invoked, invoke, newTally, toolOf } from "./invoke.ts";
import { systemQuestion } from "./questions.ts";
import type { FirstCall, Retry, StepAt, StepKind } from "./step-kind.ts";

/** A tool call: the whole of it in one act, or, where its answer becomes rows, an act a page. */
export const callKind: StepKind<"call"> = {
  needs: "commit",
  set: "in",
  firstCall,
  advance: advanceCall,
  retried: retriedCall,
  answer: ({ instruction, step }, { decision }) => {
    const state = decision.continuation === "skip" ? "skipped" : "completed";
    return { edits: [{ kind: "finish", stepId: step.id, state, to: instruction.next }], next: { kind: "on" } };
  },
};

/** The most of an answer that is kept as the value of a step. */
const valueBytesMax = 65_536;

/** The call of the next page, or of the whole step, filled in. */
function invocationOf({ state, step, progress }: StepAt<"call">): Invocation | { readonly fault: CallFault } {
  const filled = fillCall(step, state.scope, state.stepArgs);
  if ("fault" in filled) return filled;
  const page = progress?.page;
  const args =
    page === undefined || step.rows?.page === undefined
      ? filled.args
      : { ...filled.args, [step.rows.page.arg]: page.token };
  const place = { stepId: step.id, ordinal: page?.pages ?? 0, callId: step.id };
  const generation = progress?.generation ?? state.generation;
  return { call: step, place, args, generation, appGeneration: progress?.appGeneration ?? generation };
}

/** A call that was cut short is made under the same key, one that failed under another; one in doubt only where that is wanted. */
function retriedCall(
  { state, progress }: StepAt<"call"> & { readonly progress: ProgressOf<"call"> },
  { generation: before, resendsUnknown }: Retry,
): ProgressOf<"call"> | undefined {
  const { askId, hasFailed, retry: _retry, isInDoubt: _isInDoubt, ...kept } = progress;
  const generation = kept.generation ?? before;
  // The one question that a call asks is whether its write was carried out.
  if (askId !== undefined) {
    const { generation: _before, ...begun } = kept;
    return resendsUnknown ? { ...begun, appGeneration: kept.appGeneration ?? generation } : { ...kept, isInDoubt: true };
  }
  if (hasFailed !== true) {
    const { askId: _none, ...cut } = progress;
    return { ...cut, generation };
  }
  // Rows of an answer that could not be taken would be taken twice.
  const hasAnswered = !/^[a-z]/.test(state.lastError);
  return hasAnswered ? undefined : { kind: "call", stepId: progress.stepId, ...(kept.page && { page: kept.page }) };
}

function firstCall(at: StepAt<"call">): FirstCall | undefined {
  if (at.progress?.isInDoubt === true) return undefined;
  const invocation = invocationOf(at);
  if ("fault" in invocation) return undefined;
  const turn = firstTurn(at.state, invocation, at.progress?.retry?.attempts ?? 0);
  return turn && { invocation, turn };
}

async function advanceCall(at: StepAt<"call">, effects: StepEffects): Promise<Change> {
  const { state, step, progress } = at;
  if (progress?.isInDoubt === true) return doubt(step, lostBefore, []);
  const invocation = invocationOf(at);
  if ("fault" in invocation) return failed(step, [], invocation.fault);
  const tally = newTally();
  const attempts = progress?.retry?.attempts ?? 0;
  const invoked = await invoke(invocation, { state, tally, effects, attempts });
  const edits: Edit[] = [
    { kind: "use", used: tally.used },
    { kind: "calls", stepId: step.id, calls: tally.calls },
  ];
  if (tally.calls.retried > 0) {
    const payload = { toolSlug: step.tool, times: tally.calls.retried };
    edits.push({ kind: "note", note: { type: "call-retried", stepId: step.id, payload } });
  }
  return takeAnswer(at, effects, invoked, edits);
}

function takeAnswer(at: StepAt<"call">, effects: StepEffects, invoked: Invoked, edits: readonly Edit[]): Change {
  const { step, progress = { kind: "call", stepId: step.id } } = at;
  switch (invoked.kind) {
    case "ok":
      return step.rows === undefined
        ? keepAnswer(at, invoked.value, edits)
        : keepRows(at, step.rows, invoked.value, edits);
    case "failed":
      return failed(step, edits, toldOf(step, invoked.fault));
    case "unknown":
      return doubt(step, invoked.fault, edits);
    case "limit":
      return { edits, next: { kind: "limit", stepId: step.id, limit: invoked.limit } };
    case "postponed": {
      const dueAt = effects.clock.now() + invoked.waitMs;
      const retry = { attempts: invoked.attempts, dueAt };
      return {
        edits: [...edits, { kind: "progress", progress: { ...progress, retry } }],
        next: { kind: "until", atMs: dueAt },
      };
    }
  }
}

/** What is told of a call's fault. An app that refuses a page may quote the rows of another, which stay inside. */
function toldOf(step: CallStep, fault: CallFault): CallFault {
  return step.rows === undefined ? fault : { ...fault, message: fault.plain };
}

function failed(
  step: CallStep,
  edits: readonly Edit[],
  { code, message }: Pick<CallFault, "code" | "message">,
): Change {
  return { edits, next: { kind: "fail", stepId: step.id, code, message } };
}

function keepAnswer({ state, step, instruction }: StepAt<"call">, value: JsonValue, edits: readonly Edit[]): Change {
  const isRead = toolOf(state, step.tool).action.class === "read";
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > valueBytesMax && isRead) {
    const message = `the answer has ${bytes} bytes; at most ${valueBytesMax} are kept: ask for less, or take it as rows`;
    return failed(step, edits, { code: "ANSWER_TOO_LARGE", message });
  }
  const undo = undoOf(state, { call: step, stepId: step.id, ordinal: 0, scope: { ...state.scope, output: value } });
  const kept: Edit[] = bytes <= valueBytesMax ? [{ kind: "value", stepId: step.id, value }] : [];
  return {
    edits: [
      ...edits,
      ...kept,
      ...(undo === undefined ? [] : [{ kind: "armUndo", entries: [undo] } as const]),
      {
        kind: "finish",
        stepId: step.id,
        state: state.isSimulated && !isRead ? "simulated" : "completed",
        to: instruction.next,
      },
    ],
    next: { kind: "on" },
  };
}

const lostBefore: CallFault = {
  code: "outcome_unknown",
  message: "an earlier attempt at the job sent it, and whether it was carried out is not known",
  plain: "an earlier attempt at the job sent it, and whether it was carried out is not known",
};

/** What stands in doubt is decided by people: the service does not know whether it was done. */
function doubt(step: CallStep, fault: CallFault, edits: readonly Edit[]): Change {
  const { code } = fault;
  const { message } = toldOf(step, fault);
  const text = `Step ${step.id} called ${step.tool}, and whether it was carried out is not known. Treat it as done?`;
  return {
    edits: [
      ...edits,
      { kind: "note", note: { type: "call-in-doubt", stepId: step.id, payload: { toolSlug: step.tool, code } } },
      { kind: "error", stepId: step.id, code, ordinal: 0, message },
    ],
    next: { kind: "ask", question: systemQuestion("in_doubt", step.id, text) },
  };
}

function keepRows(
  { state, step, instruction, progress }: StepAt<"call">,
  spec: NonNullable<CallStep["rows"]>,
  answer: JsonValue,
  edits: readonly Edit[],
): Change {
  const list = valueAt(answer, spec.from) ?? [];
  if (!Array.isArray(list)) {
    return failed(step, edits, { code: "ROWS_MISSING", message: `the answer has no list at ${spec.from.join(".")}` });
  }
  if (state.used.rows + list.length > state.loaded.program.limits.rows) {
    return { edits, next: { kind: "limit", stepId: step.id, limit: "rows" } };
  }
  const taken: Edit[] = [...edits, { kind: "fetched", setId: step.id, rows: pick(list, spec.keep) }];
  const pages = (progress?.page?.pages ?? 0) + 1;
  const token = spec.page === undefined ? undefined : valueAt(answer, spec.page.from);
  if (spec.page === undefined || token === undefined || token === null || token === "") {
    return {
      edits: [...taken, { kind: "finish", stepId: step.id, state: "completed", to: instruction.next }],
      next: { kind: "on" },
    };
  }
  if (pages >= spec.page.max) {
    return failed(step, taken, { code: "PAGE_LIMIT", message: `${pages} pages were fetched and there are more` });
  }
  return {
    edits: [
      ...taken,
      { kind: "progress", progress: { kind: "call", stepId: step.id, page: { token, pages } } },
      { kind: "logProgress", stepId: step.id, counts: { pages } },
    ],
    next: { kind: "commit" },
  };
}

/** The kept fields of each item; of one that is no object, `value`. */
function pick(items: readonly JsonValue[], keep: readonly string[]): JsonObject[] {
  return items.map((item) => {
    const fields: JsonObject = isObject(item) ? item : { value: item };
    return Object.fromEntries(
      keep.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] as JsonValue]] : [])),
    );
  });
}
