import type { AccessClass, JsonSchema } from "@svc/catalog";
import type { Check } from "../check/context.ts";
import type { Path } from "../json.ts";
import type { Bounds, Limits } from "../limits.ts";
import type { Point } from "../point.ts";
import type { ObjectForm } from "../read/form.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "../read/shape.ts";
import type { Expression } from "../template.ts";
import type { Scope, StepOutcome } from "../types/scope.ts";
import type { StepCall } from "./parts/tool-call.ts";
import type { Use } from "./use.ts";

/**
 * Fields that every step has. `pointer`: JSON Pointer of the step in the program's text. `when`: if this condition is false, the step is
 * skipped. A call in a `map` step is skipped only for the current row.
 */
export type StepBase = { readonly id: string; readonly pointer: string; readonly when: Expression | undefined };

/** A step of any kind. */
export type AnyStep = StepBase & { readonly kind: string };

/**
 * The definition of one kind of step, for example `filter`. `Inner`: the type of the steps inside it, if any. The code that reads, checks
 * and estimates programs uses only these definitions, and no code for single kinds.
 */
export type StepLanguage<S extends AnyStep, Inner extends AnyStep = never> = {
  /** Allowed fields of this kind of step. svc recognizes the kind by a required field that has the kind's name, such as `call`. */
  readonly form: ObjectForm;
  /** The form of the step as a call in a `map` step. Undefined for a kind that is not allowed in a `map` step. */
  readonly formInMap: ObjectForm | undefined;
  /**
   * The error that svc reports for a step of this kind inside another step of the same kind, at any depth. Undefined if a step of this kind
   * may contain steps of the same kind.
   */
  readonly refusedInItself: StepRefusal | undefined;
  /** True if the step may have an error handler (`onError`). A call in a `map` step never has one. Default false. */
  readonly takesOnError?: boolean;
  /** Definitions that the step's JSON Schema refers to. */
  readonly definitions: Readonly<Record<string, JsonSchema>>;
  /** Words for this kind of step that error hints use, such as "a filter". */
  readonly named: StepWords;
  /** Reads a step. Returns undefined if the step cannot be used. Records every fault. */
  read(base: StepBase, fields: ShapeFields, reading: StepReadContext<Inner>): S | undefined;
  /** Checks a step of a program: its references, the lists of rows (sets) that it uses, its types and its tools. Records every error. */
  check(step: S, checking: StepCheckContext<Inner>): StepOutcomes;
  /**
   * Returns what a step does, in a few words for people, such as `List deals` or `Sort by value`. `points`: the judgment points (questions
   * to people) of the program.
   */
  title(step: S, points: ReadonlyMap<string, Point>): string;
  /** Returns the lists of steps inside the step, for example its branches. The calls of a `map` step are not such a list. */
  lists(step: S): readonly (readonly Inner[])[];
  /**
   * Returns the calls that the step makes itself, in order, without calls of steps in its branches. svc uses this list to find what a
   * program needs: tool definitions to store with it, accounts, changeable arguments and approvals.
   */
  calls(step: S): readonly StepCall[];
  /** Returns the names of the skills that a step runs, without those of its inner steps. Absent if this kind of step runs no skills. */
  runs?(step: S): readonly string[];
  /** Returns the judgment points (questions to people) that this step may ask, for example if it fails. */
  asks(step: S): readonly StepPoint[];
  /** Returns the use of a step (numbers of calls, rows and questions), with the steps inside it. */
  estimate(step: S, measure: Measure<Inner>): Use;
  /**
   * Returns the maximum number of rows in the set (list of rows) that the step makes. Absent for a kind of step whose sets are limited only
   * by the program's limit of rows.
   */
  setSize?(step: S, measure: Pick<Measure<Inner>, "rows" | "sizeOf">): number;
};

/** The reason why a step of a program is not allowed at its place, and a hint for the author. */
export type StepRefusal = { readonly message: string; readonly hint: string };

/**
 * Names of a kind of step, such as "a filter", for hints to the author of a program. A name is undefined if the hint never applies to this
 * kind.
 */
export type StepWords = {
  /**
   * The plural name of this kind of step for hints, such as `reduces`. Undefined if steps of this kind do not have a value in `steps.<id>`.
   */
  readonly value: string | undefined;
  /**
   * Words for this kind of step in hints about steps that make a set of rows (for example "a filter"). Undefined if steps of this kind make
   * no set.
   */
  readonly set: string | undefined;
  /**
   * The part of the step in which the name `row` can be used. `place`: this part in words for error messages, such as `the fields of a
   * compute`. `isExpression`: true if this part is an expression.
   */
  readonly row: { readonly place: string; readonly isExpression: boolean } | undefined;
};

/** The place of a step: in the program's main list, in a list inside another step, or among the calls of a `map` step. */
export type StepPlace = "program" | "branch" | "map";

/** Functions and data for reading steps. */
export type StepReadContext<Inner extends AnyStep> = {
  readonly reader: ShapeReader;
  readonly limits: Limits;
  /** Reads a list of steps that is inside the step, and returns these steps. `count`: minimum and maximum number of steps in the list. */
  list(node: ShapeNode, place: StepPlace, count: Bounds): Inner[];
  /**
   * Removes a step from the program that is being checked, because the step has errors. If later steps refer to the removed step, no second
   * error is recorded.
   */
  leaveOut(step: Inner): void;
};

/** Functions and data for checking steps. */
export type StepCheckContext<Inner extends AnyStep> = {
  readonly check: Check;
  /** The names that expressions and references of the step can use, such as `input` or `steps.<id>`. */
  readonly scope: Scope;
  /** Checks a list of steps inside the step. Returns the results of those steps, by id. */
  list(steps: readonly Inner[], scope: Scope): ReadonlyMap<string, StepOutcome>;
  /** Checks a single step that is inside the checked step (for example a call of a map). Returns the results that later steps can use. */
  step(step: Inner, scope: Scope): StepOutcomes;
};

/**
 * The results of a step that later steps can use. `own`: the result under the step's own id. `inner`: the results under the ids of the steps
 * inside it.
 */
export type StepOutcomes = { readonly own: StepOutcome; readonly inner: readonly (readonly [string, StepOutcome])[] };

/** A judgment point (question to people) that a step may ask, and the subject of the question. */
export type StepPoint = {
  readonly point: string;
  /**
   * Subject of the question: how the job is to continue at this step (`step`), or the rows of the step that failed (`failed`) or whose
   * outcome is unknown (`unknown`).
   */
  readonly about: "step" | "failed" | "unknown";
  /** The path of the field in which the step names the judgment point (question to people). */
  readonly field: Path;
  /**
   * True if the question is asked every time the step is reached. False if it is only asked in some cases, for example if rows have failed.
   */
  readonly isCertain: boolean;
};

/** Functions and data with which a step estimates its use (numbers of calls, rows and questions). */
export type Measure<Inner extends AnyStep> = {
  /** Maximum number of rows that a single set (list of rows that a step made) can have. */
  readonly rows: number;
  /** Maximum number of rows of all row sets of the program together. */
  readonly rowsMax: number;
  /** True if retries of calls are included in the counts of calls. False if each call in the program counts only once. */
  readonly isRepeating: boolean;
  /** Returns the maximum number of rows in the set (list of rows) of an earlier step. */
  sizeOf(set: string): number;
  classOf(call: Pick<StepCall, "tool" | "http">): AccessClass;
  /** Returns the numbers of calls, rows and questions that one run of a skill (a program that the project has saved as a tool) needs. */
  useOfSkill(name: string): Use;
  /** Returns the use (numbers of calls, rows and questions) of a list of steps inside the step. */
  list(steps: readonly Inner[]): Use;
};
