import { assertExhaustive, type Binding, type KeyId, type ProjectId } from "@svc/core";
import type { JsonObject, JsonValue } from "@svc/program";
import type { Called } from "@svc/tools";
import type { StandingContext } from "../engine/context.ts";
import type { ReadFault } from "./walk.ts";

/** Whose account is read, and by whose key. */
export type PollReader = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  /** What the program reaches of the project; null for all of it. */
  readonly binding: Binding | null;
  readonly call: string;
  readonly entity: string;
  /** Ends waits: the node stops, or the poll is another's by now. */
  readonly signal: AbortSignal;
};

/** Longest that a poll waits before it asks for a page again; what asks for longer ends it. */
const patienceMs = 10_000;
const attemptsMax = 3;
const detailCharactersMax = 500;

/** Reads one page through the ordinary call path: its account, its limits, its row in the ledger. */
export async function readPage(
  { caller, clock }: Pick<StandingContext, "caller" | "clock">,
  { projectId, keyId, binding, call, entity, signal }: PollReader,
  args: JsonObject,
): Promise<{ readonly answer: JsonValue } | { readonly fault: ReadFault }> {
  for (let attempts = 1; ; attempts++) {
    const called = await caller.call({
      caller: { projectId, keyId, binding: readOnly(binding) },
      toolSlug: call,
      args,
      entityId: entity,
      accountId: undefined,
      idempotencyKey: undefined,
      isDryRun: false,
    });
    const read = answerOf(called);
    if ("answer" in read) return read;
    const { retryAfterMs, isFinal } = read.fault;
    const waitMs = retryAfterMs ?? patienceMs;
    if (isFinal === true || retryAfterMs === undefined || waitMs > patienceMs || attempts >= attemptsMax) return read;
    await clock.wait(waitMs, signal);
    if (signal.aborted) return read;
  }
}

/** A poll only reads, whatever class its tool has by now: nothing that it calls is approved or confirmed. */
function readOnly(binding: Binding | null): Binding {
  return { entityId: "", toolkitSlugs: [], ...binding, accessClasses: ["read"] };
}

function answerOf(called: Called): { readonly answer: JsonValue } | { readonly fault: ReadFault } {
  switch (called.outcome) {
    case "answered":
    case "held": {
      const { outcome, value, message, retryable, retryAfterMs } = called.answer.result;
      if (outcome === "ok") return { answer: (value ?? null) as JsonValue };
      return {
        fault: { code: outcome, message: message.slice(0, detailCharactersMax), retryAfterMs, isFinal: !retryable },
      };
    }
    case "limited": {
      const { limit, isPaused, retryAfterMs } = called;
      const message = `call limit ${limit} is ${isPaused ? "paused" : "full"}`;
      return { fault: { code: limit, message, retryAfterMs, isLimited: true } };
    }
    case "refused":
      return { fault: { code: "not_callable", message: called.refusal.message, isFinal: true } };
    case "no_such_tool":
      return {
        fault: { code: "not_callable", message: `${called.toolSlug} is not in the catalog any more`, isFinal: true },
      };
    case "in_progress":
    case "key_reused":
      // A poll binds no key.
      throw new Error(`a read without a key came to ${called.outcome}`);
    default:
      return assertExhaustive(called);
  }
}
