import { ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";
import type { CallAnswer, CallRequest, CallResult } from "@svc/tools";
import type { CallStep, JsonObject, JsonValue, Retry } from "../program/program.ts";
import { addCalls, type CallCounts, noCalls } from "./documents.ts";
import { appKey, type CallPlace, ledgerKey } from "./keys.ts";
import type { PinnedTool } from "./programs.ts";
import type { Run } from "./run.ts";
import { sampleOf } from "./sample.ts";

/** A call of a program, filled in. */
export type Invocation = {
  readonly call: Pick<CallStep, "tool" | "entity" | "retry" | "timeoutMs">;
  readonly place: Omit<CallPlace, "jobId">;
  readonly args: JsonObject;
  /** Attempts made before, by this driver or an earlier one. */
  readonly attempts: number;
  /** The generation whose keys the app is given. */
  readonly appGeneration: number;
  /** Undo calls count towards no limit. */
  readonly isUndo: boolean;
};

/**
 * What came of it. `postponed`: to be asked for again, after a wait, with `attempts` made. `limit`: a limit of the job forbids it.
 * `calls` counts what was done either way.
 */
export type Invoked =
  | { readonly kind: "ok"; readonly value: JsonValue; readonly calls: CallCounts }
  | { readonly kind: "failed" | "unknown"; readonly fault: CallFault; readonly calls: CallCounts }
  | { readonly kind: "postponed"; readonly attempts: number; readonly waitMs: number; readonly calls: CallCounts }
  | { readonly kind: "limit"; readonly limit: "toolCalls" | "writes"; readonly calls: CallCounts };

/** Why a call did not end well. `message` may quote the app, `plain` never does: it is fit for what is about rows. */
export type CallFault = { readonly code: string; readonly message: string; readonly plain: string };

/** Repeats of a keyed write that was lost with its node, whatever `retry` says. */
const lostRepeatsMax = 3;

/**
 * Makes one call with its retries. A write goes out under a key of its own for every attempt, committed to the ledger before it is
 * sent: after a crash the recorded outcome is answered, and a write that may have been executed is repeated only where the
 * app takes a key, and then under the same one.
 */
export async function invoke(run: Run, invocation: Invocation): Promise<Invoked> {
  const tool = run.tool(invocation.call.tool);
  if (run.isSimulated && tool.action.class !== "read") return simulate(run, tool, invocation);
  let { attempts } = invocation;
  let calls = noCalls;
  let lostRepeats = 0;
  for (;;) {
    const limit = reserve(run, tool, invocation);
    if (limit !== undefined) return { kind: "limit", limit, calls };
    const answer = await callOnce(run, tool, invocation, attempts);
    if (answer === "gone") {
      giveBack(run, tool, invocation);
      const message = `${invocation.call.tool} is not in the catalog any more`;
      return { kind: "failed", fault: { code: "not_callable", message, plain: message }, calls };
    }
    if (answer === "busy") {
      giveBack(run, tool, invocation);
      return { kind: "postponed", attempts, waitMs: run.context.limits.inDoubtPollMs, calls };
    }
    const { result, isReplay } = answer;
    calls = addCalls(calls, countsOf(tool, result, attempts > 0));
    if (result.outcome === "ok") return { kind: "ok", value: (result.value ?? {}) as JsonValue, calls };
    const isLost = isReplay && result.outcome === "outcome_unknown" && tool.action.idempotency !== undefined;
    const mayRepeat = isLost
      ? lostRepeats < lostRepeatsMax
      : isRetryable(tool, result) && attempts < invocation.call.retry.max;
    if (!mayRepeat)
      return { kind: result.outcome === "outcome_unknown" ? "unknown" : "failed", fault: faultOf(result), calls };
    if (isLost) lostRepeats++;
    const waitMs = isReplay ? 0 : (result.retryAfterMs ?? backoffMs(invocation.call.retry, attempts));
    attempts++;
    if (waitMs > run.context.limits.patienceMs) return { kind: "postponed", attempts, waitMs, calls };
    await run.context.clock.wait(waitMs);
    if (run.mustPause()) return { kind: "postponed", attempts, waitMs: 0, calls };
  }
}

/** `busy` while the call may still run on a node that was lost; `gone` when there is no such tool. */
async function callOnce(
  run: Run,
  tool: PinnedTool,
  { call, place, args, appGeneration }: Invocation,
  attempt: number,
): Promise<CallAnswer | "busy" | "gone"> {
  const { job, context } = run;
  const at: CallPlace = { ...place, jobId: job.id };
  const isRead = tool.action.class === "read";
  const request: CallRequest & { pinned: PinnedTool; timeoutMs: number } = {
    caller: { projectId: job.projectId, keyId: job.keyId, job: { id: job.id, stepId: place.stepId } },
    toolSlug: call.tool,
    args,
    entityId: call.entity,
    accountId: undefined,
    idempotencyKey: isRead ? undefined : ledgerKey(at, { generation: job.generation, attempt }),
    appKey: isRead ? undefined : appKey(at, appGeneration),
    isDryRun: false,
    pinned: tool,
    timeoutMs: call.timeoutMs,
  };
  await run.faultPoint("before-call");
  try {
    const answer = await context.caller.call(request);
    await run.faultPoint("after-call");
    return answer;
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === "CALL_IN_PROGRESS") return "busy";
    if (reason === "TOOL_NOT_FOUND") return "gone";
    throw error;
  }
}

/** Counts a call against the limits before it is made; the limit that forbids it, if one does. */
function reserve(run: Run, { action }: PinnedTool, { isUndo }: Invocation): "toolCalls" | "writes" | undefined {
  if (isUndo) return undefined;
  const { limits } = run.program;
  const { toolCalls, writes } = run.used;
  const isWrite = action.class !== "read";
  if (toolCalls >= limits.toolCalls) return "toolCalls";
  if (isWrite && writes >= limits.writes) return "writes";
  run.used = { ...run.used, toolCalls: toolCalls + 1, writes: writes + (isWrite ? 1 : 0) };
  return undefined;
}

/** Takes back what was reserved for a call that was not made. */
function giveBack(run: Run, { action }: PinnedTool, { isUndo }: Invocation): void {
  if (isUndo) return;
  const { toolCalls, writes } = run.used;
  run.used = { ...run.used, toolCalls: toolCalls - 1, writes: writes - (action.class === "read" ? 0 : 1) };
}

function simulate(run: Run, tool: PinnedTool, invocation: Invocation): Invoked {
  const limit = reserve(run, tool, invocation);
  if (limit !== undefined) return { kind: "limit", limit, calls: noCalls };
  const faults = tool.action.validateInput(invocation.args);
  if (faults.length === 0) return { kind: "ok", value: sampleOf(tool.action.outputSchema), calls: noCalls };
  const plain = faults
    .map(({ pointer, message }) => `${pointer === "" ? "the arguments" : pointer} ${message}`)
    .join("; ");
  return { kind: "failed", fault: { code: "invalid_arguments", message: plain, plain }, calls: noCalls };
}

function countsOf({ action }: PinnedTool, result: CallResult, isRepeat: boolean): CallCounts {
  return {
    ...noCalls,
    [action.class]: 1,
    retried: isRepeat ? 1 : 0,
    unknown: result.outcome === "outcome_unknown" ? 1 : 0,
  };
}

/**
 * The tool's own word, and of a write that the app takes a key for also a failing server or a lost answer: it is repeated under the
 * same key of the app, but under another of the ledger.
 */
function isRetryable({ action }: PinnedTool, result: CallResult): boolean {
  if (result.retryable) return true;
  if (action.class === "read" || action.idempotency === undefined) return false;
  if (result.outcome === "outcome_unknown") return true;
  return result.outcome === "provider_error" && [500, 502, 503, 504].includes(result.providerStatus);
}

/** The wait before the next attempt, `attempts` having been made before the one that failed. */
function backoffMs({ initialMs, factor, capMs }: Retry, attempts: number): number {
  return Math.min(capMs, initialMs * factor ** attempts);
}

function faultOf({ outcome, message, providerStatus, faults }: CallResult): CallFault {
  const plain =
    outcome === "invalid_arguments" && faults.length > 0
      ? faults.map((fault) => `${fault.pointer === "" ? "the arguments" : fault.pointer} ${fault.message}`).join("; ")
      : providerStatus > 0
        ? `the app answered ${providerStatus}`
        : plainWords[outcome];
  return { code: outcome, message, plain: plain ?? outcome };
}

const plainWords: Readonly<Record<string, string>> = {
  no_account: "the entity has no account of the toolkit",
  account_unusable: "the account cannot be used",
  missing_scope: "the account was not granted a scope that the tool needs",
  not_bound: "the deployment does not say where the app is",
  timeout: "the app did not answer in time",
  unreachable: "the app could not be reached; nothing was executed",
  outcome_unknown: "the call was sent and its answer never came; it may have been executed",
};

function reasonOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? error.findDetails(ErrorDetailSchema)[0]?.reason : undefined;
}
