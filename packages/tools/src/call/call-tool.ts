import { bindCall } from "./bind.ts";
import { type CodeContext, callCodeTool } from "./call-code.ts";
import type { CallRequest } from "./call-request.ts";
import { type Called, called, calledEarlier } from "./called.ts";
import type { ExecuteContext } from "./execute.ts";
import { findTool } from "./find-tool.ts";
import type { PersonContext } from "./for-person.ts";
import { hooksOf, reviewed } from "./hooked-call.ts";
import { createKeyStore } from "./key-store.ts";
import { findEarlier } from "./keyed-call.ts";
import { enterAndSend } from "./limited-call.ts";
import { planCall } from "./plan-call.ts";
import { prepareCall } from "./prepare.ts";
import { type ReadyCall, type ReadyContext, readyCall } from "./ready-call.ts";
import { dryRun, endDoubted, endUnsent, isNeverRepeated } from "./unsent-call.ts";

/** Calls tools. Rejects only when the store is away before anything was sent. */
export type ToolCaller = {
  call(request: CallRequest): Promise<Called>;
  /**
   * Readies a call whose beginning and end its caller commits together with what it writes itself. Undefined for one that is to be made
   * by `call`: it ends before anything is sent, or its idempotency key is held. Nothing is recorded.
   */
  ready(request: CallRequest): Promise<ReadyCall | undefined>;
};

/** A caller of tools that knows which of its calls are under way. */
export type DrainingToolCaller = ToolCaller & {
  /** Resolves once no call is under way: each has answered, and its outcome is recorded where the store took it. */
  drain(): Promise<void>;
};

/** What calling works with. */
export type CallContext = ReadyContext & ExecuteContext & CodeContext & PersonContext;

/** Makes a caller of tools over the parts of a node. */
export function createToolCaller(options: Omit<CallContext, "keys">): DrainingToolCaller {
  const context: CallContext = { ...options, keys: createKeyStore(options.db) };
  const underWay = new Set<Promise<unknown>>();
  const during = <T>(answer: Promise<T>): Promise<T> => {
    underWay.add(answer);
    const end = () => underWay.delete(answer);
    answer.then(end, end);
    return answer;
  };
  return {
    call: (request) => during(call(context, request)),
    async ready(request) {
      const ready = await readyCall(context, request);
      return ready && { ...ready, send: () => during(ready.send()) };
    },
    async drain() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

async function call(context: CallContext, given: CallRequest): Promise<Called> {
  const asked = bindCall(given);
  if ("refusal" in asked) return asked;
  const found = await findTool(context, asked);
  if ("outcome" in found) return found;
  const { tool } = found;
  const { request, entry, plan } = planCall(context, asked, found);
  if (!request.isDryRun && request.isFirst !== true) {
    // First of all: what was executed is answered, whatever became of the tool, the account or `confirm` since.
    const earlier = await findEarlier(context, entry);
    if (earlier !== undefined) return calledEarlier(context, earlier);
  }
  if (tool.kind === "code") {
    const run = await callCodeTool(context, entry, { tool, isDryRun: request.isDryRun });
    return "outcome" in run ? calledEarlier(context, run) : called({ ...run, isSandbox: context.isSandbox });
  }
  const made = { entry, plan, prepared: await prepareCall(context, plan) };
  const { restoredFrom } = request;
  // Nobody is asked about what is not sent whatever they say.
  if (!request.isDryRun && restoredFrom !== undefined && "action" in made.prepared && isNeverRepeated(made.prepared))
    return endDoubted(context, entry, made.prepared, restoredFrom);
  const hooks = await hooksOf(context, made);
  const { prepared, ...left } = hooks === undefined ? made : await reviewed(context, hooks, { ...made, request });
  if (request.isDryRun) return called(dryRun(context, prepared));
  if ("action" in prepared) return enterAndSend(context, left.entry, { prepared, hooks }, request);
  return endUnsent(context, left.entry, left.plan, prepared);
}
