import { type Action, type CatalogViews, nearest, type Toolkit, withoutExcess } from "@svc/catalog";
import { type AccountId, createId, type Id, isoTime } from "@svc/core";
import type { CallRecord } from "@svc/db";
import type { CallLimits } from "../limits/call-limits.ts";
import type { Entering } from "../limits/pacer.ts";
import { type CallResult, resultOf } from "../outcome.ts";
import { type BoundRefusal, bindCall, refusalOfTool } from "./bind.ts";
import { type CodeContext, callCodeTool } from "./call-code.ts";
import { type ExecuteContext, executeCall } from "./execute.ts";
import { askPersonAbout, type PersonContext } from "./for-person.ts";
import { deriveKey, digestCall, takesKey } from "./idempotency.ts";
import { createKeyStore } from "./key-store.ts";
import { beginKeyed, type Earlier, findEarlier, type KeyContext, type KeyRefusal } from "./keyed-call.ts";
import type { Caller, LedgerEntry } from "./ledger.ts";
import { type PrepareContext, prepareCall } from "./prepare.ts";
import type { CallPlan, EndedCall, LateArguments, PreparedCall } from "./prepared-call.ts";
import { executeReady, type UnrecordedEnd } from "./ready-call.ts";
import type { SecretUse } from "./secret-uses.ts";

/** A call as it is asked for. */
export type CallRequest = {
  readonly caller: Caller;
  readonly toolSlug: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly entityId: string;
  readonly accountId: AccountId | undefined;
  /** The caller's own; undefined when every call is to be executed. */
  readonly idempotencyKey: string | undefined;
  /** What an earlier version of svc called the key: a call that holds it holds the key. */
  readonly formerKey?: string | undefined;
  /**
   * Whether no call was made under the key before, as far as its caller knows: then it is taken without being looked for. One that is
   * held after all is answered from then on as ever.
   */
  readonly isFirst?: boolean | undefined;
  /**
   * The end of the backup that the store was restored from, where the store that it was taken of may have made the call since: a write to
   * an app that takes no keys is not sent, and in doubt. Epoch milliseconds.
   */
  readonly restoredFrom?: number | undefined;
  /** Shows what would be sent, and sends nothing. */
  readonly isDryRun: boolean;
  /** The app's idempotency key where the caller keeps one of its own over repeats, as jobs do. */
  readonly appKey?: string | undefined;
  /** The definition to call by, in place of the one that the project sees now. */
  readonly pinned?: { readonly toolkit: Toolkit; readonly action: Action } | undefined;
  /** Time for the call, 30 s at most, which is the default. */
  readonly timeoutMs?: number | undefined;
  /** How long the call waits for its turn where a limit is full. Default 2 s. Who comes back by itself waits for none. */
  readonly limitWaitMs?: number | undefined;
  /** Takes the ledger's row of the call's end, to commit it with what follows from the call. Default: it is committed at once. */
  readonly takeRecord?: ((record: CallRecord) => void) | undefined;
  /** Secrets of the project that are filled in among the arguments when it is sent, in place of what `args` has there. */
  readonly secretUses?: readonly SecretUse[] | undefined;
  /**
   * Makes the arguments anew when the call is prepared, with what differs each time it is made, and so is no part of what makes two calls the
   * same; and what of them no text may repeat.
   */
  readonly late?: (() => Promise<LateArguments>) | undefined;
  /**
   * Where the caller can ask the person itself about a call that one confirms: it is told what to ask about, and no job is begun. `confirmed`
   * is the name of the call that the person has said yes to.
   */
  readonly person?: { readonly confirmed: string | undefined } | undefined;
  /** What no message about the call may quote, beside its sensitive arguments: a job hands a tool what others keep secret. */
  readonly secrets?: readonly string[] | undefined;
};

/** What a call meets that may not go for a call limit of the project, or its toolkit's own rate. Nothing was sent, or recorded. */
export type LimitRefusal = {
  readonly outcome: "limited";
  /** The limit's name; of a toolkit's own rate `@` and its slug. */
  readonly limit: string;
  readonly isPaused: boolean;
  /** When to ask again; a job's turns are given out one after the other. */
  readonly retryAfterMs: number;
};

/** What came of it. `callId` is undefined for dry runs, which leave no trace. */
export type CallAnswer = {
  readonly callId: Id<"call"> | undefined;
  readonly result: CallResult;
  readonly isSandbox: boolean;
  /** Whether this is what an earlier call with the same idempotency key was answered. */
  readonly isReplay: boolean;
  /** Whether a held call is confirmed by a person, whatever its arguments say. */
  readonly isForPerson?: boolean | undefined;
  /** What the person's yes is good for, where the caller asks the person itself. */
  readonly askFor?: string | undefined;
  /** The job that asks the person. */
  readonly jobId?: Id<"job"> | undefined;
};

/**
 * What is to be expected of a call. `answered`: its result says what came of it. `held`: nothing was sent, since it is destructive
 * and not confirmed, or a person is asked first. `in_progress`: the first call of the idempotency key still runs. `key_reused`: the key was used for something
 * else. `limited`: a call limit is full, or paused. `refused`: its caller is bound, and it reaches beyond that. `no_such_tool`: the project sees none of that slug; `meant` is the nearest that it
 * does see.
 */
export type Called =
  | { readonly outcome: "answered" | "held"; readonly answer: CallAnswer }
  | KeyRefusal
  | LimitRefusal
  | BoundRefusal
  | { readonly outcome: "no_such_tool"; readonly toolSlug: string; readonly meant: string | undefined };

/** What came of a ready call. `end` is what its caller commits; undefined where there is nothing to commit any more. */
export type Sent = { readonly called: Called; readonly end: UnrecordedEnd | undefined };

/** A call that is ready to be sent. `send` or `cancel` is to be called, once. */
export type ReadyCall = {
  /**
   * What its caller commits before it is sent: else nobody knows after a crash that it may have been executed. One that finds the key
   * held is not to be sent. Undefined for a read.
   */
  readonly begun: CallRecord | undefined;
  send(): Promise<Sent>;
  cancel(): void;
};

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
export type CallContext = ExecuteContext &
  PrepareContext &
  KeyContext &
  CodeContext &
  PersonContext & { readonly views: CatalogViews; readonly limits: Pick<CallLimits, "enter"> };

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

/** A call of a tool that was found, with the arguments that its schema leaves. */
function planOf(context: CallContext, asked: CallRequest, { tool, toolkit }: FoundTool) {
  // First of all: whatever looks at arguments takes time for each of them, and for what is refused it is for nothing.
  const isJudged = tool.kind === "action";
  const { kept, faults: excess } = isJudged
    ? withoutExcess(tool.inputSchema, asked.args)
    : { kept: asked.args, faults: [] };
  const request = { ...asked, args: kept as CallRequest["args"] };
  const entry = entryOf(context, request, tool);
  const derived = () => deriveKey(entry.caller.projectId, entry.idempotencyKey ?? entry.id, entry.callDigest);
  const appKey = request.appKey ?? (entry.takesAppKey === true ? derived() : "");
  return { request, entry, plan: { ...request, callDigest: entry.callDigest, excess, tool, toolkit, appKey } };
}

async function call(context: CallContext, given: CallRequest): Promise<Called> {
  const asked = bindCall(given);
  if ("refusal" in asked) return asked;
  const found = await find(context, asked);
  if ("outcome" in found) return found;
  const { tool } = found;
  const { request, entry, plan } = planOf(context, asked, found);
  if (!request.isDryRun && request.isFirst !== true) {
    // First of all: what was executed is answered, whatever became of the tool, the account or `confirm` since.
    const earlier = await findEarlier(context, entry);
    if (earlier !== undefined) return calledEarlier(context, earlier);
  }
  if (tool.kind === "code") {
    const run = await callCodeTool(context, entry, { tool, isDryRun: request.isDryRun });
    return "outcome" in run ? calledEarlier(context, run) : called({ ...run, isSandbox: context.isSandbox });
  }
  const prepared = await prepareCall(context, plan);
  if (request.isDryRun) return called(dryRun(context, prepared));
  if ("action" in prepared) {
    const { restoredFrom } = request;
    if (restoredFrom !== undefined && isNeverRepeated(prepared))
      return endDoubted(context, entry, prepared, restoredFrom);
    return enterAndSend(context, entry, prepared, request);
  }
  return endUnsent(context, entry, plan, prepared);
}

/** Records a call that is not sent; where a person is to confirm it, the person is asked first. */
async function endUnsent(
  context: CallContext,
  entry: LedgerEntry,
  plan: CallPlan,
  prepared: EndedCall,
): Promise<Called> {
  const { isSandbox } = context;
  const isAsked = plan.person !== undefined && prepared.forPerson !== undefined;
  const asked = isAsked
    ? { result: prepared.result, jobId: undefined }
    : await askPersonAbout(context, entry, plan, prepared);
  if ("refusal" in asked) return asked;
  const { result, jobId } = asked;
  const askFor = isAsked ? prepared.forPerson?.name : undefined;
  const end = { result, accountId: prepared.account?.id, isSandbox, providerMs: 0 };
  await context.ledger.end(entry, end, { bindsKey: false });
  return called({ callId: entry.id, result, isSandbox, isReplay: false, ...personal(prepared), askFor, jobId });
}

/** Whether a second time is another write: nothing tells the app that it has done it. */
function isNeverRepeated({ action }: PreparedCall): boolean {
  return action.class !== "read" && !takesKey(action);
}

/** Records a write that may have been made before the store was restored, as one whose node was lost. */
async function endDoubted(
  context: CallContext,
  entry: LedgerEntry,
  prepared: PreparedCall,
  restoredFrom: number,
): Promise<Called> {
  const message = `the store was restored from a backup of ${isoTime(restoredFrom)}; the call may have been made since then, and was not sent`;
  const result = resultOf({ outcome: "outcome_unknown", message });
  const { isSandbox } = prepared.way;
  const end = { result, accountId: prepared.account?.id, isSandbox, providerMs: 0 };
  await context.ledger.end(entry, end, { bindsKey: true });
  return called({ callId: entry.id, result, isSandbox, isReplay: false });
}

function called(answer: CallAnswer): Called {
  return { outcome: answer.result.outcome === "held" ? "held" : "answered", answer };
}

function calledEarlier({ isSandbox }: CallContext, earlier: Earlier): Called {
  if (earlier.outcome !== "ended") return earlier;
  const { callId, result } = earlier;
  return called({ callId, result, isSandbox, isReplay: true });
}

type FoundTool = { readonly tool: CallPlan["tool"]; readonly toolkit: Toolkit };

async function find(
  { views, findCode }: CallContext,
  { caller, toolSlug, pinned }: CallRequest,
): Promise<FoundTool | BoundRefusal | (Called & { outcome: "no_such_tool" })> {
  const { binding } = caller;
  if (pinned !== undefined) {
    return refusalOfTool(binding, pinned.action) ?? { tool: pinned.action, toolkit: pinned.toolkit };
  }
  const view = await views.forProject(caller.projectId);
  const tool = view.tools.get(toolSlug) ?? (await findCode?.(caller.projectId, toolSlug));
  const toolkit = tool && view.toolkits.get(tool.toolkitSlug);
  if (tool !== undefined && toolkit !== undefined) return refusalOfTool(binding, tool) ?? { tool, toolkit };
  return { outcome: "no_such_tool", toolSlug, meant: nearest(toolSlug, view.tools.keys()) };
}

function entryOf({ clock }: CallContext, request: CallRequest, tool: CallPlan["tool"]): LedgerEntry {
  const { caller, args, entityId, idempotencyKey, formerKey, takeRecord } = request;
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
    callDigest: digestCall({ toolSlug: tool.slug, account: accountOf(request), args }),
    idempotencyKey,
    formerKey,
    createdAt,
    takesAppKey: tool.kind === "action" && tool.idempotency !== undefined,
    takeRecord,
  };
}

/** What stands for the account in the digest that a key is bound to. What another was answered is no bound caller's to repeat. */
function accountOf({ caller: { binding }, accountId, entityId }: CallRequest): string {
  if (accountId === undefined) return `entity:${entityId}`;
  return binding === undefined ? accountId : `entity:${entityId}:${accountId}`;
}

function personal(prepared: PreparedCall | EndedCall): Pick<CallAnswer, "isForPerson"> {
  return "forPerson" in prepared ? { isForPerson: true } : {};
}

function dryRun({ isSandbox }: CallContext, prepared: PreparedCall | EndedCall): CallAnswer {
  const result = "action" in prepared ? resultOf({ outcome: "ok", preview: prepared.preview() }) : prepared.result;
  return { callId: undefined, result, isSandbox, isReplay: false, ...personal(prepared) };
}

const limitWaitDefaultMs = 2_000;

/** Sends a call once its limits let it go. Until then nothing of it is recorded: it can be made again as if it had never been. */
async function enterAndSend(
  context: CallContext,
  entry: LedgerEntry,
  prepared: PreparedCall,
  request: CallRequest,
): Promise<Called> {
  const entering = enter(context, entry, prepared, request);
  if (entering === undefined) return send(context, entry, prepared, request);
  const entered = await entering;
  if (entered.kind === "full") return limited(entered);
  try {
    return await send(context, entry, prepared, request, entered.again);
  } finally {
    entered.leave();
  }
}

function limited({ by, isPaused, retryAfterMs }: Extract<Entering, { kind: "full" }>): LimitRefusal {
  return { outcome: "limited", limit: by.limitName, isPaused, retryAfterMs };
}

/** Of a request of a program's own there is no account: a key that is made of one counts all such requests together. */
const nobody = { id: "", entityId: "" };

function enter(
  { limits }: CallContext,
  { caller: { projectId, job } }: LedgerEntry,
  { account: own, action, toolkit }: PreparedCall,
  { limitWaitMs = limitWaitDefaultMs }: CallRequest,
): Promise<Entering> | undefined {
  const account = own ?? nobody;
  const call = { projectId, toolkit, toolSlug: action.slug, accessClass: action.class, account, jobId: job?.id };
  return limits.enter(call, limitWaitMs);
}

/** Commits that the call is about to be sent, where that must be known should the node end; then sends it. */
async function send(
  context: CallContext,
  entry: LedgerEntry,
  prepared: PreparedCall,
  { appKey, timeoutMs }: CallRequest,
  mayRepeat?: () => Promise<boolean>,
): Promise<Called> {
  const { ledger } = context;
  const { isSandbox } = prepared.way;
  const accountId = prepared.account?.id;
  if (entry.idempotencyKey !== undefined) {
    const earlier = await beginKeyed({ ...context, isSandbox }, entry, accountId);
    if (earlier !== undefined) return calledEarlier(context, earlier);
  } else if (prepared.action.class !== "read") {
    // A read that is lost with its node leaves nothing in doubt: its row is written once, at its end.
    await ledger.begin(entry, accountId, isSandbox);
  }
  const result = await executeCall(context, entry, prepared, {
    keepsAppKey: appKey !== undefined,
    timeoutMs,
    mayRepeat,
  });
  return called({ callId: entry.id, result, isSandbox, isReplay: false });
}

/** Readies what `call` would send. */
async function readyCall(context: CallContext, given: CallRequest): Promise<ReadyCall | undefined> {
  const asked = bindCall(given);
  // `call` says why.
  if ("refusal" in asked) return undefined;
  const found = await find(context, asked);
  if ("outcome" in found || found.tool.kind === "code" || asked.isDryRun) return undefined;
  const { request, entry, plan } = planOf(context, asked, found);
  if (request.isFirst !== true && (await findEarlier(context, entry)) !== undefined) return undefined;
  const prepared = await prepareCall(context, plan);
  if (!("action" in prepared)) return undefined;
  // `call` records that it is in doubt.
  if (request.restoredFrom !== undefined && isNeverRepeated(prepared)) return undefined;
  const { ledger } = context;
  const { isSandbox } = prepared.way;
  const entered = await enter(context, entry, prepared, request);
  if (entered?.kind === "full") {
    return { begun: undefined, cancel() {}, send: async () => ({ called: limited(entered), end: undefined }) };
  }
  const isRead = prepared.action.class === "read";
  const begun = isRead ? undefined : ledger.begun(entry, prepared.account?.id, isSandbox);
  const { appKey, timeoutMs } = request;
  const options = { keepsAppKey: appKey !== undefined, timeoutMs, mayRepeat: entered?.again };
  return {
    begun,
    cancel: () => entered?.leave(),
    async send() {
      try {
        const { result, end } = await executeReady(context, { ...options, entry, prepared, begun });
        return { called: called({ callId: entry.id, result, isSandbox, isReplay: false }), end };
      } finally {
        entered?.leave();
      }
    },
  };
}
