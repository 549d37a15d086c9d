import { holdsMoreThan } from "@svc/core";
import {
  argumentsWith,
  computeExpressions,
  type JsonValue,
  type MapCall,
  type Resolution,
  type RunScope,
  resolveArguments,
  resolveValue,
  secretsOf,
  type ValueTemplate,
} from "@svc/program";
import type { UndoOf } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { Invocation, StepEffects } from "./effects.ts";
import type { CallFault } from "./invoke.ts";

/** What a request may be filled in with: looking at it, and writing it as JSON, takes some milliseconds. */
const requestBounds = { values: 20_000, characters: 1_048_576 };
const tooLargeText = "the request would hold more than 20,000 values, or more than 1,048,576 characters";
const tooLarge: CallFault = { code: "invalid_arguments", message: tooLargeText, plain: tooLargeText };

type Computing = Pick<StepEffects, "compute">;

/** What may be named at a place, with what the expressions of templates that stand there give. */
export async function withComputed(
  templates: readonly ValueTemplate[],
  scope: RunScope,
  { compute }: Computing,
): Promise<Resolution<RunScope>> {
  // Answers of a row's calls become more: what is evaluated is never changed.
  const named = scope.calls === undefined ? scope : { ...scope, calls: { ...scope.calls } };
  const computed = await computeExpressions(templates, (expression) => compute(named, expression));
  if ("fault" in computed) return computed;
  return { value: computed.value === undefined ? scope : { ...scope, computed: computed.value } };
}

/** Fills in a value of the program, or says why it cannot be. */
export async function fillValue(
  template: ValueTemplate,
  scope: RunScope,
  computing: Computing,
): Promise<Resolution<JsonValue>> {
  const ready = await withComputed([template], scope, computing);
  return "fault" in ready ? ready : resolveValue(template, ready.value);
}

/** Fills in the arguments of a call, with what answers put in their place, or says why they cannot be. */
export async function fillCall(
  call: Pick<MapCall, "id" | "args" | "http">,
  scope: RunScope,
  stepArgs: JobState["stepArgs"],
  computing: Computing,
): Promise<Pick<Invocation, "args" | "secretUses"> | { readonly fault: CallFault }> {
  const isChanged = Object.hasOwn(stepArgs, call.id);
  const args = isChanged ? argumentsWith(call, { params: {}, args: stepArgs }) : call.args;
  const ready = await withComputed([args], scope, computing);
  const resolved = "fault" in ready ? ready : resolveArguments(args, ready.value);
  if ("value" in resolved) {
    // Of a tool's arguments its schema tells how large they may be.
    if (call.http !== undefined && holdsMoreThan(resolved.value, requestBounds)) return { fault: tooLarge };
    return { args: resolved.value, secretUses: secretsOf(args) };
  }
  const { code, message } = resolved.fault;
  return { fault: { code, message, plain: message } };
}

/** A call that ended well, by its place; `scope` has the row and the answers that its undo may name, its own as `output`. */
export type DoneCall = {
  readonly call: MapCall;
  readonly stepId: string;
  readonly ordinal: number;
  readonly scope: RunScope;
};

/**
 * How a call that ended well is undone; undefined when nothing is to be. Arguments are filled in now: what they name may be gone
 * later.
 */
export async function undoOf(
  state: JobState,
  { call, stepId, ordinal, scope }: DoneCall,
  computing: Computing,
): Promise<UndoOf | undefined> {
  const { undo } = call;
  if (undo === undefined || state.isSimulated || state.loaded.program.sagaOn.length === 0) return undefined;
  const ready = await withComputed([undo.args], scope, computing);
  const resolved = "fault" in ready ? ready : resolveArguments(undo.args, ready.value);
  const args = "value" in resolved ? resolved.value : undefined;
  return { stepId, ordinal, toolSlug: undo.tool, entityId: undo.entity, args };
}
