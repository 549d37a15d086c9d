import type { Action, CatalogViews, Toolkit } from "@svc/catalog";
import { type AccountId, createId, type Id } from "@svc/core";
import { toolNotFound } from "../errors.ts";
import { type CallResult, resultOf } from "../outcome.ts";
import { type CodeContext, callCodeTool } from "./call-code.ts";
import { type ExecuteContext, executeCall } from "./execute.ts";
import { deriveKey, digestCall } from "./idempotency.ts";
import { createKeyStore } from "./key-store.ts";
import { beginKeyed, findEarlier, type KeyContext } from "./keyed-call.ts";
import type { Caller, LedgerEntry } from "./ledger.ts";
import { type CallPlan, type EndedCall, type PreparedCall, prepareCall } from "./prepare.ts";

/** A call as it is asked for. */
export type CallRequest = {
  readonly caller: Caller;
  readonly toolSlug: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly entityId: string;
  readonly accountId: AccountId | undefined;
  /** The caller's own; undefined when every call is to be executed. */
  readonly idempotencyKey: string | undefined;
  /** Shows what would be sent, and sends nothing. */
  readonly isDryRun: boolean;
  /** The app's idempotency key where the caller keeps one of its own over repeats, as jobs do. */
  readonly appKey?: string | undefined;
  /** The definition to call by, in place of the one that the project sees now. */
  readonly pinned?: { readonly toolkit: Toolkit; readonly action: Action } | undefined;
  /** Time for the call, 30 s at most, which is the default. */
  readonly timeoutMs?: number | undefined;
};

/** What came of it. `callId` is undefined for dry runs, which leave no trace. */
export type CallAnswer = {
  readonly callId: Id<"call"> | undefined;
  readonly result: CallResult;
  readonly isSandbox: boolean;
  /** Whether this is what an earlier call with the same idempotency key was answered. */
  readonly isReplay: boolean;
};

/**
 * Calls tools. Rejects only for a tool that does not exist, an idempotency key that cannot be used, and a store that is away
 * before anything was sent.
 */
export type ToolCaller = { call(request: CallRequest): Promise<CallAnswer> };

/** A caller of tools that knows which of its calls are under way. */
export type DrainingToolCaller = ToolCaller & {
  /** Resolves once no call is under way: each has answered, and its outcome is recorded where the store took it. */
  drain(): Promise<void>;
};

/** What calling works with. */
export type CallContext = ExecuteContext & KeyContext & CodeContext & { readonly views: CatalogViews };

/** Makes a caller of tools over the parts of a node. */
export function createToolCaller(options: Omit<CallContext, "keys">): DrainingToolCaller {
  const context: CallContext = { ...options, keys: createKeyStore(options.db) };
  const underWay = new Set<Promise<CallAnswer>>();
  return {
    call(request) {
      const answer = call(context, request);
      underWay.add(answer);
      const end = () => underWay.delete(answer);
      answer.then(end, end);
      return answer;
    },
    async drain() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

async function call(context: CallContext, request: CallRequest): Promise<CallAnswer> {
  const { tool, toolkit } = await find(context, request);
  const entry = entryOf(context, request, tool);
  if (!request.isDryRun) {
    // First of all: what was executed is answered, whatever became of the tool, the account or `confirm` since.
    const earlier = await findEarlier(context, entry);
    if (earlier !== undefined) return { ...earlier, isSandbox: context.isSandbox, isReplay: true };
  }
  if (tool.kind === "code") {
    return {
      ...(await callCodeTool(context, entry, { tool, isDryRun: request.isDryRun })),
      isSandbox: context.isSandbox,
    };
  }
  const appKey =
    request.appKey ?? deriveKey(entry.caller.projectId, entry.idempotencyKey ?? entry.id, entry.callDigest);
  const prepared = await prepareCall(context, { ...request, tool, toolkit, appKey });
  if (request.isDryRun) return dryRun(context, prepared);
  if ("action" in prepared) return send(context, entry, prepared, request);
  const { result, account } = prepared;
  const end = { result, accountId: account?.id, isSandbox: context.isSandbox, providerMs: 0 };
  await context.ledger.end(entry, end, { bindsKey: false });
  return { callId: entry.id, result, isSandbox: context.isSandbox, isReplay: false };
}

async function find(
  { views }: CallContext,
  { caller, toolSlug, pinned }: CallRequest,
): Promise<{ tool: CallPlan["tool"]; toolkit: Toolkit }> {
  if (pinned !== undefined) return { tool: pinned.action, toolkit: pinned.toolkit };
  const view = await views.forProject(caller.projectId);
  const tool = view.tools.get(toolSlug);
  const toolkit = tool && view.toolkits.get(tool.toolkitSlug);
  if (tool === undefined || toolkit === undefined) throw toolNotFound("toolSlug", toolSlug, view.tools.keys());
  return { tool, toolkit };
}

function entryOf({ clock }: CallContext, request: CallRequest, tool: CallPlan["tool"]): LedgerEntry {
  const { caller, args, entityId, accountId, idempotencyKey } = request;
  // One moment for both: lists find calls by the time in their ids.
  const createdAt = clock.now();
  return {
    id: createId("call", createdAt),
    caller,
    action: tool.kind === "trigger" ? undefined : tool,
    toolSlug: tool.slug,
    accessClass: tool.class,
    entityId,
    args,
    callDigest: digestCall({ toolSlug: tool.slug, account: accountId ?? `entity:${entityId}`, args }),
    idempotencyKey,
    createdAt,
  };
}

function dryRun({ isSandbox }: CallContext, prepared: PreparedCall | EndedCall): CallAnswer {
  const result = "action" in prepared ? resultOf({ outcome: "ok", preview: prepared.preview }) : prepared.result;
  return { callId: undefined, result, isSandbox, isReplay: false };
}

/** Commits that the call is about to be sent, where that must be known should the node end; then sends it. */
async function send(
  context: CallContext,
  entry: LedgerEntry,
  prepared: PreparedCall,
  { appKey, timeoutMs }: CallRequest,
): Promise<CallAnswer> {
  const { ledger, isSandbox } = context;
  if (entry.idempotencyKey !== undefined) {
    const earlier = await beginKeyed(context, entry, prepared.account.id);
    if (earlier !== undefined) return { ...earlier, isSandbox, isReplay: true };
  } else if (prepared.action.class !== "read") {
    // A read that is lost with its node leaves nothing in doubt: its row is written once, at its end.
    await ledger.begin(entry, prepared.account.id, isSandbox);
  }
  const result = await executeCall(context, entry, prepared, { keepsAppKey: appKey !== undefined, timeoutMs });
  return { callId: entry.id, result, isSandbox, isReplay: false };
}
