import type { AccessClass, JsonSchema } from "@svc/catalog";
import type { Check } from "../check/context.ts";
import type { Path } from "../json.ts";
import type { Bounds, Limits } from "../limits.ts";
import type { ObjectForm } from "../read/form.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "../read/shape.ts";
import type { Expression } from "../template.ts";
import type { Scope, StepOutcome } from "../types/scope.ts";
import type { StepCall } from "./parts/tool-call.ts";
import type { Use } from "./use.ts";

/**
 * Properties of every step. `pointer`: the JSON Pointer of the step in the program's text. `when`: if it is false, the step is skipped; for
 * a call of a map, only for the current row.
 */
export type StepBase = { readonly id: string; readonly pointer: string; readonly when: Expression | undefined };

/** A step of any kind. */
export type AnyStep = StepBase & { readonly kind: string };

/**
 * Everything that the language knows about one kind of step. `Inner`: the steps inside it, if any. The code that reads, checks, pins and
 * estimates programs uses this and knows no kind itself.
 */
export type StepLanguage<S extends AnyStep, Inner extends AnyStep = never> = {
  /** Its fields besides `id`. The required one with its own name is the distinguishing field. */
  readonly form: ObjectForm;
  /** Its fields among the calls of a map. Undefined for a kind that is not allowed there. */
  readonly formInMap: ObjectForm | undefined;
  /** For a kind with lists of steps: the refusal of one inside another, at any depth. Undefined for any other kind. */
  readonly refusedInItself: StepRefusal | undefined;
  /** True if it may have an error handler (`onError`) when it is not a call of a map. Default false. */
  readonly takesOnError?: boolean;
  /** Definitions of the JSON Schema that its forms refer to. */
  readonly definitions: Readonly<Record<string, JsonSchema>>;
  /** Words of hints for its results, and for the part of it that has a row. */
  readonly named: StepWords;
  /** Reads a step. Returns undefined if it is unusable. Records every fault. */
  read(base: StepBase, fields: ShapeFields, reading: StepReadContext<Inner>): S | undefined;
  /** Checks a step at its place: references, sets, types, tools. Records every fault. */
  check(step: S, checking: StepCheckContext<Inner>): StepOutcomes;
  /** Returns its lists of steps that the job continues after: branches. The calls for each row are not such a list. */
  lists(step: S): readonly (readonly Inner[])[];
  /** Returns its calls in order, without those of its lists. Pins, accounts, overrides and approvals depend on them. */
  calls(step: S): readonly StepCall[];
  /** Returns the skills that it runs itself, by the names in the program. Absent for a kind that runs none. */
  runs?(step: S): readonly string[];
  /** Returns the points that it may ask. */
  asks(step: S): readonly StepPoint[];
  /** Returns its use, including its lists. `asks` counts its own questions. */
  estimate(step: S, measure: Measure<Inner>): Use;
  /** Returns the most rows of its set. Absent for a kind whose sets have no own limit. */
  setSize?(step: S, measure: Pick<Measure<Inner>, "rows" | "sizeOf">): number;
};

/** Why a step is not allowed at its place. */
export type StepRefusal = { readonly message: string; readonly hint: string };

/** Words of hints, such as "a filter". Undefined if a kind has no such part. */
export type StepWords = {
  /** A word for its steps with a value, as `steps.<id>`. */
  readonly value: string | undefined;
  /** A word for one of its steps that leaves a set. */
  readonly set: string | undefined;
  /** The part of it that knows `row`, and whether that is an expression. */
  readonly row: { readonly place: string; readonly isExpression: boolean } | undefined;
};

/** The place of steps: in the program's own list, in a list of another step, or among the calls of a map. */
export type StepPlace = "program" | "branch" | "map";

/** Context of reading steps. */
export type StepReadContext<Inner extends AnyStep> = {
  readonly reader: ShapeReader;
  readonly limits: Limits;
  /** Reads a list in the step. */
  list(node: ShapeNode, place: StepPlace, count: Bounds): Inner[];
  /** Leaves out a step that was read. Naming it is not a second fault. */
  leaveOut(step: Inner): void;
};

/** Context of checking steps. */
export type StepCheckContext<Inner extends AnyStep> = {
  readonly check: Check;
  /** The names that the step can use. */
  readonly scope: Scope;
  /** Checks a list in the step. Returns its results by id. */
  list(steps: readonly Inner[], scope: Scope): ReadonlyMap<string, StepOutcome>;
  /** Checks a single step inside the step. */
  step(step: Inner, scope: Scope): StepOutcomes;
};

/** The results of a step for later ones: by its own id, and by the ids of steps inside it. */
export type StepOutcomes = { readonly own: StepOutcome; readonly inner: readonly (readonly [string, StepOutcome])[] };

/** A point that a step may ask. */
export type StepPoint = {
  readonly point: string;
  /** The subject of the question: the plan at this step, or rows of the step that ended this way. */
  readonly about: "step" | "failed" | "unknown";
  /** The place where the step names it. */
  readonly field: Path;
  /** True if it is asked whenever the step is reached. */
  readonly isCertain: boolean;
};

/** Context of measuring steps. */
export type Measure<Inner extends AnyStep> = {
  /** The rows that one set may have. */
  readonly rows: number;
  /** The rows that all sets together may have. */
  readonly rowsMax: number;
  /** True if repetitions of a call count. */
  readonly isRepeating: boolean;
  /** Returns the most rows of an earlier step's set. */
  sizeOf(set: string): number;
  classOf(call: Pick<StepCall, "tool" | "http">): AccessClass;
  /** Returns the use of one run of a skill. */
  useOfSkill(name: string): Use;
  /** Measures a list in the step. */
  list(steps: readonly Inner[]): Use;
};
