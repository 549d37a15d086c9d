import { type JsonSchema, withoutOptionalNulls } from "@svc/catalog";
import { holdsMoreThan } from "@svc/core";
import {
  argumentsWith,
  computeExpressions,
  expressionsOf,
  type JsonObject,
  type JsonValue,
  type MapCall,
  type Resolution,
  type RunScope,
  resolveArguments,
  resolveValue,
  type SecretSlot,
  secretsOf,
  type ValueTemplate,
} from "@svc/program";
import type { UndoOf } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { Invocation, StepEffects } from "./effects.ts";
import type { CallFault } from "./invoke.ts";

/**
 * Limits of an HTTP request after the values were inserted into its template. A request within these limits can be read and written as JSON
 * within a few milliseconds.
 */
const requestBounds = { values: 20_000, characters: 1_048_576 };
/**
 * Limits of a program's arguments or results after the values were inserted into their templates. A value within these limits can be
 * written as JSON and fits into the node's memory.
 */
export const argumentBounds = { values: 1_000_000, characters: 8_388_608 };

function tooLarge(what: string, { values, characters }: typeof requestBounds): { readonly fault: CallFault } {
  const bounds = [values, characters].map((bound) => bound.toLocaleString("en-US"));
  const message = `the ${what} would hold more than ${bounds[0]} values, or more than ${bounds[1]} characters`;
  return { fault: { code: "invalid_arguments", message, plain: message } };
}

type Computing = Pick<StepEffects, "compute">;

/**
 * Returns a scope (the values that templates can use) to which the results of the templates' expressions were added. They are computed
 * first, because filling a template cannot wait.
 */
export async function withComputed(
  templates: readonly ValueTemplate[],
  scope: RunScope,
  { compute }: Computing,
): Promise<Resolution<RunScope>> {
  if (!templates.some((template) => expressionsOf(template).length > 0)) return { value: scope };
  // Copies the answers of the row's calls, because later calls add answers, and the input of an evaluation must never change.
  const named = scope.calls === undefined ? scope : { ...scope, calls: { ...scope.calls } };
  const computed = await computeExpressions(templates, (expression) => compute(named, expression));
  if ("fault" in computed) return computed;
  return { value: computed.value === undefined ? scope : { ...scope, computed: computed.value } };
}

/** Returns a template with its references replaced by values, or the fault that prevents this. */
export async function fillValue(
  template: ValueTemplate,
  scope: RunScope,
  computing: Computing,
): Promise<Resolution<JsonValue>> {
  const ready = await withComputed([template], scope, computing);
  return "fault" in ready ? ready : resolveValue(template, ready.value);
}

/** The arguments of a call with all references replaced by values, or the fault that prevents this. */
type FilledCall = Pick<Invocation, "args" | "secretUses"> | { readonly fault: CallFault };

type FillableCall = Pick<MapCall, "id" | "args" | "http">;

/**
 * Facts about a template of arguments. `isComputed`: true if it has expressions. `secretUses`: the secrets that it names. The facts are
 * computed once for each template, because very many rows use the same template.
 */
type ArgumentNeeds = { readonly isComputed: boolean; readonly secretUses: readonly SecretSlot[] };

const needs = new WeakMap<ValueTemplate, ArgumentNeeds>();

function needsOf(template: ValueTemplate): ArgumentNeeds {
  let found = needs.get(template);
  if (found === undefined) {
    found = { isComputed: expressionsOf(template).length > 0, secretUses: secretsOf(template) };
    needs.set(template, found);
  }
  return found;
}

/**
 * Data from which the arguments of a call are filled in. `inputSchema`: the schema by which optional arguments that are null are left out.
 */
type FillContext = {
  readonly scope: RunScope;
  readonly stepArgs: JobState["stepArgs"];
  readonly inputSchema?: JsonSchema | undefined;
};

/**
 * Returns the arguments of a call with all references filled in. Arguments that a person changed in an answer to a question replace those
 * of the program. An optional argument that is null is left out if its schema does not accept null. Returns a promise only if an expression
 * must be computed.
 */
export function fillCall(
  call: FillableCall,
  { scope, stepArgs, inputSchema }: FillContext,
  computing: Computing,
): FilledCall | Promise<FilledCall> {
  const isChanged = Object.hasOwn(stepArgs, call.id);
  const args = isChanged ? argumentsWith(call, { params: {}, args: stepArgs }) : call.args;
  const { isComputed, secretUses } = needsOf(args);
  const filling = { call, args, secretUses, inputSchema };
  if (!isComputed) return filled(filling, { value: scope });
  return withComputed([args], scope, computing).then((ready) => filled(filling, ready));
}

type Filling = Pick<ArgumentNeeds, "secretUses"> & {
  readonly call: FillableCall;
  readonly args: ValueTemplate;
  readonly inputSchema: JsonSchema | undefined;
};

function filled({ call: { http }, args, secretUses, inputSchema }: Filling, ready: Resolution<RunScope>): FilledCall {
  const resolved = "fault" in ready ? ready : resolveArguments(args, ready.value);
  if ("value" in resolved) {
    const [what, bounds] =
      http === undefined ? (["arguments", argumentBounds] as const) : (["request", requestBounds] as const);
    if (holdsMoreThan(resolved.value, bounds)) return tooLarge(what, bounds);
    const isWhole = http !== undefined || inputSchema === undefined;
    const args = isWhole ? resolved.value : (withoutOptionalNulls(inputSchema, resolved.value) as JsonObject);
    return { args, secretUses };
  }
  const { code, message } = resolved.fault;
  return { fault: { code, message, plain: message } };
}

/**
 * A call that succeeded. `scope`: the values that the call's undo call can use: the row, the answers of the row's calls so far, and the
 * answer of this call (as `output`).
 */
export type DoneCall = {
  readonly call: MapCall;
  readonly stepId: string;
  readonly ordinal: number;
  readonly scope: RunScope;
};

/**
 * Returns the call that can undo a successful call, or undefined if that call has no undo. The arguments of the undo call are computed when
 * the first call succeeds, because the values that they need may be deleted later.
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
  const isFit = "value" in resolved && !holdsMoreThan(resolved.value, argumentBounds);
  const args = isFit ? resolved.value : undefined;
  return { stepId, ordinal, toolSlug: undo.tool, entityId: undo.entity, args };
}
