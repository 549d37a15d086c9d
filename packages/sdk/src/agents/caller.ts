import { Code, ConnectError } from "@connectrpc/connect";
import type { CallToolResponse } from "@svc/gen/tools";
import { type ClientClock, machineClock } from "../clock.ts";
import { isObject, parseKeepingDigits } from "../json.ts";
import { svcErrorDetails } from "../transport.ts";
import type { AgentCaller, AgentClient, CallerOptions, ModelAnswer } from "./agent-tool.ts";

/** Pauses before a call with an idempotency key is repeated after its answer was lost, in milliseconds. */
const pausesMs = [1000, 4000];

/**
 * Returns the functions with which an agent calls tools, with the options of `svcTools`. `clock`: waits before a call is repeated. A call
 * is repeated only if it has an idempotency key.
 */
export function createCaller(
  { tools }: Pick<AgentClient, "tools">,
  options: CallerOptions,
  clock: ClientClock = machineClock,
): AgentCaller {
  const { entityId, approvals = "model", runId = "", maxBytes = 20_000 } = options;
  const asked = createAskedCalls();
  return {
    approvals,
    async needsApproval({ slug, readClass }, args, approvalId) {
      if (approvals !== "framework" || (await readClass()) !== "destructive") return false;
      await asked.add(approvalId, slug, args);
      return true;
    },
    async call({ slug, readClass }, args, { callId, approvalId = callId, signal } = {}) {
      const isApproved = approvals === "framework" && (await asked.take(approvalId, slug, args));
      const sent = approvals === "model" ? argumentsOf(args) : withConfirm(args, isApproved);
      const idempotencyKey = runId === "" || callId === undefined || callId === "" ? "" : await keyOf(runId, callId);
      const request = { toolSlug: slug, entityId, maxBytes, argumentsJson: JSON.stringify(sent), idempotencyKey };
      const call = () => tools.callTool(request, signal === undefined ? {} : { signal });
      return withErrors(async () => {
        try {
          const response = await (idempotencyKey === "" ? call() : repeated(call, clock, signal));
          return answerOf(approvals === "framework" ? withFrameworkMessage(response) : response);
        } catch (error) {
          if (signal?.aborted === true || !isLost(error) || (await readClass()) === "read") throw error;
          return unknownOutcome;
        }
      });
    },
  };
}

/** Maximum number of calls that wait for an approval. The oldest ones are forgotten, so they stay held. */
const askedMax = 1000;

/**
 * Creates the memory of the calls for which a framework asked for an approval. `add` remembers a call by its id, slug and arguments. `take`
 * returns true and forgets the call if the framework asked for exactly this call. A call without an id is never remembered.
 */
function createAskedCalls() {
  const asked = new Set<string>();
  const digestOfCall = (id: string, slug: string, args: unknown) =>
    digestOf(JSON.stringify([id, slug, withConfirm(args, false)], sortNames));
  return {
    async add(id: string | undefined, slug: string, args: unknown): Promise<void> {
      if (id === undefined) return;
      const [oldest] = asked;
      if (asked.size >= askedMax && oldest !== undefined) asked.delete(oldest);
      asked.add(await digestOfCall(id, slug, args));
    },
    async take(id: string | undefined, slug: string, args: unknown): Promise<boolean> {
      return id !== undefined && asked.delete(await digestOfCall(id, slug, args));
    },
  };
}

/** Sorts the names of an object in JSON.stringify, because a framework that stores a run may change their order. */
function sortNames(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([name], [other]) => (name < other ? -1 : 1)));
}

/** Returns the arguments that a model gave. An argument that is not an object counts as missing, and svc then reports the problems. */
function argumentsOf(args: unknown): Record<string, unknown> {
  return isObject(args) ? { ...args } : {};
}

/**
 * Returns the arguments without the model's own `confirm`, which does not count if a framework asks. With `confirm: true` if it has asked.
 */
function withConfirm(args: unknown, isApproved: boolean): Record<string, unknown> {
  const { confirm: _, ...others } = argumentsOf(args);
  return { ...others, ...(isApproved && { confirm: true }) };
}

/** Returns the idempotency key of a call. It is a digest, because ids of frameworks can be long and can have any characters. */
async function keyOf(runId: string, callId: string): Promise<string> {
  return `agent-${await digestOf(JSON.stringify([runId, callId]))}`;
}

/** Returns the SHA-256 digest of a text in hexadecimal digits. */
export async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns the response of a call with an idempotency key. Repeats the same request if its answer was lost, or if the call still runs. */
async function repeated(
  call: () => Promise<CallToolResponse>,
  clock: ClientClock,
  signal: AbortSignal = new AbortController().signal,
): Promise<CallToolResponse> {
  for (const pauseMs of pausesMs) {
    try {
      return await call();
    } catch (error) {
      if (!isLost(error) || signal.aborted || hasCode(error, Code.Internal)) throw error;
      await clock.wait(pauseMs, signal);
    }
  }
  return call();
}

/** Codes of errors after which svc may have sent the call to the app. */
const lostCodes = [
  ...[Code.Unavailable, Code.DeadlineExceeded, Code.Internal],
  // Programs between the client and svc, such as proxies, cause these.
  ...[Code.Unknown, Code.Aborted, Code.DataLoss, Code.Canceled],
];

/** True if an error does not show that the call was not executed. */
function isLost(error: unknown): boolean {
  return hasCode(error, ...lostCodes) || svcErrorDetails(error)[0]?.reason === "CALL_IN_PROGRESS";
}

function hasCode(error: unknown, ...codes: readonly Code[]): boolean {
  return error instanceof ConnectError && codes.includes(error.code);
}

/** Answer to a call that may write and whose own answer was lost. */
const unknownOutcome: ModelAnswer = {
  outcome: "outcome_unknown",
  message: "The answer to this call was lost. It may have been executed: look before you repeat it.",
  retryable: false,
};

/**
 * Replaces the message of a held call, which says to send `confirm: true`. In a call by a framework, `confirm` of the model does not count.
 */
function withFrameworkMessage(response: CallToolResponse): CallToolResponse {
  if (response.outcome !== "held" || response.jobId !== "") return response;
  const message =
    "The call is destructive and was not sent, because its approval is not known here. Make a new call with the same arguments, so that the user is asked for the approval.";
  return { ...response, message };
}

/** Returns the answer to a call for a model. */
function answerOf(response: CallToolResponse): ModelAnswer {
  const { outcome, resultJson, message, retryable, warnings, faults, request, jobId, callId, replayed } = response;
  const mark = replayed && { replayed };
  if (outcome === "ok")
    return { outcome, result: parseKeepingDigits(resultJson), ...(warnings.length > 0 && { warnings }), ...mark };
  return {
    ...{ outcome, message, retryable },
    ...(callId !== "" && { call_id: callId }),
    ...(faults.length > 0 && {
      faults: faults.map(({ pointer, message: problem, missing }) => ({ pointer, message: problem, missing })),
    }),
    ...(request !== undefined && {
      request: { method: request.method, url: request.url, body: request.bodyJson },
    }),
    ...(jobId !== "" && { job_id: jobId }),
    ...mark,
  };
}

/** Codes of errors that another request of the model cannot avoid: svc is not available, or does not accept the key. */
const programCodes = new Set(["REQUEST_MALFORMED", "API_KEY_INVALID", "API_KEY_MISSING"]);

/**
 * Returns the answer of `make`, or the error with which svc refused the request, so that the model can correct it. Rejects with errors that
 * the model cannot correct, such as a network failure.
 */
export async function withErrors(make: () => Promise<ModelAnswer>): Promise<ModelAnswer> {
  try {
    return await make();
  } catch (error) {
    const [detail] = svcErrorDetails(error);
    if (detail === undefined || programCodes.has(detail.reason) || !(error instanceof Error)) throw error;
    return { error: { reason: detail.reason, message: error.message, help: detail.help } };
  }
}
