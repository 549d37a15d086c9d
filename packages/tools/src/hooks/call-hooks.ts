import { isDeepStrictEqual } from "node:util";
import type { Action } from "@svc/catalog";
import { type Clock, type Id, isObject, type Turns } from "@svc/core";
import type { LedgerEntry } from "../call/record/ledger.ts";
import { mask, maskArguments } from "../call/redact/mask.ts";
import { createRedactor } from "../call/redact/redact.ts";
import { redactTextsInTurns } from "../call/redact/redact-texts.ts";
import { judgeResult } from "../call/send/payload.ts";
import { type CallResult, resultOf } from "../outcome.ts";
import type { AnswerStore, GivenAnswer, HookAnswerFacts } from "./answer-store.ts";
import { answerIfTooLarge, type HookAnswer, type HookAsker, type HookQuestion } from "./ask-hook.ts";
import { type Hook, isAskedAbout, type KnownHooks } from "./known-hooks.ts";
import { mergePatch } from "./merge-patch.ts";

type Values = Readonly<Record<string, unknown>>;

/** Objects and callbacks that are needed to ask hooks (endpoints that check tool calls) and to store their answers. */
export type CallHooksContext = {
  readonly hooks: KnownHooks;
  readonly asker: Pick<HookAsker, "ask">;
  readonly answers: AnswerStore;
  readonly clock: Clock;
  /** Gives other work a chance to run. Large values are processed in several parts, each in its own turn. */
  readonly turns: Pick<Turns, "next">;
  /**
   * Called if the decisions of hooks about an executed tool call could not be stored. A hook is a URL of the project that svc asks about
   * calls.
   */
  readonly onUnrecorded: (callId: Id<"call">, error: unknown) => void;
};

/** A tool call in the form that hooks need. Hooks are URLs of a project that svc asks before a tool call, or informs after it. */
export type HookedCall = {
  readonly entry: LedgerEntry;
  readonly action: Action;
  readonly isDryRun: boolean;
  /**
   * True if hooks (URLs of the project that svc asks about calls) may change the arguments. False if secrets of the project are filled into
   * the arguments later. svc knows the places of these secrets only by their paths in the arguments, and a change by a hook could move them
   * to other paths.
   */
  readonly isEditable: boolean;
  /**
   * Values of sensitive arguments, and other values that texts about the call must not contain. Hooks never receive any of these values.
   */
  readonly secrets: readonly string[];
};

/**
 * Outcome of asking the project's hooks (URLs that svc asks before it sends a tool call). `edits`: the hooks' changes of the arguments, in
 * order. `ended`: set if the call is not sent; its result.
 */
export type ReviewOutcome = { readonly edits: readonly Values[] } | { readonly ended: CallResult };

/**
 * The hooks (endpoints that check tool calls) of a call. `before`: hooks to ask before the call is sent. `after`: hooks to ask about its
 * result. Each list has the order in which the hooks are asked.
 */
export type HooksOfCall = { readonly before: readonly Hook[]; readonly after: readonly Hook[] };

/** Asks the hooks (endpoints that check tool calls) of projects about their calls. */
export type CallHooks = {
  /**
   * Returns the hooks (URLs of the project) that svc must ask about calls of a tool. Returns undefined if the tool has no hooks; svc knows
   * this without reading the database. Rejects if the database is unavailable.
   */
  of(entry: LedgerEntry, action: Action): HooksOfCall | undefined | Promise<HooksOfCall | undefined>;
  /**
   * Asks hooks (endpoints that check tool calls) one after the other before a call is sent. Each hook sees the arguments as the hooks
   * before it changed them. Returns the outcome of the review.
   */
  before(hooks: HooksOfCall, call: HookedCall): Promise<ReviewOutcome>;
  /**
   * Asks hooks (endpoints that check tool calls) about the result of a call. Returns the result as the hooks changed it, which the caller
   * gets.
   */
  after(hooks: HooksOfCall, call: HookedCall, result: CallResult): Promise<CallResult>;
};

/** Creates the functions that ask hooks (endpoints that check tool calls) about calls. */
export function createCallHooks(context: CallHooksContext): CallHooks {
  return {
    of({ caller }, action) {
      const known = context.hooks.of(caller.projectId);
      return "then" in known ? known.then((hooks) => hooksFor(hooks, action)) : hooksFor(known, action);
    },
    before: ({ before }, call) => askBefore(context, before, call),
    after: ({ after }, call, result) => askAfter(context, after, { call, result }),
  };
}

function hooksFor(hooks: readonly Hook[], action: Action): HooksOfCall | undefined {
  const asked = hooks.filter((hook) => isAskedAbout(hook, action));
  if (asked.length === 0) return undefined;
  const of = (phase: Hook["phase"]) => asked.filter((hook) => hook.phase === phase);
  return { before: of("before"), after: of("after") };
}

async function askBefore(context: CallHooksContext, hooks: readonly Hook[], call: HookedCall): Promise<ReviewOutcome> {
  if (hooks.length === 0) return { edits: [] };
  const { entry } = call;
  for (;;) {
    // Answers to the first attempt of the call are used again. Otherwise, a call repeated after a crash could get different arguments.
    const earlier = await context.answers.find(entry);
    const given: GivenAnswer[] = [];
    const reviewed = await reviewBefore(context, hooks, { call, earlier, given });
    const isFirst = call.isDryRun || (await context.answers.put(entry, given));
    if (isFirst || "ended" in reviewed) return reviewed;
  }
}

type Review = {
  readonly call: HookedCall;
  readonly earlier: ReadonlyMap<string, HookAnswerFacts>;
  /** List to which the new answers of hooks (endpoints that check tool calls) are added. */
  readonly given: GivenAnswer[];
};

async function reviewBefore(
  context: CallHooksContext,
  hooks: readonly Hook[],
  { call, earlier, given }: Review,
): Promise<ReviewOutcome> {
  const edits: Values[] = [];
  for (const hook of hooks) {
    const args = editedArguments(call.entry.args, edits);
    const before = earlier.get(hook.id);
    if (before !== undefined && before.callId !== call.entry.id) given.push({ hook, ...before, isRepeated: true });
    const answer =
      before?.answer ?? (await askAbout(context, hook, { given, question: await questionOf(context, call, args) }));
    if (answer.decision === "allow") continue;
    if (answer.decision === "refuse") return { ended: notCarriedOut(hook, answer.why) };
    if (answer.decision === "failed") return { ended: unanswered(hook, answer.why) };
    if (!call.isEditable)
      return { ended: notCarriedOut(hook, "changes arguments, which is not allowed for a call of this kind") };
    // A hook's change of the argument `confirm` is dropped, because only the caller decides if a call is confirmed.
    const { confirm: _word, ...patch } = isObject(answer.edit) ? answer.edit : {};
    edits.push(patch);
  }
  const isOther = edits.length > 0 && (await isOtherThanConfirmed(context, call, edits));
  return isOther ? { ended: changedSinceConfirmed } : { edits };
}

/**
 * True if hooks (endpoints that check tool calls) changed a call that a person had confirmed. Such a call is refused, because it must be
 * made exactly as the person saw it. False otherwise.
 */
async function isOtherThanConfirmed(
  { answers }: CallHooksContext,
  { entry, action }: HookedCall,
  edits: readonly Values[],
): Promise<boolean> {
  if (action.class === "read" || isDeepStrictEqual(editedArguments(entry.args, edits), { ...entry.args })) return false;
  return answers.isConfirmed(entry);
}

const changedSinceConfirmed = resultOf({
  outcome: "not_callable",
  message: "hooks of the project change arguments that a person has confirmed; nothing was sent",
});

/** Returns the arguments with the changes of hooks (endpoints that check tool calls) applied. */
export function editedArguments(args: Values, edits: readonly Values[]): Values {
  return edits.reduce(mergePatch, args);
}

/**
 * The question that is sent to a hook (`asked`), or the answer to use without asking the hook (`answer`), because the question is too large
 * to be sent.
 */
type Question = { readonly asked: HookQuestion } | { readonly answer: HookAnswer };
type Asking = { readonly given: GivenAnswer[]; readonly question: Question };

async function askAbout(
  { asker, clock }: CallHooksContext,
  hook: Hook,
  { given, question }: Asking,
): Promise<HookAnswer> {
  const askedAt = clock.now();
  const answer = "answer" in question ? question.answer : await asker.ask(hook, question.asked);
  const durationMs = Math.max(0, clock.now() - askedAt);
  // Each answer gets a later time than the one before it. The ledger sorts answers by time, and so shows them in the right order even
  // within one millisecond.
  const after = (given.at(-1)?.askedAt ?? 0) + 1;
  given.push({ hook, answer, askedAt: Math.max(askedAt, after), durationMs });
  return answer;
}

/**
 * Returns what svc asks a hook before a tool call. The question describes the call. Arguments that are sensitive or unknown to the tool are
 * masked.
 */
async function questionOf(context: CallHooksContext, call: HookedCall, args: Values): Promise<Question> {
  const { entry, action, isDryRun } = call;
  const { id: callId, caller, entityId, toolSlug, accessClass } = entry;
  const { keyId = "", job } = caller;
  const shown = await hidden(context, call, maskArguments(action.inputSchema, args));
  if ("answer" in shown) return shown;
  return {
    asked: {
      ...{ type: "call.before", callId, toolSlug, accessClass, entityId, keyId, jobId: job?.id ?? "" },
      dryRun: isDryRun,
      arguments: shown.value,
    },
  };
}

type Shown = { readonly value: unknown } | { readonly answer: HookAnswer };

async function hidden({ turns }: CallHooksContext, { secrets, entry }: HookedCall, shown: unknown): Promise<Shown> {
  const answer = answerIfTooLarge(shown);
  if (answer !== undefined) return { answer };
  if (secrets.length === 0) return { value: shown };
  const turn = () => turns.next(entry.caller.projectId);
  return { value: await redactTextsInTurns(shown, createRedactor(secrets), { turn }) };
}

function notCarriedOut({ id }: Hook, why: string): CallResult {
  return resultOf({ outcome: "not_callable", message: `hook ${id} of the project ${why}; nothing was sent` });
}

function unanswered({ id }: Hook, why: string): CallResult {
  const message = `hook ${id} of the project ${why}, and without its answer nothing is sent`;
  return resultOf({ outcome: "unreachable", retryable: true, message });
}

async function askAfter(
  context: CallHooksContext,
  hooks: readonly Hook[],
  { call, result }: { readonly call: HookedCall; readonly result: CallResult },
): Promise<CallResult> {
  if (hooks.length === 0 || result.outcome !== "ok") return result;
  const given: GivenAnswer[] = [];
  const about = await questionOf(context, call, call.entry.args);
  let left = result;
  for (const hook of hooks) {
    const question = await questionAfter(context, about, { call, result: left });
    const answer = await askAbout(context, hook, { given, question });
    left = afterAnswer(call.action, hook, { answer, result: left });
    if (answer.decision === "refuse" || answer.decision === "failed") break;
  }
  // The call was executed, so the caller must get its result. If the hooks' answers cannot be stored, this is only reported.
  await context.answers.put(call.entry, given).catch((error: unknown) => context.onUnrecorded(call.entry.id, error));
  return left;
}

async function questionAfter(
  context: CallHooksContext,
  about: Question,
  { call, result }: { readonly call: HookedCall; readonly result: CallResult },
): Promise<Question> {
  if ("answer" in about) return about;
  const shown = await hidden(context, call, mask(call.action.outputSchema, result.value ?? null));
  if ("answer" in shown) return shown;
  const { type: _before, dryRun: _dry, ...asked } = about.asked;
  return { asked: { type: "call.after", ...asked, result: shown.value } };
}

function afterAnswer(
  action: Action,
  { id }: Hook,
  { answer, result }: { readonly answer: HookAnswer; readonly result: CallResult },
): CallResult {
  if (answer.decision === "allow") return result;
  if (answer.decision === "edit") {
    const warnings = judgeResult(action, answer.edit);
    return { ...result, value: answer.edit, warnings: [...result.warnings, ...warnings] };
  }
  const message = `hook ${id} of the project ${answer.why}: the result is withheld`;
  if (action.class === "read") {
    const outcome = answer.decision === "failed" ? "unreachable" : "not_callable";
    return {
      ...resultOf({ outcome, message, retryable: outcome === "unreachable" }),
      providerStatus: result.providerStatus,
    };
  }
  // The call was executed, so its outcome must not suggest that the caller repeat it.
  return { ...result, value: {}, warnings: [...result.warnings, `withheld: ${message}; the call was executed`] };
}
