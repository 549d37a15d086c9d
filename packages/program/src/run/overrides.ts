import { createTenantValidators } from "@svc/catalog";
import { isObject, parseExactJson } from "@svc/core";
import type { JsonObject } from "../json.ts";
import type { Point } from "../point.ts";
import type { Program } from "../program.ts";
import { entriesOf, type ValueTemplate } from "../template.ts";

/** Changes by answers so far. Plain JSON, kept with the job and applied to its program before each step. */
export type AppliedOverrides = {
  /** Values of params by name. */
  readonly params: JsonObject;
  /** Values of arguments by step id (including a map's calls) and name. */
  readonly args: Readonly<Record<string, JsonObject>>;
};

/** The overrides of a job before any answer. */
export const noOverrides: AppliedOverrides = { params: {}, args: {} };

/** Why an answer's overrides cannot be applied: a JSON Pointer into them, and the problem. */
export type OverrideFault = { readonly pointer: string; readonly message: string };

/**
 * Checks an answer's overrides against its point's schema. An empty text has none. Returns the combined overrides, or every fault. The
 * caller has checked that the continuation is `retry-with`.
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
    // A text that is not JSON is not an object either.
    return undefined;
  }
}

function merge(before: JsonObject, values: JsonObject): JsonObject {
  return Object.fromEntries([...Object.entries(before), ...Object.entries(values)]);
}

/** Returns the params that a job continues with. */
export function paramsWith(program: Program, { params }: AppliedOverrides): JsonObject {
  return merge(program.params, params);
}

/** Returns the arguments that a call continues with: values from answers replace whole arguments of the program. */
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
