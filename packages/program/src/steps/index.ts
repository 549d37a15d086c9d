import type { Point } from "../point.ts";
import { type ObjectForm, ref } from "../read/form.ts";
import type { ErrorRule } from "../read/on-error.ts";
import { type CallStep, callLanguage } from "./call.ts";
import { type ComputeStep, computeLanguage } from "./compute.ts";
import { type DistinctStep, distinctLanguage } from "./distinct.ts";
import { type FailStep, failLanguage } from "./fail.ts";
import { type FilterStep, filterLanguage } from "./filter.ts";
import { type FlattenStep, flattenLanguage } from "./flatten.ts";
import { type GroupStep, groupLanguage } from "./group.ts";
import { type HttpStep, httpLanguage } from "./http.ts";
import { type IfStepOf, ifLanguage } from "./if.ts";
import { type JoinStep, joinLanguage } from "./join.ts";
import { type JudgeStep, judgeLanguage } from "./judge.ts";
import type { StepLanguage, StepPlace, StepPoint } from "./language.ts";
import { type LimitStep, limitLanguage } from "./limit.ts";
import { type MapStep, mapLanguage } from "./map.ts";
import { type ParallelStepOf, parallelLanguage } from "./parallel.ts";
import type { StepCall } from "./parts/tool-call.ts";
import { type ReduceStep, reduceLanguage } from "./reduce.ts";
import { type RunStep, runLanguage } from "./run.ts";
import { type SortStep, sortLanguage } from "./sort.ts";
import { type TakeStep, takeLanguage } from "./take.ts";
import { type UntilStepOf, untilLanguage } from "./until.ts";
import { type WaitStep, waitLanguage } from "./wait.ts";

/** An `if` step: it runs one of two lists of steps, and its condition decides which. */
export interface IfStep extends IfStepOf<Step> {}

/** A `parallel` step: it runs several lists of steps at the same time. */
export interface ParallelStep extends ParallelStepOf<Step> {}

/** An `until` step: it repeats a list of steps until its condition is true. */
export interface UntilStep extends UntilStepOf<Step> {}

type Kinds = {
  readonly call: CallStep;
  readonly http: HttpStep;
  readonly filter: FilterStep;
  readonly map: MapStep;
  readonly reduce: ReduceStep;
  readonly sort: SortStep;
  readonly limit: LimitStep;
  readonly distinct: DistinctStep;
  readonly join: JoinStep;
  readonly group: GroupStep;
  readonly compute: ComputeStep;
  readonly flatten: FlattenStep;
  readonly take: TakeStep;
  readonly judge: JudgeStep;
  readonly fail: FailStep;
  readonly if: IfStep;
  readonly parallel: ParallelStep;
  readonly until: UntilStep;
  readonly wait: WaitStep;
  readonly run: RunStep;
};

/** The error handler of a step: the errors that it handles, and its steps. */
export interface OnError extends ErrorRule {
  readonly steps: readonly Step[];
}

type Steps = { readonly [Kind in keyof Kinds]: Kinds[Kind] & { readonly onError?: OnError } };

/** One step of a program. `pointer`: the JSON Pointer of the step in the program's text. */
export type Step = Steps[keyof Steps];

/** A step of the kind `Kind`. */
export type StepOf<Kind extends Step["kind"]> = Steps[Kind];

/**
 * The definition of every kind of step. The keys are the names of the kinds. A step has a field with the name of its kind, by which svc
 * recognizes the kind. Messages list the kinds in this order.
 */
const languages: { readonly [Kind in Step["kind"]]: StepLanguage<Steps[Kind], Step> } = {
  call: callLanguage,
  http: httpLanguage,
  filter: filterLanguage,
  map: mapLanguage,
  reduce: reduceLanguage,
  sort: sortLanguage,
  limit: limitLanguage,
  distinct: distinctLanguage,
  join: joinLanguage,
  group: groupLanguage,
  compute: computeLanguage,
  flatten: flattenLanguage,
  take: takeLanguage,
  judge: judgeLanguage,
  fail: failLanguage,
  if: ifLanguage<Step>(),
  parallel: parallelLanguage<Step>(),
  until: untilLanguage<Step>(),
  wait: waitLanguage,
  run: runLanguage,
};

/** Every kind of step, in the order in which messages list them. */
export const stepKinds = Object.keys(languages) as readonly Step["kind"][];

/**
 * Returns the definition of a kind of step: its fields, and how svc reads and checks such a step and estimates its calls, rows and
 * questions.
 */
export function languageOf(kind: Step["kind"]): StepLanguage<Step, Step> {
  return languages[kind];
}

/** The field `when`, which every step may have. If its condition is false, the step is skipped. */
const when = {
  ...ref("expression"),
  description:
    "If it is false, svc skips the step: its set is empty, and references to its value need else. In a map it may name row and calls.",
};

/** Returns the form (list of fields) of a kind of step at a place. It includes `id`, `when` and `onError` if the place allows them. */
export function formOf(kind: Step["kind"], place: StepPlace): ObjectForm {
  const { form, formInMap, takesOnError = false } = languageOf(kind);
  const own = place === "map" && formInMap !== undefined ? formInMap : form;
  const onError = takesOnError && place !== "map" ? { onError: ref("onError") } : {};
  return { ...own, required: { id: ref("id"), ...own.required }, optional: { when, ...own.optional, ...onError } };
}

/** Yields every step of a list in program order, with the steps in its branches. Calls inside `map` steps are not included. */
export function* stepsOf(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    for (const list of listsOf(step)) yield* stepsOf(list);
  }
}

/** Returns the lists of steps inside a step: its branches, and the steps of its error handler. */
export function listsOf(step: Step): readonly (readonly Step[])[] {
  const lists = languageOf(step.kind).lists(step);
  return step.onError === undefined ? lists : [...lists, step.onError.steps];
}

/** Returns what a step does, in a few words for people, such as `List deals`. `points`: the judgment points of the program. */
export function stepTitle(step: Step, points: ReadonlyMap<string, Point>): string {
  return languageOf(step.kind).title(step, points);
}

/** Returns every call that a list of steps makes, in program order. Calls in `map` steps are included, undo calls are not. */
export function callsOf(steps: readonly Step[]): readonly StepCall[] {
  return [...stepsOf(steps)].flatMap(ownCallsOf);
}

/** Returns the calls that a step makes itself. Calls in its branches are not included. */
export function ownCallsOf(step: Step): readonly StepCall[] {
  return languageOf(step.kind).calls(step);
}

/** Returns the names of the skills (programs used as tools) that a step itself runs. Skills in the branches of the step are not included. */
export function ownRunsOf(step: Step): readonly string[] {
  return languageOf(step.kind).runs?.(step) ?? [];
}

/** Returns every skill that a list of steps runs, without duplicates, by the program's names for them. */
export function runsOf(steps: readonly Step[]): readonly string[] {
  return [...new Set([...stepsOf(steps)].flatMap(ownRunsOf))];
}

/** Returns the judgment points (questions to people) that a step can ask while it runs. */
export function asksOf(step: Step): readonly StepPoint[] {
  return languageOf(step.kind).asks(step);
}

/** True if an answer to a step's question may skip the next step. */
export function maySkipNext(step: Step, points: ReadonlyMap<string, Point>): boolean {
  return asksOf(step).some(({ about, point }) => {
    return about === "step" && points.get(point)?.continuations.includes("skip") === true;
  });
}
