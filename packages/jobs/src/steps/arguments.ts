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

/** What a request may be filled in with: looking at it, and writing it as JSON, takes some milliseconds. */
const requestBounds = { values: 20_000, characters: 1_048_576 };
/** What a program fills in holds at most, arguments and results: so much has a JSON text, and the node has room for it. */
export const argumentBounds = { values: 1_000_000, characters: 8_388_608 };

function tooLarge(what: string, { values, characters }: typeof requestBounds): { readonly fault: CallFault } {
  const bounds = [values, characters].map((bound) => bound.toLocaleString("en-US"));
  const message = `the ${what} would hold more than ${bounds[0]} values, or more than ${bounds[1]} characters`;
  return { fault: { code: "invalid_arguments", message, plain: message } };
}

type Computing = Pick<StepEffects, "compute">;

/** What may be named at a place, with what the expressions of templates that stand there give. */
export async function withComputed(
  templates: readonly ValueTemplate[],
  scope: RunScope,
  { compute }: Computing,
): Promise<Resolution<RunScope>> {
  if (!templates.some((template) => expressionsOf(template).length > 0)) return { value: scope };
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

/** The arguments of a call, filled in, or why they cannot be. */
type FilledCall = Pick<Invocation, "args" | "secretUses"> | { readonly fault: CallFault };

type FillableCall = Pick<MapCall, "id" | "args" | "http">;

/** What arguments need beside what they name: found once for each template, since a great many rows fill it in. */
type Needs = { readonly isComputed: boolean; readonly secretUses: readonly SecretSlot[] };

const needs = new WeakMap<ValueTemplate, Needs>();

function needsOf(template: ValueTemplate): Needs {
  let found = needs.get(template);
  if (found === undefined) {
    found = { isComputed: expressionsOf(template).length > 0, secretUses: secretsOf(template) };
    needs.set(template, found);
  }
  return found;
}

/** What arguments are filled in with, and for: without a schema each null stays. */
type FilledFrom = {
  readonly scope: RunScope;
  readonly stepArgs: JobState["stepArgs"];
  readonly inputSchema?: JsonSchema | undefined;
};

/**
 * Fills in the arguments of a call, with what answers put in their place: at once, where nothing of them is computed. A null leaves out an
 * argument that is optional and takes none.
 */
export function fillCall(
  call: FillableCall,
  { scope, stepArgs, inputSchema }: FilledFrom,
  computing: Computing,
): FilledCall | Promise<FilledCall> {
  const isChanged = Object.hasOwn(stepArgs, call.id);
  const args = isChanged ? argumentsWith(call, { params: {}, args: stepArgs }) : call.args;
  const { isComputed, secretUses } = needsOf(args);
  const filling = { call, args, secretUses, inputSchema };
  if (!isComputed) return filled(filling, { value: scope });
  return withComputed([args], scope, computing).then((ready) => filled(filling, ready));
}

type Filling = Pick<Needs, "secretUses"> & {
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
  const isFit = "value" in resolved && !holdsMoreThan(resolved.value, argumentBounds);
  const args = isFit ? resolved.value : undefined;
  return { stepId, ordinal, toolSlug: undo.tool, entityId: undo.entity, args };
}
