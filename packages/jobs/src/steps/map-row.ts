import { type Id, parseId } from "@svc/core";
import {
  type CelOutcome,
  type Expression,
  type JsonObject,
  type JsonValue,
  type PinnedTool,
  type RowState,
  type RowStep,
  valueAt,
} from "@svc/program";
import type { MappedRow, UndoOf } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { ProgressOf, RetryProgress, WithheldCall } from "../state/progress.ts";
import type { UnsentWrites } from "../state/simulated.ts";
import { fillCall, undoOf } from "./arguments.ts";
import type { Child, SetRow, StepEffects, TakeRecord } from "./effects.ts";
import { faultOfExpression } from "./expression-fault.ts";
import { type CallFault, type InvokeResult, invoke, type Tally, type Withholding } from "./invoke.ts";
import { type MapMemory, memoryOf } from "./map-memory.ts";
import { passingBytesMax } from "./set-memory.ts";
import { unsentWrite } from "./simulated-call.ts";
import type { StepAt } from "./step-kind.ts";

/** Maximum memory of one row's fields and answers together, in bytes. */
const rowBytesMax = 33_554_432;

/** A map step that has begun. */
export type MapAt = StepAt<"map"> & { readonly progress: ProgressOf<"map"> };

/** A row of a `map` step in memory, with the state of its calls, during one step action (part of a step between two commits). */
export type RowWork = {
  readonly ordinal: number;
  readonly rowNumber: number;
  row: JsonObject;
  /** Approximate memory of the row's fields, answers and undo entries, in bytes. */
  bytes: number;
  /** Number of the row's calls that had succeeded before this action of the step began. */
  readonly doneBefore: number;
  doneCalls: number;
  /** Answers of the successful calls, by call id. */
  outputs: Record<string, JsonValue>;
  /** Child jobs of the row whose results this action of the step has used. */
  readonly children: Child[];
  /** Ways to undo the row's calls that have succeeded since the job's last commit. */
  readonly undo: UndoOf[];
  /** Calls that the row did not send in this action of the step, because the job is a simulation run. */
  readonly unsent: UnsentWrites[];
  /** Counts of the row's calls since the job's last commit: how many calls and writes there were, and how many ended with each result. */
  readonly tally: Tally;
  /** State in which the row ended. Undefined until the row has ended. */
  state?: RowState;
  fault?: CallFault;
  /**
   * Number from which the idempotency key for the app was made. Set only if the row's write may have been executed, so that a repeated
   * write gets the same key.
   */
  appGeneration?: number | undefined;
  /**
   * Id of a failed child job. It is set if the row's next call runs a skill (a program that is used as a tool) as a child job, and that job
   * failed.
   */
  childId?: Id<"job"> | undefined;
  /** Present if the row's next call is to be retried: the number of its attempts, and when it is due. */
  retry?: RetryProgress | undefined;
};

/**
 * Name of an extra entry in the stored answers of a row's calls. The entry says where the row stopped: at a write that may have been
 * executed, or at a failed child job.
 */
const stoppedAt = "";

/** Returns the answers of the row's calls that svc must store to continue the row later. Returns undefined if they are not needed. */
function keptOutputs({ state, doneCalls, outputs, appGeneration, childId }: RowWork): JsonObject | undefined {
  if (state === "unknown" && appGeneration !== undefined) return { ...outputs, [stoppedAt]: appGeneration };
  if (state === "failed" && childId !== undefined) return { ...outputs, [stoppedAt]: childId };
  return state !== "ok" && doneCalls > 0 ? outputs : undefined;
}

/** Returns the row as it must be stored now, as a list of one. Returns an empty list if the row made no progress. */
export function mappedRow(
  { keep }: MapAt["step"],
  work: RowWork,
  again: "failed" | "unknown" | undefined,
): MappedRow[] {
  const { ordinal, rowNumber, state, doneCalls, doneBefore, fault } = work;
  if (state === undefined && doneCalls === doneBefore) return [];
  return [
    {
      ordinal,
      rowNumber,
      state: state ?? again ?? ("in" as const),
      doneCalls,
      errorCode: fault?.code ?? "",
      outputs: keptOutputs(work),
      data: state === undefined || keep.length === 0 ? undefined : withKept(work, keep),
    },
  ];
}

/** Returns the row's fields, and the parts of its calls' answers that the program keeps. A missing part becomes null. */
function withKept({ row, outputs }: RowWork, keep: MapAt["step"]["keep"]): JsonObject {
  return { ...row, ...Object.fromEntries(keep.map(([name, path]) => [name, valueAt(outputs, path) ?? null])) };
}

/** Returns the stored answers of a row's tool calls. With these answers, svc need not make the calls again. */
export function answersOf({ outputs }: Pick<SetRow, "outputs">): JsonObject {
  const { [stoppedAt]: _stoppedAt, ...answers } = outputs;
  return answers;
}

/**
 * Returns a row in the form in which a `map` step (which makes calls for each row) works on it, with the answers of calls that have already
 * succeeded. `own`: data stored for the row earlier in this step; undefined if there is none.
 */
export function rowWorkOf(
  row: SetRow,
  own: SetRow | undefined,
  { tally, retries = {} }: { readonly tally: Tally; readonly retries: ProgressOf<"map">["retries"] },
): RowWork {
  const { ordinal, rowNumber, data, bytes } = row;
  const doneCalls = own?.doneCalls ?? 0;
  const retry = retries[`${ordinal}/${doneCalls}`];
  const { [stoppedAt]: stopped, ...outputs } = own?.outputs ?? {};
  return {
    ordinal,
    rowNumber,
    row: data,
    bytes: own === undefined || own === row ? bytes : bytes + own.bytes,
    doneBefore: doneCalls,
    doneCalls,
    outputs,
    children: [],
    undo: [],
    unsent: [],
    tally,
    retry,
    ...(typeof stopped === "number" && { appGeneration: stopped }),
    ...(typeof stopped === "string" && { childId: parseId("job", stopped) }),
  };
}

/**
 * Reason why a row stopped before its end. `toolCalls` or `writes`: a limit of the job is reached. `fullUntilMs`: a limit shared with other
 * calls is full until then. `withheld`: the row's call waits at least until then for the acceptance of a change of its tool. Undefined if
 * the row has ended, or has its own reason to wait, for example a retry.
 */
export type RowEnd = "toolCalls" | "writes" | StoppedRow | undefined;

/** A row of a `map` step that must wait for something which stops other rows too: a shared limit, or the acceptance of a changed tool. */
export type StoppedRow = { readonly fullUntilMs: number; readonly withheld?: Withholding | undefined };

/** Functions and data for running the rows of a `map` step. `children`: present if calls run skills (programs used as tools). */
export type RowParts = {
  readonly effects: StepEffects;
  readonly memory: MapMemory;
  readonly takeRecord: TakeRecord;
  readonly children: RowJobs | undefined;
  /** The tools of the step's calls, by index of the call. The entry of a call that runs a skill is undefined. */
  readonly tools: readonly (PinnedTool | undefined)[];
};

/** Functions with which a call of a row in a `map` step runs a skill as a child job. */
export type RowJobs = {
  has(work: RowWork): boolean;
  run(work: RowWork, call: Extract<RowStep, { readonly kind: "run" }>): Promise<RowEnd | "on">;
};

/**
 * Makes the remaining calls of a row in their order, until one call fails or must wait. If a limit of the job or a shared limit stopped the
 * row, returns this limit.
 */
export async function runRow(
  { state, step, progress }: MapAt,
  work: RowWork,
  { effects, memory, takeRecord, children, tools }: RowParts,
): Promise<RowEnd> {
  while (work.doneCalls < step.calls.length) {
    if (memory.bytes > passingBytesMax && !(await memory.goOn(work))) return undefined;
    const call = step.calls[work.doneCalls] as RowStep;
    const { retry, tally } = work;
    if (retry !== undefined && retry.dueAt > effects.clock.now()) return undefined;
    const condition =
      call.when === undefined || retry !== undefined || children?.has(work) === true
        ? holds
        : await testCall(call.when, state, work, effects);
    if ("error" in condition) {
      work.state = "failed";
      work.fault = faultOfExpression(call.id, condition);
      return undefined;
    }
    if (!condition.value) {
      work.doneCalls++;
      continue;
    }
    if (call.kind === "run") {
      if (children === undefined) throw new Error(`${step.id} runs a skill, but was read as another kind`);
      const end = await children.run(work, call);
      if (end !== "on") return end;
      continue;
    }
    const action = tools[work.doneCalls]?.action;
    const scope = { ...state.scope, row: work.row, calls: work.outputs };
    const filling = fillCall(call, { scope, stepArgs: state.stepArgs, inputSchema: action?.inputSchema }, effects);
    const filled = filling instanceof Promise ? await filling : filling;
    if ("fault" in filled) {
      work.state = "failed";
      work.fault = filled.fault;
      return undefined;
    }
    const place = { stepId: step.id, ordinal: work.ordinal, callId: call.id };
    const generation = progress.generation ?? state.generation;
    const appGeneration = work.appGeneration ?? progress.appGeneration ?? generation;
    const { args, secretUses } = filled;
    const invoked = await invoke(
      { args, secretUses, call, place, generation, appGeneration },
      { state, tally, effects, attempts: retry?.attempts ?? 0, takeRecord, withheld: withheldOf(progress, call.tool) },
    );
    switch (invoked.kind) {
      case "ok": {
        if (invoked.isSample === true) {
          const at = { step, row: work.row, calls: work.outputs };
          work.unsent.push(unsentWrite(state, { call, place, args, secretUses, at }));
        }
        const done = { call, stepId: step.id, ordinal: work.ordinal, scope: { ...scope, output: invoked.value } };
        const undo = call.undo === undefined ? undefined : await undoOf(state, done, effects);
        let grown = 0;
        if (undo !== undefined) {
          work.undo.push(undo);
          grown += memoryOf(undo.args ?? null);
        }
        const bytes = memoryOf(invoked.value);
        const isTooLarge = work.bytes + bytes > rowBytesMax;
        if (isTooLarge && action?.class === "read") {
          work.state = "failed";
          work.fault = rowTooLarge(call.id);
          return undefined;
        }
        // The answer of a write may be too large to keep. It is then dropped, and the call still counts as successful, because the write
        // was executed. A step with one call does the same.
        work.outputs[call.id] = isTooLarge ? {} : invoked.value;
        if (!isTooLarge) grown += bytes;
        work.bytes += grown;
        memory.bytes += grown;
        work.doneCalls++;
        work.appGeneration = undefined;
        work.retry = undefined;
        break;
      }
      case "failed":
      case "unknown":
        work.state = invoked.kind;
        work.appGeneration = appGeneration;
        work.fault = invoked.fault;
        return undefined;
      case "postponed":
        return stopped(work, invoked, effects.clock.now());
      case "limit":
        return invoked.limit;
    }
  }
  // If all calls of the row were skipped, the row counts as skipped.
  work.state = step.calls.some(({ id }) => Object.hasOwn(work.outputs, id)) ? "ok" : "skipped";
  return undefined;
}

const holds: CelOutcome = { value: true };

/** Returns the withheld call for which the step waits, if it is a call of this tool. */
function withheldOf({ withheld }: MapAt["progress"], toolSlug: string): WithheldCall | undefined {
  return withheld?.toolSlug === toolSlug ? withheld : undefined;
}

function stopped(work: RowWork, postponed: Extract<InvokeResult, { kind: "postponed" }>, nowMs: number): RowEnd {
  const { attempts, waitMs, isLimited = false, withheld } = postponed;
  const fullUntilMs = nowMs + waitMs;
  if (isLimited && attempts === 0) return { fullUntilMs, withheld };
  work.retry = { attempts, dueAt: fullUntilMs };
  return withheld && { fullUntilMs, withheld };
}

function rowTooLarge(callId: string): CallFault {
  const plain =
    `with the answer of ${callId} the row would use more than ${rowBytesMax} bytes of memory, with two bytes a character: ` +
    "request less from the app, or keep fewer fields of each row before";
  return { code: "ROW_TOO_LARGE", message: plain, plain };
}

/**
 * Evaluates the condition of a call for a row and returns the outcome. The evaluator gets a copy of the answers of the row's earlier calls,
 * because it caches each object that it gets. Later calls change the original object.
 */
function testCall(condition: Expression, state: JobState, { row, outputs }: RowWork, effects: StepEffects) {
  return effects.test(state, condition, { row, calls: { ...outputs } });
}
