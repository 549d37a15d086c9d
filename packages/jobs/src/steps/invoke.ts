import { fitInput } from "@svc/catalog";
import type { CallCounts } from "@svc/db/documents/calls";
import { classOfMethod, type JsonValue, type MapCall, type PinnedTool, pointerOf, type RetryRule } from "@svc/program";
import { httpTool, readHttpAddress } from "@svc/tools";
import type { Edit } from "../state/change.ts";
import { noCalls } from "../state/counts.ts";
import type { JobState } from "../state/job.ts";
import type { WithheldCall } from "../state/progress.ts";
import type { AttemptResult, Invocation, StepEffects, TakeRecord } from "./effects.ts";
import { sampleOf } from "./sample.ts";

/**
 * Reason why a call failed. `message` may contain text from the app. `plain` never does, so it can be used in places where data of rows
 * must not appear.
 */
export type CallFault = {
  readonly code: string;
  readonly message: string;
  readonly plain: string;
  /** The app's HTTP status. Absent if it did not answer. */
  readonly status?: number;
};

/**
 * Result of a call after its retries.
 * - `ok`: `isSample` is true if a simulation did not send the call, and `value` is a sample of the tool's output.
 * - `unknown`: svc does not know if the app executed the call.
 * - `postponed`: the call must be made after `waitMs`. `isLimited`: true if a call limit delays all calls of this tool and entity (customer
 *   or user). `withheld`: present if the call waits until a change of its tool is accepted.
 * - `limit`: a limit of the job forbids the call.
 */
export type InvokeResult =
  | { readonly kind: "ok"; readonly value: JsonValue; readonly isSample?: boolean }
  | { readonly kind: "failed" | "unknown"; readonly fault: CallFault }
  | {
      readonly kind: "postponed";
      readonly attempts: number;
      readonly waitMs: number;
      readonly isLimited?: boolean;
      readonly withheld?: Withholding;
    }
  | { readonly kind: "limit"; readonly limit: "toolCalls" | "writes" };

/** A call that was withheld because its tool has changed. `message`: the reason for people; undefined if the job has it already. */
export type Withholding = { readonly call: WithheldCall; readonly message: string | undefined };

/** Code with which the last error of a job begins while a call waits until a change of its tool is accepted. */
const changedCode = "TOOL_CHANGED";

/**
 * Returns the edits by which the last error of a job says that a call waits until a change of its tool is accepted. When the call waits no
 * longer, they remove this error. `before`: the call that waited before this step action. `now`: the call that waits after it.
 */
export function withheldEdits(
  { lastError }: Pick<JobState, "lastError">,
  stepId: string,
  { before, now }: { readonly before: WithheldCall | undefined; readonly now: Withholding | undefined },
): Edit[] {
  if (now?.message !== undefined) {
    const message = `${changedCode}: step ${stepId}: ${now.message}. The job continues after that`;
    return message === lastError ? [] : [{ kind: "lastError", message }];
  }
  const isOver = now === undefined && before !== undefined && lastError.startsWith(`${changedCode}: step ${stepId}:`);
  return isOver ? [{ kind: "lastError", message: "" }] : [];
}

/** Numbers of calls and writes that count against the job's limits. A call is counted just before it is made. */
export type UsedCalls = { toolCalls: number; writes: number };

/**
 * Counts of tool calls. `used`: calls and writes of this step action, or of this row. `all`: calls and writes of all rows that run at the
 * same time. `calls`: number of calls for each result.
 */
export type Tally = {
  readonly used: UsedCalls;
  readonly all: UsedCalls;
  readonly calls: { -readonly [Name in keyof CallCounts]: number };
};

/** Counts with which a counter of calls begins: zero calls and zero writes. */
export const noUsedCalls: Readonly<UsedCalls> = { toolCalls: 0, writes: 0 };

/**
 * Returns a new counter for the calls of one row, which starts at zero. `all`: counts that are shared with rows that run at the same time.
 */
export function newTally(all?: UsedCalls): Tally {
  const used = { ...noUsedCalls };
  return { used, all: all ?? used, calls: { ...noCalls } };
}

/**
 * Values that `invoke` needs to make a tool call. `state`: the job. `tally`: counts of calls in the current step action (part of a step's
 * work). `attempts`: number of earlier attempts of this call on all nodes.
 */
export type CallerState = {
  readonly state: JobState;
  readonly tally: Tally;
  readonly effects: StepEffects;
  readonly attempts: number;
  /** Present if an earlier try of the call was withheld, because its tool has changed. */
  readonly withheld?: WithheldCall | undefined;
  /** True for an undo call, which counts for no limit. */
  readonly isUndo?: boolean;
  /** Receives the ledger rows (stored records) of ended tool calls, so that they are committed together with the results of the step. */
  readonly takeRecord?: TakeRecord;
};

/**
 * Pause in milliseconds before a call is tried again, because running child jobs have reserved all that is left of a limit of the job. When
 * a child job ends, the part that it did not use is free again.
 */
const heldWaitMs = 15_000;

/**
 * Maximum number of times that a write with an idempotency key is sent again because the node crashed during the call. It applies even if
 * the call's `retry` allows fewer attempts.
 */
const lostRepeatsMax = 3;

/**
 * Makes one call, and repeats it after failures as the call's retry rules allow. Before svc sends a write, it records the attempt in the
 * ledger. After a crash, the recorded outcome is returned.
 */
export async function invoke(invocation: Invocation, calling: CallerState): Promise<InvokeResult> {
  const { state, effects } = calling;
  const { retry } = invocation.call;
  const tool = toolOf(state, invocation.call);
  const isWrite = tool.action.class !== "read";
  if (state.isSimulated && isWrite) return simulate(tool, invocation, calling);
  let { attempts } = calling;
  let lostRepeats = 0;
  for (;;) {
    const limit = reserve(calling, isWrite);
    if (limit === "held") return { kind: "postponed", attempts, waitMs: heldWaitMs, isLimited: true };
    if (limit !== undefined) return { kind: "limit", limit };
    const { takeRecord, withheld } = calling;
    const called = await effects.call(state, invocation, { tool, attempt: attempts, takeRecord, withheld });
    if (called.kind !== "answered") {
      giveBack(calling, isWrite);
      if (called.kind === "unsent") return simulate(tool, invocation, calling);
      if (called.kind === "withheld") {
        const { waitMs, message, withheld: call } = called;
        return { kind: "postponed", attempts, waitMs, isLimited: true, withheld: { call, message } };
      }
      if (called.kind === "limited") return { kind: "postponed", attempts, waitMs: called.waitMs, isLimited: true };
      if (called.kind === "busy") return { kind: "postponed", attempts, waitMs: effects.busyPollMs };
      const message = `${invocation.call.tool} is no longer in the catalog`;
      return { kind: "failed", fault: { code: "not_callable", message, plain: message } };
    }
    const { calls } = calling.tally;
    calls[tool.action.class] += 1;
    if (attempts > 0) calls.retried += 1;
    if (called.outcome === "outcome_unknown") calls.unknown += 1;
    if (called.outcome === "ok") return { kind: "ok", value: called.value };
    // A write that may have been executed is sent again only if the app accepts idempotency keys, and then with the same key.
    const isLost = called.isReplay && called.outcome === "outcome_unknown" && tool.action.idempotency !== undefined;
    const mayRepeat = isLost ? lostRepeats < lostRepeatsMax : isRetryable(tool, called) && attempts < retry.max;
    if (!mayRepeat) {
      return { kind: called.outcome === "outcome_unknown" ? "unknown" : "failed", fault: faultOf(called) };
    }
    if (isLost) lostRepeats++;
    const waitMs = called.isReplay ? 0 : (called.retryAfterMs ?? backoffMs(retry, attempts));
    attempts++;
    if (waitMs > effects.patienceMs) return { kind: "postponed", attempts, waitMs };
    await effects.clock.wait(waitMs);
    if (effects.mustPause(state)) return { kind: "postponed", attempts, waitMs: 0 };
  }
}

/**
 * Returns the pinned definition of a call's tool, or an equivalent one for an HTTP request. Throws an Error if there is none; the checker
 * rejects such programs.
 */
export function toolOf(
  { loaded }: Pick<JobState, "loaded">,
  { tool: slug, http }: Pick<MapCall, "tool" | "http">,
): PinnedTool {
  if (http !== undefined) return httpTool({ access: classOfMethod(http.method), keyHeader: http.keyHeader });
  const tool = loaded.tools.get(slug);
  if (tool === undefined) throw new Error(`the pins of a job lack ${slug}`);
  return tool;
}

type Answered = Extract<AttemptResult, { kind: "answered" }>;

/**
 * Counts a call against the job's limits before it is made, and returns undefined. If a limit forbids the call, returns the name of that
 * limit. Returns `held` if running child jobs have reserved what is left of the limit.
 */
function reserve(calling: CallerState, isWrite: boolean): "toolCalls" | "writes" | "held" | undefined {
  const { state, tally, effects, isUndo = false } = calling;
  if (isUndo) return undefined;
  const { used: before, loaded } = state;
  const { limits } = loaded.program;
  const { all } = tally;
  const { shared } = effects;
  const { toolCalls, writes } = shared?.own ?? {
    toolCalls: before.toolCalls + all.toolCalls,
    writes: before.writes + all.writes,
  };
  if (toolCalls >= limits.toolCalls) return "toolCalls";
  if (isWrite && writes >= limits.writes) return "writes";
  if (shared?.isFullForNow("toolCalls") || (isWrite && shared?.isFullForNow("writes"))) return "held";
  use(calling, isWrite, 1);
  return undefined;
}

/** Removes a call from the counts for the job's limits. It is used for a call that was counted in advance but not made. */
function giveBack(calling: CallerState, isWrite: boolean): void {
  if (calling.isUndo === true) return;
  use(calling, isWrite, -1);
}

function use({ tally: { used, all }, effects: { shared } }: CallerState, isWrite: boolean, calls: 1 | -1): void {
  for (const counts of new Set([used, all, ...(shared === undefined ? [] : [shared.own])])) {
    counts.toolCalls += calls;
    if (isWrite) counts.writes += calls;
  }
}

function simulate(tool: PinnedTool, { call, args, secretUses }: Invocation, calling: CallerState): InvokeResult {
  const limit = reserve(calling, tool.action.class !== "read");
  if (limit === "held") return { kind: "postponed", attempts: calling.attempts, waitMs: heldWaitMs, isLimited: true };
  if (limit !== undefined) return { kind: "limit", limit };
  // Values of secrets are not checked here: a simulated call is not sent, so it reads no secrets.
  const hidden = new Set(secretUses.map(({ path }) => pointerOf(path)));
  const address = call.http === undefined ? { address: "" } : readHttpAddress(args["url"]);
  const unfit = "fault" in address ? [{ pointer: "/url", message: address.fault }] : [];
  const fitted = fitInput(tool.action.inputSchema, tool.action.validateInput, args);
  const faults = [...unfit, ...fitted.faults.filter(({ pointer }) => !hidden.has(pointer))];
  if (faults.length === 0) return { kind: "ok", value: sampleOf(tool.action.outputSchema), isSample: true };
  const plain = faultsText(faults);
  return { kind: "failed", fault: { code: "invalid_arguments", message: plain, plain } };
}

/**
 * True if a failed call may be repeated. This is so if the tool's answer says it, or if a write with an idempotency key for the app got a
 * server error or no answer. The repeated write has the same key for the app, and a new key in the ledger (the stored record of calls).
 */
function isRetryable({ action }: PinnedTool, { retryable, outcome, providerStatus }: Answered): boolean {
  if (retryable) return true;
  if (action.class === "read" || action.idempotency === undefined) return false;
  if (outcome === "outcome_unknown") return true;
  return outcome === "provider_error" && [500, 502, 503, 504].includes(providerStatus);
}

/**
 * Returns the wait before the next attempt of a call, in milliseconds. The wait grows with each failed attempt, up to `capMs`. `attempts`:
 * number of attempts before the one that has just failed.
 */
function backoffMs({ initialMs, factor, capMs }: RetryRule, attempts: number): number {
  return Math.min(capMs, initialMs * factor ** attempts);
}

function faultOf({ outcome, message, providerStatus, faults }: Answered): CallFault {
  const plain =
    outcome === "invalid_arguments" && faults.length > 0
      ? faultsText(faults)
      : providerStatus > 0
        ? answeredWords(outcome, providerStatus)
        : plainWords[outcome];
  return { code: outcome, message, plain: plain ?? outcome, ...(providerStatus > 0 && { status: providerStatus }) };
}

/**
 * Returns the text of an app's error, with the HTTP status of its answer. The status can be a success (2xx), if the tool's definition
 * recognizes an error in the body of the answer.
 */
function answeredWords(outcome: string, status: number): string {
  const isSuccess = status >= 200 && status <= 299;
  return outcome === "provider_error" && isSuccess
    ? `the app answered ${status}, but its answer reports an error`
    : `the app answered ${status}`;
}

function faultsText(faults: readonly { readonly pointer: string; readonly message: string }[]): string {
  return faults.map(({ pointer, message }) => `${pointer === "" ? "the arguments" : pointer} ${message}`).join("; ");
}

const plainWords: Readonly<Record<string, string>> = {
  not_callable: "the tool cannot be called now",
  no_account: "the entity has no account of the toolkit",
  account_unusable: "the account cannot be used",
  missing_scope: "the account lacks a scope that the tool needs",
  not_bound: "the deployment does not configure the app's address",
  timeout: "the app did not answer in time",
  unreachable: "the app could not be reached; the call was not sent",
  outcome_unknown: "the call was sent, but no answer came; the app may have executed it",
};
