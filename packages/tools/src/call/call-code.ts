import type { CodeTool, SandboxMode } from "@svc/catalog";
import { confirmingRule, type ProjectId } from "@svc/core";
import { type CallResult, resultOf } from "../outcome.ts";
import { type CallReply, replyOf, replyOfEarlier } from "./call-reply.ts";
import type { Caller } from "./call-request.ts";
import { beginKeyed, type KeyContext } from "./gate/keyed-call.ts";
import { checkArguments, describeFaults } from "./prepare/check-arguments.ts";
import type { LedgerEntry } from "./record/ledger.ts";

/**
 * A call of a tool that is code inside svc (for example a skill). It has been confirmed if that was necessary, and its arguments are valid.
 * The argument `confirm` is removed.
 */
export type CodeCall = {
  readonly caller: Caller;
  readonly tool: CodeTool;
  readonly args: Readonly<Record<string, unknown>>;
};

/**
 * The answer of code that was called as a tool (for example a skill), or the reason why the code did not run. `isSandbox`: true if the
 * sandbox answers the calls that the code makes.
 */
export type CodeAnswer =
  | { readonly outcome: "ok"; readonly value: Readonly<Record<string, unknown>>; readonly isSandbox: boolean }
  | { readonly outcome: "not_callable" | "no_account"; readonly message: string };

/** Runs code of a tool that the service executes itself, without an app. Rejects if the database is unavailable. */
export type CodeCaller = (call: CodeCall) => Promise<CodeAnswer>;

/**
 * Finds a tool that a project may call although the project's catalog does not list it, for example an older version of a skill. Resolves
 * to undefined if there is none.
 */
export type CodeFinder = (projectId: ProjectId, toolSlug: string) => Promise<CodeTool | undefined>;

/**
 * Dependencies of calling tools that run code of svc (for example a skill) in place of an app. Without `callCode`, this node cannot call
 * such tools.
 */
export type CodeContext = KeyContext & {
  /** For which toolkits (apps) the sandbox answers. A call that does not run its code counts as one of the sandbox only with `force`. */
  readonly sandboxMode: SandboxMode;
  readonly callCode?: CodeCaller | undefined;
  readonly findCode?: CodeFinder | undefined;
};

/**
 * Calls a tool that runs code of svc (for example a skill). The call is checked like a call of an app's tool. Then the code runs, and the
 * call is recorded. A dry run only reports if the code would run. If another call has taken the idempotency key meanwhile, returns the
 * outcome of that call.
 */
export async function callCodeTool(
  context: CodeContext,
  entry: LedgerEntry,
  { tool, isDryRun }: { readonly tool: CodeTool; readonly isDryRun: boolean },
): Promise<CallReply> {
  const prepared = prepare(context, entry, tool);
  const isSandbox = context.sandboxMode === "force";
  if (isDryRun) {
    const result = "result" in prepared ? prepared.result : resultOf({ outcome: "ok" });
    return replyOf({ callId: undefined, result, isSandbox, isReplay: false });
  }
  if ("result" in prepared) return end(context, entry, { result: prepared.result, isSandbox, bindsKey: false });
  if (entry.idempotencyKey === undefined) await context.ledger.begin(entry, undefined, isSandbox);
  const earlier = await beginKeyed(context, entry, { accountId: undefined, isSandbox, isCode: true });
  if (earlier !== undefined) return replyOfEarlier(earlier);
  const answer = await prepared.run();
  if (answer.outcome !== "ok") return end(context, entry, { result: resultOf(answer), isSandbox, bindsKey: false });
  const { outcome, value } = answer;
  const result = resultOf({ outcome, value });
  return end(context, entry, { result, isSandbox: answer.isSandbox, bindsKey: true });
}

type Prepared = { readonly run: () => Promise<CodeAnswer> } | { readonly result: CallResult };

function prepare({ callCode }: CodeContext, { caller, args }: LedgerEntry, tool: CodeTool): Prepared {
  if (callCode === undefined || !tool.callable) {
    return { result: resultOf({ outcome: "not_callable", message: `${tool.slug} cannot be called here` }) };
  }
  const checked = checkArguments(tool, args);
  if ("faults" in checked) {
    const { faults } = checked;
    return { result: resultOf({ outcome: "invalid_arguments", message: describeFaults(faults), faults }) };
  }
  // If a person must confirm the call, the job that this call starts asks the person. The caller's own `confirm` then has no effect.
  if (checked.isConfirmed || confirmingRule(caller.confirm, tool.class) !== undefined)
    return { run: () => callCode({ caller, tool, args: checked.params }) };
  const message = `${tool.slug} is destructive and was not begun; call it again with "confirm": true among its arguments to begin it`;
  return { result: resultOf({ outcome: "held", message }) };
}

async function end(
  { ledger }: CodeContext,
  entry: LedgerEntry,
  { result, isSandbox, bindsKey }: { result: CallResult; isSandbox: boolean; bindsKey: boolean },
): Promise<CallReply> {
  await ledger.end(entry, { result, accountId: undefined, isSandbox, providerMs: 0 }, { bindsKey });
  return replyOf({ callId: entry.id, result, isSandbox, isReplay: false });
}
