import type { CelInput } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";
import type { JsonObject, JsonValue } from "../json.ts";
import { parseExpression } from "../read/cel-calls.ts";
import { celValueInPlace } from "../run/cel-values.ts";
import { boundInPlaceOf } from "../run/cost.ts";
import { type CelFailure, type CelOutcome, evaluationOf } from "../run/evaluation.ts";
import { truthOf } from "../run/expression.ts";
import { type Extent, extentOf } from "../run/extent.ts";

/** An event in the form that the filters of subscriptions can read. Times are RFC 3339 texts. */
export type FilteredEvent = {
  readonly id: string;
  readonly toolkitSlug: string;
  readonly triggerSlug: string;
  /** The type of the event: for an event of an app, the slug of its trigger; otherwise the name of the project's own event type. */
  readonly type: string;
  readonly entityId: string;
  readonly occurredAt: string;
  readonly receivedAt: string;
  readonly payload: JsonObject;
};

/**
 * Result of a filter for one event. `fault`: the filter has no value for the event, for example because a field is absent; `error` says why.
 * `unevaluated`: the event is too large for the filter, and counts as a match.
 */
export type FilterOutcome =
  | { readonly outcome: "match" | "no_match" | "unevaluated" }
  | { readonly outcome: "fault"; readonly error: string };

/** A filter that is ready to run. */
export type CompiledFilter = {
  /** True if the filter reads the id or the time of receipt of the event. These are known only when the event is stored. */
  readonly readsReceipt: boolean;
  /**
   * Says if the filter accepts an event, or returns the error of the evaluation. The function runs synchronously and depends only on the
   * event. `isLarge`: true if the payload is larger than `filterPayloadBytes`.
   */
  test(event: FilteredEvent, isLarge: boolean): FilterOutcome;
};

/** Size of a payload up to which a filter is always evaluated, in bytes of JSON. */
export const filterPayloadBytes = 65_536;

/**
 * Maximum evaluation steps of a filter for a payload of `filterPayloadBytes`, and for a larger one. A million steps take about half a
 * millisecond, measured with lists, texts and patterns of that size.
 */
export const filterStepsMax = { ordinary: 2_000_000, large: 10_000_000 };

const unevaluated = { outcome: "unevaluated" } as const;

/** Compiles a filter. Never throws; a filter with a syntax error fails for each event. */
export function compileFilter(source: string): CompiledFilter {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return { readsReceipt: false, test: () => ({ outcome: "fault", error: parsed.fault }) };
  const { tree } = parsed;
  const tooLarge = isTooLarge(tree);
  const run = evaluationOf<Exclude<CelOutcome, CelFailure>>(tree, truthOf, filterStepsMax.large);
  return {
    readsReceipt: /\b(?:id|receivedAt)\b|^\W*event\W*$|\bevent\b(?!\s*\.)/.test(source),
    test(event, isLarge) {
      if (isLarge && tooLarge(event)) return unevaluated;
      const [outcome] = run([{ event: convertedEvent(event) }], () => true);
      if (outcome === undefined) return unevaluated;
      if ("value" in outcome) return { outcome: outcome.value ? "match" : "no_match" };
      return outcome.isTooExpensive === true ? unevaluated : { outcome: "fault", error: outcome.error };
    },
  };
}

/**
 * Returns a function that is given an event with a large payload. That function returns true if the evaluation of the expression would take
 * too long for this event.
 */
export function isTooLarge(tree: Expr): (event: FilteredEvent) => boolean {
  const bound = boundInPlaceOf(tree);
  return (event) => bound(({ root, path }) => extentAt(root, path, event)) > filterStepsMax.large;
}

const values = new WeakMap<FilteredEvent, CelInput>();

/**
 * Returns an event as a value for the evaluator of expressions. A part of the event is converted only when an expression reads this part.
 */
export function convertedEvent(event: FilteredEvent): CelInput {
  const known = values.get(event);
  if (known !== undefined) return known;
  const made = celValueInPlace(event);
  values.set(event, made);
  return made;
}

function extentAt(root: string, path: readonly (string | number)[], event: FilteredEvent): Extent {
  let value: JsonValue | undefined = root === "event" ? event : undefined;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return extentOf(undefined);
    value = (value as Readonly<Record<string | number, JsonValue>>)[name];
  }
  return extentOf(value);
}
