import type { JsonSchema } from "@svc/catalog";
import { isObject } from "@svc/core";
import { listed } from "../limits.ts";
import type { Point } from "../point.ts";
import { asksOf, languageOf, maySkipNext, type OnError, type Step, stepKinds } from "../steps/index.ts";
import type { StepOutcomes, StepPoint } from "../steps/language.ts";
import type { ValueType } from "../types/schema-type.ts";
import { type Scope, type ScopeHints, type StepOutcome, whereAsked } from "../types/scope.ts";
import type { Check } from "./context.ts";
import { checkCondition } from "./expression.ts";

/**
 * Type of the error of a failed step (`steps.<id>.error`). `status`: the HTTP status of the app's answer, or 0 if the app did not answer.
 */
const errorType: JsonSchema = {
  type: "object",
  properties: { code: { type: "string" }, message: { type: "string" }, status: { type: "integer" } },
};

/** Type of `steps.<id>` for a step that failed, if an error handler allowed the job to continue. It has only the field `error`. */
const onlyError: JsonSchema = { type: "object", properties: { error: errorType } };

/**
 * The use of a judgment point (question to people) by a step. `step`: the step that asks the question. `list`: the list of steps that
 * contains this step. `scope`: the names that the question can use.
 */
export type PointUse = StepPoint & {
  readonly step: Step;
  readonly list: readonly Step[];
  readonly scope: Scope;
};

/**
 * Checks every step. Returns `scope`, the names that exist after the last step. Also returns `uses`: each place at which a step asks a
 * judgment point (question to people).
 */
export function checkSteps(
  steps: readonly Step[],
  points: ReadonlyMap<string, Point>,
  scope: Scope,
  check: Check,
): { readonly scope: Scope; readonly uses: readonly PointUse[] } {
  const uses: PointUse[] = [];
  const left = checkList(steps, scope, { points, check, uses });
  return { scope: { ...scope, ended: new Map([...scope.ended, ...left]) }, uses };
}

type Walk = { readonly points: ReadonlyMap<string, Point>; readonly check: Check; readonly uses: PointUse[] };

/** Checks the steps of a list in a program: references, types and tools. Returns by id what later steps can use of each step. */
function checkList(list: readonly Step[], before: Scope, walk: Walk): ReadonlyMap<string, StepOutcome> {
  const ended = new Map(before.ended);
  const left = new Map<string, StepOutcome>();
  const scope = { ...before, ended };
  let maySkip = false;
  for (const step of list) {
    const { own, inner } = checkStep(step, scope, walk);
    const all = [[step.id, own] as const, ...inner];
    for (const asked of asksOf(step)) {
      // The results of the step are included in the check of its question about rows, because the text may name the set of these rows. In a
      // stored program, a question about a step may also name sets that later steps make.
      const asOfNow = { ...scope, ended: new Map(asked.about === "step" ? ended : [...ended, ...all]) };
      const known = asked.about === "step" && walk.check.isStored ? scope : asOfNow;
      walk.uses.push({ ...asked, step, list, scope: walk.check.flow?.enter(step, known) ?? known });
    }
    for (const [id, value] of all) {
      // An empty id means that the step had an invalid id, which is already reported. No other step can refer to it.
      if (id === "") continue;
      const seen = maySkip || step.when !== undefined ? { ...value, maySkip: true } : value;
      ended.set(id, seen);
      left.set(id, seen);
    }
    maySkip = maySkipNext(step, walk.points);
  }
  return left;
}

function checkStep(step: Step, around: Scope, walk: Walk): StepOutcomes {
  const before = walk.check.flow?.enter(step, around) ?? around;
  if (step.when !== undefined) checkCondition(step.when, before, walk.check.faults);
  const scope = step.when === undefined ? before : whereAsked(before, step.when);
  const left = languageOf(step.kind).check(step, {
    scope,
    check: walk.check,
    list: (list, inner) => checkList(list, inner, walk),
    step: (inner, at) => checkStep(inner, at, walk),
  });
  return step.onError === undefined ? left : checkOnError(step, step.onError, { left, scope, walk });
}

/**
 * Checks the steps of a step's error handler. These steps can read the error of the failed step. If the job continues after the handler,
 * later steps cannot rely on a result of the failed step, because only its error exists.
 */
function checkOnError(
  { id, kind }: Step,
  { steps, goesOn, codes }: OnError,
  { left, scope, walk }: { readonly left: StepOutcomes; readonly scope: Scope; readonly walk: Walk },
): StepOutcomes {
  const maySkip = left.inner.map(([inner, ended]) => {
    const { set, lostWith = id } = ended;
    return [inner, { ...ended, maySkip: true, ...(set !== undefined && { lostWith }) }] as const;
  });
  const failed: StepOutcome = { ...left.own, value: { type: onlyError }, set: undefined };
  // UNTIL_EXHAUSTED means that the last round finished and the condition was still false. All results of that round exist.
  const isWhole = kind === "until" && codes?.every((code) => code === "UNTIL_EXHAUSTED") === true;
  const handling = {
    ...scope,
    ended: new Map([...scope.ended, ...(isWhole ? left.inner : maySkip), [id, failed] as const]),
    failed: new Set([...(scope.failed ?? []), id]),
  };
  const handled = [...checkList(steps, handling, walk)].map(([inner, ended]) => {
    return [inner, { ...ended, maySkip: true }] as const;
  });
  if (!goesOn) return { own: left.own, inner: [...left.inner, ...handled] };
  const value = left.own.value === "none" ? { type: onlyError } : { type: typeWithError(left.own.value.type) };
  const own: StepOutcome = { ...left.own, value, mayFail: true, ...(left.own.set !== undefined && { lostWith: id }) };
  return { own, inner: [...maySkip, ...handled] };
}

/**
 * Returns the texts of hints that list kinds of steps, for example all kinds that have a value. The texts are made from the definitions of
 * the kinds.
 */
export function scopeHints(): ScopeHints {
  const named = stepKinds.map((kind) => languageOf(kind).named);
  const places = named.flatMap(({ row }) => row ?? []);
  const values = named.flatMap(({ value }) => value ?? []);
  const sets = named.flatMap(({ set }) => set ?? []);
  return {
    values: `only ${listed(values.sort(), "and")} have a value`,
    sets: `name ${listed(sets.sort(), "or")}`,
    rows: onlyKnow(places.map(({ place }) => place)),
    expressionRows: onlyKnow(places.flatMap(({ place, isExpression }) => (isExpression ? [place] : []))),
  };
}

function onlyKnow(places: readonly string[]): string {
  return `only ${listed(places.toSorted(), "and")} ${places.length === 1 ? "knows" : "know"} one`;
}

/** Returns the type of `steps.<id>` for a step whose errors are handled: its answer, or its error. */
function typeWithError(type: ValueType): ValueType {
  // If the answer's type is unknown, the answer may have any field, even one named `error`. The result then also has an unknown type.
  return type === undefined || !isObject(type.properties) ? undefined : { anyOf: [type, onlyError] };
}
