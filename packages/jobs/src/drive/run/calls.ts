import { createHash } from "node:crypto";
import { classToConfirm } from "@svc/catalog";
import { assertExhaustive } from "@svc/core";
import type { JsonValue } from "@svc/program";
import type { Called, CallRequest, ToolCaller } from "@svc/tools";
import type { JobState } from "../../state/job.ts";
import { shownOf } from "../../state/shown.ts";
import type { Attempted, CallPlace, CallTurn, Invocation } from "../../steps/effects.ts";
import { askOf } from "../ask/put-question.ts";
import type { OnFaultPoint } from "../observer.ts";
import type { Port } from "../port.ts";
import type { ConfirmGate } from "./confirm-gate.ts";

/** Calls of tools for jobs: made at once, or readied to begin with a commit of the job. */
export type JobCalls = Pick<Port, "call" | "ready">;

/**
 * What calls tools for jobs, once each. A write goes out under a key of its own for each attempt, which the ledger holds before it
 * is sent: asked for again, it answers what was recorded. `isFirst`: it is not looked for before, since none was made.
 */
export function createCalls(
  { caller, confirms }: { readonly caller: ToolCaller; readonly confirms: Pick<ConfirmGate, "confirmerOf"> },
  onFaultPoint: OnFaultPoint | undefined,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): JobCalls {
  // The driver asks the person between two acts; until then the call is put off.
  const isUnconfirmed = async (state: JobState, { tool }: CallTurn) =>
    !state.isSimulated && (await confirms.confirmerOf(state, classToConfirm(tool.action))) !== undefined;
  return {
    async call(state, invocation, turn) {
      const { stepId } = invocation.place;
      if (await isUnconfirmed(state, turn))
        return { kind: "limited", waitMs: askOf(state) === undefined ? 0 : askingPollMs };
      if (onFaultPoint !== undefined) await onFaultPoint("before-call", { stepId });
      const called = await caller.call(requestOf(state, invocation, { ...turn, isFirst }));
      return attemptedOf(called, { stepId, isEarlier: isEarlier(state, invocation) }, onFaultPoint);
    },
    async ready(state, invocation, turn) {
      const { stepId } = invocation.place;
      if (await isUnconfirmed(state, turn)) return undefined;
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
            attempted: await attemptedOf(called, { stepId, isEarlier: isEarlier(state, invocation) }, onFaultPoint),
            end,
          };
        },
      };
    },
  };
}

/** How soon a call that is not confirmed is looked at again while the job asks something else. Milliseconds. */
const askingPollMs = 1_000;

function requestOf(
  state: JobState,
  invocation: Invocation,
  { tool, attempt, takeRecord, isFirst }: CallTurn & { readonly isFirst: boolean },
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
    // What a person was asked about is made with that account, whichever is the entity's by now.
    accountId: binding?.accountId,
    idempotencyKey,
    appKey,
    isDryRun: false,
    job: {
      formerKey,
      isFirst,
      restoredFrom: state.restoredFrom ?? undefined,
      // A write's outcome is kept at once: a map's node that dies leaves no more of them in doubt than were under way.
      takeRecord: isRead ? takeRecord : undefined,
    },
    pinned: tool,
    timeoutMs: call.timeoutMs,
    // It gives way to other work instead, and comes back.
    limitWaitMs: 0,
    secrets: state.loaded.hasSensitive ? shownOf(state).secrets : undefined,
  };
}

type CallKeys = { readonly [Name in "idempotencyKey" | "formerKey" | "appKey"]: string | undefined };

const noKeys: CallKeys = { idempotencyKey: undefined, formerKey: undefined, appKey: undefined };

/**
 * The keys of one attempt at a call. The ledger's: what it was answered is answered again after a crash; 128 bits, each being a part
 * of an index, and by what it was before it was shortened a call is found that was begun under that. The app's is the same for every
 * attempt of a generation: an app that takes keys does the call once. Its seed is the job's id or, of a run of a standing program,
 * what stays the same where a restored backup starts it again.
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
    appKey: digest("app", callSeed, place, [appGeneration]).toString("hex"),
  };
}

const ledgerKeyBytes = 16;

function digest(kind: "call" | "app", of: string, { stepId, ordinal, callId }: CallPlace, turn: number[]): Buffer {
  return createHash("sha256")
    .update(JSON.stringify(["svc-job", kind, of, stepId, ordinal, callId, ...turn]))
    .digest();
}

/** Whether an earlier attempt at the job may have begun the call. */
function isEarlier(state: JobState, { generation }: Invocation): boolean {
  return generation !== state.generation;
}

/** What is told of a call that an earlier attempt at the job sent with other params. */
const inDoubt: Attempted = {
  kind: "answered",
  outcome: "outcome_unknown",
  value: {},
  message: "an earlier attempt at the job sent it with other arguments, and whether it was carried out is not known",
  retryable: false,
  retryAfterMs: undefined,
  providerStatus: 0,
  faults: [],
  isReplay: false,
};

/** A call that reaches beyond what the job is bound to. */
const notSent: Omit<Extract<Attempted, { kind: "answered" }>, "message"> = {
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
  called: Called,
  { stepId, isEarlier }: { readonly stepId: string; readonly isEarlier: boolean },
  onFaultPoint: OnFaultPoint | undefined,
): Promise<Attempted> {
  switch (called.outcome) {
    case "answered":
    case "held": {
      await onFaultPoint?.("after-call", { stepId });
      const { result, isReplay } = called.answer;
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
      // The key is made of the call's place: another call under it is a fault of the service.
      if (!isEarlier) throw new Error(`the key of ${stepId} was used for another call`);
      return inDoubt;
    default:
      return assertExhaustive(called);
  }
}
