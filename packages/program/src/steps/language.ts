import type { AccessClass, JsonSchema } from "@svc/catalog";
import type { Check } from "../check/context.ts";
import type { Path } from "../json.ts";
import type { Bounds, Limits } from "../limits.ts";
import type { ObjectForm } from "../read/form.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "../read/shape.ts";
import type { Expression } from "../template.ts";
import type { Ended, Scope } from "../types/scope.ts";
import type { StepCall } from "./parts/tool-call.ts";
import type { Use } from "./use.ts";

/**
 * What every step has. `pointer` is the JSON Pointer of the step in the program's text. Where `when` does not hold the step is skipped; so
 * is a call of a map, for the row at hand.
 */
export type StepBase = { readonly id: string; readonly pointer: string; readonly when: Expression | undefined };

/** A step of any kind. */
export type AnyStep = StepBase & { readonly kind: string };

/**
 * All that the language knows of one kind of step; `Inner` are the steps that stand in it, if any. What reads, checks, pins and
 * estimates programs asks this and knows no kind itself.
 */
export type StepLanguage<S extends AnyStep, Inner extends AnyStep = never> = {
  /** Its fields beside `id`. The required one of its own name is what tells it. */
  readonly form: ObjectForm;
  /** Its fields among the calls of a map; undefined for a kind that cannot stand there. */
  readonly formInMap: ObjectForm | undefined;
  /** Of a kind that holds lists of steps: what is said of one that stands in another, however deep. Undefined for any other kind. */
  readonly refusedInItself: StepRefusal | undefined;
  /** Whether it may say what is done when it fails (`onError`), where it is no call of a map. Default false. */
  readonly takesOnError?: boolean;
  /** Definitions of the JSON Schema that its forms refer to. */
  readonly definitions: Readonly<Record<string, JsonSchema>>;
  /** How hints name what it leaves behind, and where in it there is a row. */
  readonly named: StepWords;
  /** Reads one; undefined when nothing can be made of it. Records every fault. */
  read(base: StepBase, fields: ShapeFields, reading: StepReading<Inner>): S | undefined;
  /** Checks one where it stands: references, sets, types, tools. Records every fault. */
  check(step: S, checking: Checking<Inner>): Left;
  /** The lists of steps in it, which go on after it: branches. What runs for each row is no such list. */
  lists(step: S): readonly (readonly Inner[])[];
  /** Every call that it makes, in order; those of its lists are theirs. Pins, accounts, overrides and approvals go by them. */
  calls(step: S): readonly StepCall[];
  /** Every skill that it runs itself, as it names them; undefined for a kind that runs none. */
  runs?(step: S): readonly string[];
  /** Every point that it may ask. */
  asks(step: S): readonly StepPoint[];
  /** What it uses, its lists included. Its own questions are counted by `asks`. */
  estimate(step: S, measure: Measure<Inner>): Use;
  /** The most rows that its set has; absent of a kind whose sets may have as many as any. */
  setSize?(step: S, measure: Pick<Measure<Inner>, "rows" | "sizeOf">): number;
};

/** Why a step may not stand where it does. */
export type StepRefusal = { readonly message: string; readonly hint: string };

/** Words of hints, such as "a filter"; undefined where a kind has nothing of the sort. */
export type StepWords = {
  /** Those of its steps that have a value, as `steps.<id>`. */
  readonly value: string | undefined;
  /** One of its steps that leaves a set. */
  readonly set: string | undefined;
  /** The part of it that knows `row`, and whether that is an expression. */
  readonly row: { readonly place: string; readonly isExpression: boolean } | undefined;
};

/** Where steps stand: in the program's own list, in a list of another step, or among the calls of a map. */
export type StepPlace = "program" | "branch" | "map";

/** What steps are read with. */
export type StepReading<Inner extends AnyStep> = {
  readonly reader: ShapeReader;
  readonly limits: Limits;
  /** Reads a list in the step. */
  list(node: ShapeNode, place: StepPlace, count: Bounds): Inner[];
  /** Leaves out a step that was read: what names it is no second fault. */
  leaveOut(step: Inner): void;
};

/** What steps are checked with. */
export type Checking<Inner extends AnyStep> = {
  readonly check: Check;
  /** What may be named where the step stands. */
  readonly scope: Scope;
  /** Checks a list in the step and answers what it leaves behind, by id. */
  list(steps: readonly Inner[], scope: Scope): ReadonlyMap<string, Ended>;
  /** Checks one step in the step by itself. */
  step(step: Inner, scope: Scope): Left;
};

/** What a step leaves behind for those after it: by its own id, and by the ids of steps in it. */
export type Left = { readonly own: Ended; readonly inner: readonly (readonly [string, Ended])[] };

/** A point that a step may ask. */
export type StepPoint = {
  readonly point: string;
  /** What it asks about: the plan at this step, or rows of the step that ended so. */
  readonly about: "step" | "failed" | "unknown";
  /** Where the step names it. */
  readonly field: Path;
  /** Whether it is asked whenever the step is reached. */
  readonly isCertain: boolean;
};

/** What steps are measured with. */
export type Measure<Inner extends AnyStep> = {
  /** The rows that one set may have. */
  readonly rows: number;
  /** The rows that all sets together may have. */
  readonly rowsMax: number;
  /** Whether repetitions of a call count. */
  readonly isRepeating: boolean;
  /** The most rows that the set of an earlier step has. */
  sizeOf(set: string): number;
  classOf(call: Pick<StepCall, "tool" | "http">): AccessClass;
  /** What a skill uses, run once. */
  useOfSkill(name: string): Use;
  /** Measures a list in the step. */
  list(steps: readonly Inner[]): Use;
};
