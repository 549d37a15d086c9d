import { createTenantValidators } from "@svc/catalog";
import { isObject, parseExactJson } from "@svc/core";
import type { JsonObject } from "../json.ts";
import type { Point } from "../point.ts";
import type { Program } from "../program.ts";
import { entriesOf, type ValueTemplate } from "../template.ts";

/**
 * Changes to a job's input and call arguments that people made when they answered the job's questions. Stored with the job as JSON, and
 * applied to its program before each step.
 */
export type AppliedOverrides = {
  /** Changed inputs of the program, by name. */
  readonly params: JsonObject;
  /** Changed arguments, by the id of the step (or of a call in a map) and the argument's name. */
  readonly args: Readonly<Record<string, JsonObject>>;
};

/** The overrides of a job for which no answer has changed any input or argument: both are empty. */
export const noOverrides: AppliedOverrides = { params: {}, args: {} };

/**
 * The reason why the changes of arguments (overrides) in a person's answer cannot be applied. `pointer`: JSON Pointer into the overrides.
 * `message`: the problem.
 */
export type OverrideFault = { readonly pointer: string; readonly message: string };

/**
 * Checks the changes to params and call arguments (overrides) that a person made in an answer. Uses the schema of the judgment point
 * (question of the program) that was answered. An empty text means no changes. Returns the job's earlier changes together with the new
 * ones, or all errors. The caller has already checked that the answer is `retry-with`.
 */
export function applyOverrides(
  before: AppliedOverrides,
  point: Pick<Point, "overrides" | "answerSchema">,
  overridesJson: string,
): { readonly applied: AppliedOverrides } | { readonly faults: readonly OverrideFault[] } {
  const values = parse(overridesJson);
  if (values === undefined) return { faults: [{ pointer: "", message: "is not a JSON object" }] };
  const { overrides, answerSchema } = point;
  if (overrides === undefined || answerSchema === undefined) {
    if (Object.keys(values).length === 0) return { applied: before };
    return { faults: [{ pointer: "", message: "is given, but the point takes no overrides" }] };
  }
  const faults = createTenantValidators()(answerSchema)(values);
  if (faults.length > 0) return { faults };
  const { target } = overrides;
  if (target.kind === "params") return { applied: { ...before, params: merge(before.params, values) } };
  const args = merge(before.args[target.step] ?? {}, values);
  return { applied: { ...before, args: { ...before.args, [target.step]: args } } };
}

function parse(text: string): JsonObject | undefined {
  if (text === "") return {};
  try {
    const value = parseExactJson(text);
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    // The result is also undefined if the text is not JSON. The caller then reports the same fault as for a value that is not an object.
    return undefined;
  }
}

function merge(before: JsonObject, values: JsonObject): JsonObject {
  return Object.fromEntries([...Object.entries(before), ...Object.entries(values)]);
}

/** Returns the params of a job: those of its program, with the values that people changed in answers. */
export function paramsWith(program: Program, { params }: AppliedOverrides): JsonObject {
  return merge(program.params, params);
}

/**
 * Returns the arguments of a call. Values from people's answers to the job's questions replace those of the program. Such a value replaces
 * the whole argument.
 */
export function argumentsWith(
  call: { readonly id: string; readonly args: ValueTemplate },
  { args }: AppliedOverrides,
): ValueTemplate {
  const values = Object.hasOwn(args, call.id) ? args[call.id] : undefined;
  if (values === undefined) return call.args;
  const entries = new Map(entriesOf(call.args));
  for (const [name, value] of Object.entries(values)) entries.set(name, { kind: "literal", value });
  return { kind: "object", entries: [...entries] };
}
