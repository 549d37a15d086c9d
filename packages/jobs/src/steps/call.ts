import { type CallStep, type JsonValue, type MapCall, valueAt } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { StepProgress } from "../state/progress.ts";
import { fillCall, undoOf } from "./arguments.ts";
import { argumentsOfStep, type CalledAt, leftPages, pagingOfStep, turnPageOfStep } from "./call-pages.ts";
import type { CallTurn, Invocation, StepEffects } from "./effects.ts";
import { type CallFault, type InvokeResult, invoke, newTally, toolOf, withheldEdits } from "./invoke.ts";
import { systemQuestion } from "./questions.ts";
import { newRowsOf } from "./set-source.ts";
import { unsentWrite } from "./simulated-call.ts";
import type { CallAt, FirstCall, JobRetry, RetriedAt, SettledQuestion, StepKind } from "./step-kind.ts";

/**
 * Step kind `call`: makes one tool call. If the tool's answer becomes rows (records that the job processes), the step makes one call for
 * each page of the list. The result of each page is committed before the next page.
 */
export const callKind = {
  needs: "commit",
  set: "in",
  firstCall,
  advance: advanceCall,
  retried: retriedCall,
  answer: answerDoubt,
} satisfies StepKind<"call"> & StepKind<"http">;

type RetriedCallAt = RetriedAt<"call"> | RetriedAt<"http">;

/** Largest answer that is kept as the value of a step, in bytes. */
const valueBytesMax = 65_536;

/**
 * Returns the next tool call of a step, with its arguments filled in. If the step reads a list in pages, it is the call for the next page.
 * Returns the fault if the arguments cannot be filled in.
 */
async function invocationOf(
  { state, step, progress }: CallAt,
  effects: Pick<StepEffects, "compute">,
): Promise<Invocation | { readonly fault: CallFault }> {
  const filled = await fillCall(
    step,
    { scope: state.scope, stepArgs: state.stepArgs, inputSchema: toolOf(state, step).action.inputSchema },
    effects,
  );
  if ("fault" in filled) return filled;
  const page = progress?.page;
  const paging = step.rows?.page === undefined ? undefined : pagingOfStep({ state, step });
  const { secretUses } = filled;
  const args = paging === undefined ? filled.args : argumentsOfStep(step, filled.args, { paging, page });
  const place = { stepId: step.id, ordinal: page?.pages ?? 0, callId: step.id };
  const generation = progress?.generation ?? state.generation;
  return { call: step, place, args, secretUses, generation, appGeneration: progress?.appGeneration ?? generation };
}

/**
 * Returns the progress with which a retry continues the call. An interrupted call is repeated with the same key, a failed call with a new
 * key. A call in doubt (executed or not) is repeated only if the retry requests it.
 */
function retriedCall(at: RetriedCallAt, { generation: before, resendsUnknown }: JobRetry): StepProgress | undefined {
  const { askId, hasFailed, ...cut } = at.progress;
  const { generation = before, retry: _retry, isInDoubt: _isInDoubt, ...kept } = cut;
  // A step with one call asks only one kind of question: if a write in doubt (executed or not) counts as done. So a pending ask shows that
  // a write is in doubt.
  if (askId !== undefined || (hasFailed === true && hasWritten(at))) {
    const { appGeneration = generation } = kept;
    return resendsUnknown ? { ...kept, appGeneration } : { ...kept, generation, isInDoubt: true };
  }
  if (hasFailed !== true) {
    if (cut.retry === undefined) return { ...cut, generation };
    // A retry asks the server of a withheld call at once.
    const { withheld: _withheld, ...retry } = cut.retry;
    return { ...cut, retry, generation };
  }
  // svc could not store the rows of an answer, so the whole step begins again. If it continued at a page, rows of that page could be added
  // twice.
  const { kind, stepId, page } = kept;
  return page === undefined || hasAnswered(at) ? undefined : { kind, stepId, page };
}

/**
 * True if the app answered the call, and the step failed for a different reason. The job's error code shows this: svc's own codes are in
 * capitals, and codes of failed calls begin with a lowercase letter.
 */
function hasAnswered({ state }: RetriedCallAt): boolean {
  return !/^[a-z]/.test(state.lastError);
}

/**
 * True if the app answered the step's write, and the step failed afterwards. The app may then have executed the write, so svc does not send
 * it again by itself.
 */
function hasWritten(at: RetriedCallAt): boolean {
  const { write = 0, destructive = 0 } = at.state.steps.get(at.step.id)?.receipt.calls ?? {};
  return hasAnswered(at) && write + destructive > 0;
}

async function firstCall(at: CallAt, effects: Pick<StepEffects, "compute">): Promise<FirstCall | undefined> {
  if (at.progress?.isInDoubt === true) return undefined;
  const invocation = await invocationOf(at, effects);
  if ("fault" in invocation) return undefined;
  const turn = firstTurn(at.state, invocation, at.progress?.retry?.attempts ?? 0);
  return turn && { invocation, turn };
}

async function advanceCall(at: CallAt, effects: StepEffects): Promise<Change> {
  const { state, step, progress } = at;
  if (progress?.isInDoubt === true) return doubt(step, lostBefore, []);
  const invocation = await invocationOf(at, effects);
  if ("fault" in invocation) return failed(step, [], invocation.fault);
  const { args, place, secretUses } = invocation;
  const tally = newTally();
  const { attempts = 0, withheld: before } = progress?.retry ?? {};
  const invoked = await invoke(invocation, { state, tally, effects, attempts, withheld: before });
  const now = invoked.kind === "postponed" ? invoked.withheld : undefined;
  const edits: Edit[] = [
    { kind: "use", used: tally.used },
    { kind: "calls", stepId: step.id, calls: tally.calls },
    ...withheldEdits(state, step.id, { before, now }),
  ];
  if (tally.calls.retried > 0) {
    const payload = { toolSlug: step.tool, times: tally.calls.retried };
    edits.push({ kind: "note", note: { type: "call-retried", stepId: step.id, payload } });
  }
  if (state.isSimulated && invoked.kind === "ok") {
    const unsent = unsentWrite(state, { call: step, place, args, secretUses });
    if (unsent.count > 0) edits.push({ kind: "unsent", stepId: step.id, ...unsent });
  }
  const isSample = invoked.kind === "ok" && invoked.isSample === true;
  return takeAnswer({ ...at, args, isSample }, effects, invoked, edits);
}

function takeAnswer(
  at: CalledAt,
  effects: StepEffects,
  invoked: InvokeResult,
  edits: readonly Edit[],
): Change | Promise<Change> {
  const { step, progress = { kind: step.kind, stepId: step.id } } = at;
  switch (invoked.kind) {
    case "ok":
      return step.rows === undefined
        ? keepAnswer(at, effects, invoked.value, edits)
        : keepRows(at, step.rows, invoked.value, { edits, effects });
    case "failed":
      return failed(step, edits, toldOf(step, invoked.fault));
    case "unknown":
      return doubt(step, invoked.fault, edits);
    case "limit":
      return { edits, next: { kind: "limit", stepId: step.id, limit: invoked.limit } };
    case "postponed": {
      const dueAt = effects.clock.now() + invoked.waitMs;
      const { attempts, withheld } = invoked;
      const retry = { attempts, dueAt, ...(withheld && { withheld: withheld.call }) };
      return {
        edits: [...edits, { kind: "progress", progress: { ...progress, retry } }],
        next: { kind: "until", atMs: dueAt },
      };
    }
  }
}

/**
 * Returns the error of a tool call in the form that people may see. If the call's answer becomes rows (records that the job processes), the
 * app's own message is left out, because it may contain values of rows.
 */
function toldOf(step: MapCall, fault: CallFault): CallFault {
  return step.rows === undefined ? fault : { ...fault, message: fault.plain };
}

function failed(
  step: MapCall,
  edits: readonly Edit[],
  fault: Pick<CallFault, "code" | "message"> & Partial<CallFault>,
): Change {
  return { edits, next: { kind: "fail", stepId: step.id, ...fault } };
}

async function keepAnswer(
  { state, step, instruction, isSample = false }: CalledAt,
  effects: StepEffects,
  value: JsonValue,
  edits: readonly Edit[],
): Promise<Change> {
  const isRead = toolOf(state, step).action.class === "read";
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > valueBytesMax && isRead) {
    const message = `the answer has ${bytes} bytes; at most ${valueBytesMax} are stored: request less, or take it as rows`;
    return failed(step, edits, { code: "ANSWER_TOO_LARGE", message });
  }
  const scope = { ...state.scope, output: value };
  const undo = step.undo && (await undoOf(state, { call: step, stepId: step.id, ordinal: 0, scope }, effects));
  const kept: Edit[] = bytes <= valueBytesMax ? [{ kind: "value", stepId: step.id, value }] : [];
  return {
    edits: [
      ...edits,
      ...kept,
      ...(undo === undefined ? [] : [{ kind: "armUndo", entries: [undo] } as const]),
      {
        kind: "finish",
        stepId: step.id,
        state: isSample ? "simulated" : "completed",
        to: instruction.next,
      },
    ],
    next: { kind: "on" },
  };
}

const lostBefore: CallFault = {
  code: "outcome_unknown",
  message: "an earlier attempt of the job sent it, and it is not known if it was carried out",
  plain: "an earlier attempt of the job sent it, and it is not known if it was carried out",
};

/** Returns the change of a job that stops at a write in doubt. With this change, svc asks people if the write counts as done. */
function doubt(step: MapCall, fault: CallFault, edits: readonly Edit[]): Change {
  const { code } = fault;
  const { message } = toldOf(step, fault);
  const text = `Step ${step.id} called ${step.tool}, and it is not known if it was carried out. Treat it as done?`;
  return {
    edits: [
      ...edits,
      { kind: "note", note: { type: "call-in-doubt", stepId: step.id, payload: { toolSlug: step.tool, code } } },
      { kind: "error", stepId: step.id, code, ordinal: 0, message },
    ],
    next: { kind: "ask", question: systemQuestion("in_doubt", step.id, text) },
  };
}

/**
 * Returns the change of a job after people said if a write in doubt was executed. If it was, its undo entry is stored. An undo that needs
 * the app's unknown answer counts as failed.
 */
async function answerDoubt(
  { state, instruction, step }: CallAt,
  { decision }: SettledQuestion,
  effects: Pick<StepEffects, "compute">,
): Promise<Change> {
  const isDone = decision.continuation === "proceed";
  const call = { call: step, stepId: step.id, ordinal: 0, scope: state.scope };
  const undo = isDone ? await undoOf(state, call, effects) : undefined;
  const ended = isDone ? "completed" : "skipped";
  return {
    edits: [
      ...(undo === undefined ? [] : [{ kind: "armUndo", entries: [undo] } as const]),
      { kind: "finish", stepId: step.id, state: ended, to: instruction.next },
    ],
    next: { kind: "on" },
  };
}

async function keepRows(
  at: CalledAt,
  spec: NonNullable<CallStep["rows"]>,
  answer: JsonValue,
  { edits, effects }: { readonly edits: readonly Edit[]; readonly effects: StepEffects },
): Promise<Change> {
  const { state, step, instruction } = at;
  const list = valueAt(answer, spec.from) ?? [];
  if (!Array.isArray(list)) {
    return failed(step, edits, { code: "ROWS_MISSING", message: `the answer has no list at ${spec.from.join(".")}` });
  }
  const turned = spec.page === undefined ? undefined : await turnPageOfStep(at, answer, list);
  if (turned?.kind === "repeated") return failed(step, edits, turned.fault);
  const found = await newRowsOf(at, spec, list, effects);
  if ("stopped" in found) return { edits, next: found.stopped };
  const { rows } = found;
  if (state.used.rows + rows.length > state.loaded.program.limits.rows) {
    return { edits, next: { kind: "limit", stepId: step.id, limit: "rows" } };
  }
  const taken: Edit[] = [...edits, { kind: "fetched", setId: step.id, rows }];
  if (turned === undefined) {
    const scope = { ...state.scope, output: answer };
    const undo = step.undo && (await undoOf(state, { call: step, stepId: step.id, ordinal: 0, scope }, effects));
    if (undo !== undefined) taken.push({ kind: "armUndo", entries: [undo] });
    return {
      edits: [
        ...taken,
        ...leftPages(at, answer, list),
        {
          kind: "finish",
          stepId: step.id,
          state: at.isSample === true ? "simulated" : "completed",
          to: instruction.next,
        },
      ],
      next: { kind: "on" },
    };
  }
  if (turned.kind === "fault") return failed(step, taken, turned.fault);
  const { page } = turned;
  return {
    edits: [
      ...taken,
      { kind: "progress", progress: { kind: step.kind, stepId: step.id, page } },
      { kind: "logProgress", stepId: step.id, counts: { pages: page.pages } },
    ],
    next: { kind: "commit" },
  };
}

/**
 * Returns the first attempt of a call, or undefined if the call must not be sent. A simulation run sends no writes, and the limits of the
 * job apply.
 */
function firstTurn(state: JobState, { call }: Invocation, attempts: number): CallTurn | undefined {
  const tool = toolOf(state, call);
  const isWrite = tool.action.class !== "read";
  if (state.isSimulated && isWrite) return undefined;
  const { used, loaded } = state;
  const { limits } = loaded.program;
  if (used.toolCalls >= limits.toolCalls || (isWrite && used.writes >= limits.writes)) return undefined;
  return { tool, attempt: attempts };
}
