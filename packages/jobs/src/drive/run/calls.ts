import { createHash } from "node:crypto";
import { classToConfirm } from "@svc/catalog";
import { assertExhaustive, type Clock } from "@svc/core";
import type { JsonValue } from "@svc/program";
import type { CallReply, CallRequest, ToolCaller } from "@svc/tools";
import type { JobState } from "../../state/job.ts";
import type { WithheldCall } from "../../state/progress.ts";
import { shownOf } from "../../state/shown.ts";
import type { AttemptResult, CallPlace, CallTurn, Invocation } from "../../steps/effects.ts";
import { askOf } from "../ask/put-question.ts";
import type { OnFaultPoint } from "../observer.ts";
import type { Port } from "../port.ts";
import type { ConfirmGate } from "./confirm-gate.ts";

/**
 * The functions with which a job calls tools. `call` makes a call at once. `ready` prepares a call, and returns a function `send` that makes
 * it.
 */
export type JobCalls = Pick<Port, "call" | "ready">;

/**
 * Returns the functions that call tools for jobs. A write that was already sent is not sent again; its recorded result is returned.
 * `isFirst`: true if the job has made no call yet, so that svc need not look for earlier calls.
 */
export function createCalls(
  { caller, confirms, clock }: CallsContext,
  onFaultPoint: OnFaultPoint | undefined,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): JobCalls {
  // A person must confirm this call. It is postponed here; the driver asks the person before the next step action.
  const isUnconfirmed = async (state: JobState, { tool }: CallTurn) =>
    (await confirms.confirmerOf(state, classToConfirm(tool.action))) !== undefined;
  return {
    async call(state, invocation, turn) {
      const { stepId } = invocation.place;
      if (await isUnconfirmed(state, turn)) {
        // A simulation sends reads. A private tool that only claims to read is not sent by it.
        if (state.isSimulated) return { kind: "unsent" };
        return { kind: "limited", waitMs: askOf(state) === undefined ? 0 : askingPollMs };
      }
      const drift = await driftOf({ caller, clock }, state, turn);
      if ("withheld" in drift) return drift;
      if (onFaultPoint !== undefined) await onFaultPoint("before-call", { stepId });
      const called = await caller.call(requestOf(state, invocation, { ...turn, isFirst }));
      return attemptedOf(called, { stepId, mayDiffer: mayDiffer(state, invocation, turn), ...drift }, onFaultPoint);
    },
    async ready(state, invocation, turn) {
      const { stepId } = invocation.place;
      if (await isUnconfirmed(state, turn)) return undefined;
      const drift = await driftOf({ caller, clock }, state, turn);
      if ("withheld" in drift) return undefined;
      const ready = await caller.ready(requestOf(state, invocation, { ...turn, isFirst }));
      if (ready === undefined) return undefined;
      const isRead = ready.begun === undefined;
      if (!isRead) await onFaultPoint?.("before-call", { stepId });
      return {
        ...ready,
        async send() {
          if (isRead) await onFaultPoint?.("before-call", { stepId });
          const { called, end } = await ready.send();
          return {
            attempted: await attemptedOf(
              called,
              { stepId, mayDiffer: mayDiffer(state, invocation, turn), ...drift },
              onFaultPoint,
            ),
            end,
          };
        },
      };
    },
  };
}

/** What the calls of jobs need: the caller of tools, the clock, and the rules by which a person confirms calls. */
type CallsContext = {
  readonly caller: ToolCaller;
  readonly clock: Clock;
  readonly confirms: Pick<ConfirmGate, "confirmerOf">;
};

/**
 * Says what a call does if the MCP server now describes its tool otherwise than an approver has accepted it. `withhold`: returns the result
 * with which the call waits; undefined if the call fails.
 */
type Drift = { readonly withhold: ((message: string) => AttemptResult) | undefined };

/**
 * Returns what a call does if its tool has changed. Returns at once the result of a call that was withheld before, if no change was accepted
 * since, and it is not yet time to ask the server again. A simulation does not wait. Nor does an undo: if its call fails, people are asked.
 */
async function driftOf(
  { caller, clock }: Pick<CallsContext, "caller" | "clock">,
  { projectId, isSimulated, status }: JobState,
  { tool, withheld: before }: CallTurn,
): Promise<Drift | Extract<AttemptResult, { kind: "withheld" }>> {
  const waits = tool.action.mcp !== undefined && !isSimulated && status !== "compensating";
  if (!waits) return { withhold: undefined };
  const { slug: toolSlug } = tool.action;
  const accepted = await caller.acceptedDescription(projectId, toolSlug);
  const nowMs = clock.now();
  if (before !== undefined && before.accepted === accepted && nowMs < before.triesAt)
    return { kind: "withheld", withheld: before, message: undefined, waitMs: pollMs(before, nowMs) };
  // The tool was removed from the project, so no acceptance can let the call go on.
  if (accepted === undefined) return { withhold: undefined };
  // After an acceptance, the waits begin anew: svc may have read the list of tools just before the server changed it back.
  const since = before?.accepted === accepted ? before.since : nowMs;
  return {
    withhold: (message) => {
      const withheld = { toolSlug, accepted, since, triesAt: clock.now() + serverPollMs(since, clock.now()) };
      return { kind: "withheld", withheld, message, waitMs: pollMs(withheld, clock.now()) };
    },
  };
}

/** Returns the time in milliseconds until svc looks again if a change was accepted: from 2 s to a minute, more the longer the call waits. */
function pollMs({ since }: WithheldCall, nowMs: number): number {
  return Math.min(60_000, Math.max(2_000, (nowMs - since) / 20));
}

/** Returns the time in milliseconds until svc asks the server again: from 5 minutes to an hour, more the longer the call waits. */
function serverPollMs(since: number, nowMs: number): number {
  return Math.min(3_600_000, Math.max(300_000, nowMs - since));
}

/**
 * Pause in milliseconds before svc checks again if a call was confirmed by a person. Used while the job already asks a different question,
 * because it asks one question at a time.
 */
const askingPollMs = 1_000;

function requestOf(
  state: JobState,
  invocation: Invocation,
  { tool, attempt, takeRecord, seen, isFirst }: CallTurn & { readonly isFirst: boolean },
): CallRequest {
  const { id, projectId, keyId, binding } = state;
  const { call, place, args, secretUses } = invocation;
  const isRead = tool.action.class === "read";
  const { idempotencyKey, formerKey, appKey } = isRead ? noKeys : keysOf(state, invocation, attempt);
  return {
    caller: { projectId, keyId, binding: binding ?? undefined, job: { id, stepId: place.stepId } },
    toolSlug: call.tool,
    args,
    secretUses,
    entityId: call.entity,
    // The person confirmed the call with this account. So it is used even if the entity has another account now.
    accountId: binding?.accountId,
    seen,
    idempotencyKey,
    appKey,
    isDryRun: false,
    job: {
      formerKey,
      isFirst,
      restoredFrom: state.restoredFrom ?? undefined,
      // The outcome of a read may be committed later, together with the step action. The outcome of a write is recorded at once, so that
      // few writes are in doubt (executed or not) if the node dies.
      takeRecord: isRead ? takeRecord : undefined,
    },
    pinned: tool,
    timeoutMs: call.timeoutMs,
    // The call does not wait for a call limit. The job does other work instead and tries the call again later.
    limitWaitMs: 0,
    secrets: state.loaded.hasSensitive ? shownOf(state).secrets : undefined,
  };
}

type CallKeys = { readonly [Name in "idempotencyKey" | "formerKey" | "appKey"]: string | undefined };

const noKeys: CallKeys = { idempotencyKey: undefined, formerKey: undefined, appKey: undefined };

/**
 * Returns the keys that identify one attempt of a call.
 * - `idempotencyKey`: finds the attempt in the ledger, so that a repetition gets the recorded result.
 * - `formerKey`: finds attempts that older versions of svc recorded.
 * - `appKey`: sent to the app, so that the app executes the call only once.
 */
function keysOf(
  { id, callSeed }: JobState,
  { place, generation, appGeneration }: Invocation,
  attempt: number,
): CallKeys {
  const former = digest("call", id, place, [generation, attempt]);
  return {
    idempotencyKey: former.subarray(0, ledgerKeyBytes).toString("base64url"),
    formerKey: former.toString("hex"),
    // This key stays the same until the job makes the call anew. `callSeed` is the job's id, or for a schedule's run a value that a restore
    // from a backup does not change.
    appKey: digest("app", callSeed, place, [appGeneration]).toString("hex"),
  };
}

const ledgerKeyBytes = 16;

function digest(kind: "call" | "app", of: string, { stepId, ordinal, callId }: CallPlace, turn: number[]): Buffer {
  return createHash("sha256")
    .update(JSON.stringify(["svc-job", kind, of, stepId, ordinal, callId, ...turn]))
    .digest();
}

/**
 * True if the job may already have sent the call with other arguments: in an earlier attempt of the job, or before an approver accepted
 * another input schema of an MCP tool. svc removes the arguments that a schema does not have.
 */
function mayDiffer(state: JobState, { generation }: Invocation, { tool }: CallTurn): boolean {
  return generation !== state.generation || tool.action.mcp !== undefined;
}

/** Result of a call that the job sent before with other arguments. svc does not know if the app executed it. */
const inDoubt: AttemptResult = {
  kind: "answered",
  outcome: "outcome_unknown",
  value: {},
  message: "the job sent it before with other arguments, and it is not known if it was carried out",
  retryable: false,
  retryAfterMs: undefined,
  providerStatus: 0,
  faults: [],
  isReplay: false,
};

/** Result of a call that is outside the job's access scope. The call is not sent. */
const notSent: Omit<Extract<AttemptResult, { kind: "answered" }>, "message"> = {
  kind: "answered",
  outcome: "not_callable",
  value: {},
  retryable: false,
  retryAfterMs: undefined,
  providerStatus: 0,
  faults: [],
  isReplay: false,
};

async function attemptedOf(
  called: CallReply,
  { stepId, mayDiffer, withhold }: Drift & { readonly stepId: string; readonly mayDiffer: boolean },
  onFaultPoint: OnFaultPoint | undefined,
): Promise<AttemptResult> {
  switch (called.outcome) {
    case "answered":
    case "held": {
      await onFaultPoint?.("after-call", { stepId });
      const { result, isReplay } = called.answer;
      if (result.isWithheld && withhold !== undefined) return withhold(result.message);
      return { kind: "answered", ...result, value: (result.value ?? {}) as JsonValue, isReplay };
    }
    case "in_progress":
      return { kind: "busy" };
    case "limited":
      return { kind: "limited", waitMs: called.retryAfterMs };
    case "refused":
      return { ...notSent, message: called.refusal.message };
    case "no_such_tool":
      return { kind: "gone" };
    case "key_reused":
      // The idempotency key is made from the call's place in the job. If a different call has used the key in this attempt, there is a
      // programming error in svc.
      if (!mayDiffer) throw new Error(`the key of ${stepId} was used for another call`);
      return inDoubt;
    default:
      return assertExhaustive(called);
  }
}
