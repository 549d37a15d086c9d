import type { JsonSchema } from "@svc/catalog";
import type { JsonObject, Path } from "../json.ts";
import { meantField } from "../read/shape-words.ts";
import type { Expression, Reference, ReferenceRoot } from "../template.ts";
import { fieldType, namesOf, typeOfConstant, typesOf, type ValueType } from "./schema-type.ts";

/**
 * A list of rows that a step produced, in the form in which later steps use it. `fields`: the known type of each field. `hasStates`: true
 * if each row has a state (`ok`, `failed` …), because a `map` step (one or more calls per row) produced the list.
 */
export type RowSet = { readonly fields: ReadonlyMap<string, ValueType>; readonly hasStates: boolean };

/**
 * Returns a row set (list of rows that a step made) without the information that its rows have states such as `failed`. The fields stay the
 * same.
 */
export function withoutStates(set: RowSet | "any"): RowSet | "any" {
  return set === "any" ? "any" : { fields: set.fields, hasStates: false };
}

/** What later steps know about a step: its value, its set of rows, and whether the step may have been skipped or may have failed. */
export type StepOutcome = {
  /**
   * The type of `steps.<id>`: the value that the step leaves. The type is undefined if it is not known. "none" if the step leaves no value.
   */
  readonly value: { readonly type: ValueType } | "none";
  readonly set: RowSet | "any" | undefined;
  /** True if the step may have been skipped before the checked place of the program is reached. */
  readonly maySkip: boolean;
  /**
   * True if the step may have failed before the program reaches the place that is checked, and an error handler then let the job continue.
   * Default false.
   */
  readonly mayFail?: boolean;
  /**
   * Id of the step that makes this row set, if that step may have failed before the program reaches the place that is checked. If the step
   * failed, the set does not exist at this place.
   */
  readonly lostWith?: string | undefined;
};

/** The result of a step that makes neither a value nor rows for later steps. */
export const nothing: StepOutcome = { value: "none", set: undefined, maySkip: false };

/** An earlier call for the same row of a `map` step. `type`: type of its answer. `maySkip`: true if the call may have been skipped. */
export type EarlierCall = { readonly type: ValueType; readonly maySkip: boolean };

/**
 * Texts about steps for the hints of error messages. `values` and `sets`: kinds of steps that have a value, or make rows. `rows` and
 * `expressionRows`: places where a value or an expression can use the current row.
 */
export type ScopeHints = {
  readonly values: string;
  readonly sets: string;
  readonly rows: string;
  readonly expressionRows: string;
};

/**
 * Values and limits with which the check of a program evaluates constant expressions. `params`: params of the program. `budget`: how many
 * evaluations, evaluation steps and characters are left.
 */
export type Constants = {
  readonly params: JsonObject;
  readonly budget: { evaluations: number; steps: number; characters: number };
};

/** The names, with their types, that references and expressions can use at one place of a program. */
export type Scope = {
  readonly hints: ScopeHints;
  readonly input: ValueType;
  readonly params: ValueType;
  /**
   * Params of the program, and how much work the check may still do to evaluate constant expressions. Undefined if the check must not
   * evaluate them.
   */
  readonly constants?: Constants | undefined;
  /** Steps that have certainly ended before this place of the program runs, by step id. Expressions at this place can use their results. */
  readonly ended: ReadonlyMap<string, StepOutcome>;
  /** Ids of all steps of the program, including steps that run after this place. */
  readonly ids: ReadonlySet<string>;
  /**
   * Steps whose error exists at this place of the program, because a condition around the place requires it. Expressions here may use the
   * error.
   */
  readonly asked?: ReadonlySet<string> | undefined;
  /**
   * Row sets that certainly exist at the checked place, because a condition around the place tests them with has(). So expressions there
   * may use these sets.
   */
  readonly askedSets?: ReadonlySet<string> | undefined;
  /**
   * Ids of steps whose error handlers contain the part of the program that is checked. These steps have failed when the job reaches that
   * part.
   */
  readonly failed?: ReadonlySet<string> | undefined;
  /** Fields of the current row in the part of the program that is checked. Undefined if there is no current row. */
  readonly row?: RowSet | "any" | undefined;
  /** Earlier calls for the same row of a `map` step, by call id. */
  readonly calls?: ReadonlyMap<string, EarlierCall> | undefined;
  /** Type of the answer of the call that is being undone. */
  readonly output?: { readonly type: ValueType } | undefined;
  /**
   * Types of values from outside a program, by name, such as the event that starts it. If present, expressions can use only these values.
   */
  readonly given?: ReadonlyMap<string, ValueType> | undefined;
  /**
   * Called with each name that the checked part of the program uses and that exists: its first word and the path after it. `set`: a step
   * takes the rows of this set. Undefined if the caller of the check does not need the names.
   */
  readonly onRead?: ((root: ReferenceRoot | "set", path: Path) => void) | undefined;
};

/**
 * Result of checking a reference in a program, such as `steps.a.value`: the type of the value that it leads to, or the reason why there is
 * none. `maySkip`: true if the value can be missing in a run, so that the reference needs a replacement value (`else`).
 */
type ReferenceResult =
  | { readonly type: ValueType; readonly maySkip: boolean; readonly mayFail?: boolean }
  | { readonly fault: string; readonly hint: string };

/** Values that expressions of all steps of a program can use: the input and the params. */
type ProgramNames = {
  readonly inputSchema: JsonSchema | undefined;
  readonly input: JsonObject;
  readonly params: JsonObject;
};

/**
 * Returns the scope of a program's first step: the names that its references can use, with their types. These are only the input and the
 * params.
 */
export function firstScope(
  { inputSchema, input, params }: ProgramNames,
  { ids, hints }: Pick<Scope, "ids" | "hints">,
): Scope {
  return { hints, input: inputSchema ?? typeOfConstant(input), params: typeOfConstant(params), ended: new Map(), ids };
}

/**
 * Returns the scope (the usable names) of steps that run only if a condition is true. If the condition tests `steps.x.error` or
 * `has(rows.x)`, these steps can use that error or those rows.
 */
export function whereAsked(scope: Scope, { source }: Pick<Expression, "source">): Scope {
  const asked = [...source.matchAll(/\bsteps\.([A-Za-z0-9_]+)\.error\b/g)].map(([, id = ""]) => id);
  const sets = [...source.matchAll(/\bhas\(\s*rows\.([A-Za-z0-9_]+)\s*\)/g)].map(([, id = ""]) => id);
  if (asked.length + sets.length === 0) return scope;
  const { asked: before = [], askedSets: setsBefore = [] } = scope;
  return { ...scope, asked: new Set([...before, ...asked]), askedSets: new Set([...setsBefore, ...sets]) };
}

/**
 * Returns the type of the value that a reference names. `scope`: the names that exist where the reference is used. A reference that could
 * not be parsed counts as a value of any type.
 */
export function resolveType(scope: Scope, reference: Pick<Reference, "root" | "path" | "text">): ReferenceResult {
  if (reference.text === "") return { type: undefined, maySkip: false };
  const found = findType(scope, reference);
  if ("type" in found) scope.onRead?.(reference.root, reference.path);
  return found;
}

function findType(scope: Scope, { root, path, text }: Pick<Reference, "root" | "path" | "text">): ReferenceResult {
  const [first, ...rest] = path;
  const name = String(first);
  switch (root) {
    case "input":
      return follow(scope.input, path, "input", "name a field of inputSchema (or input)");
    case "params":
      return follow(scope.params, path, "params", "name one of the program's params");
    case "rows": {
      const found = findSet(scope, name);
      return "fault" in found ? found : { type: { type: "number" }, maySkip: found.lostWith !== undefined };
    }
    case "row":
      return resolveRow(scope, name, rest);
    case "output": {
      if (scope.output !== undefined)
        return follow(scope.output.type, path, "the answer", "name a field of the tool's output");
      return {
        fault: `${text} is outside of an undo`,
        hint: "only the arguments of an undo can name the answer that is undone",
      };
    }
    case "calls":
      return resolveCall(scope, name, rest);
    case "steps":
      return resolveStep(scope, name, rest);
  }
}

/**
 * Returns the set (list of rows) with this name at a place in the program. If it does not exist, returns a fault and a hint. `lostWith`: id
 * of the step that makes the set, if that step may have failed before this place; otherwise undefined.
 */
export function findSet(
  scope: Scope,
  name: string,
):
  | { readonly set: RowSet | "any"; readonly lostWith: string | undefined }
  | { readonly fault: string; readonly hint: string } {
  const ended = scope.ended.get(name);
  if (ended?.set !== undefined) {
    const { set, lostWith } = ended;
    const isAsked = (lostWith !== undefined && scope.asked?.has(lostWith)) || scope.askedSets?.has(name);
    return { set, lostWith: isAsked ? undefined : lostWith };
  }
  if (ended !== undefined) {
    return { fault: `${name} is not a row set`, hint: hintOfNoSet(name, ended, scope.hints.sets) };
  }
  const known = [...scope.ended].flatMap(([id, { set }]) => (set === undefined ? [] : [id]));
  const given = startingSets.has(name) && !scope.ids.has(name) ? hintOfStart(name) : undefined;
  const lacking = missing(scope, name, known, "row set");
  return given === undefined ? lacking : { ...lacking, hint: given };
}

/**
 * Names of the lists of rows in the data with which a schedule starts a job. Authors sometimes use these names as if they were sets of the
 * program.
 */
const startingSets: ReadonlySet<string> = new Set(["rows", "events"]);

function hintOfStart(name: string): string {
  const take = `{"id": "found", "take": "input.${name}", "keep": ["id"]}`;
  const schema = `"inputSchema": {"type": "object", "required": ["${name}"], "properties": {"${name}": {"type": "array"}}}`;
  return `write "input": {"${name}": {"$ref": "${name}"}} in the standing definition, next to program; in the program ${schema}, the step ${take}, and found instead of ${name}`;
}

/**
 * Returns a hint for a step whose name is used as a set (list of rows) although the step makes no set. If the step's answer contains a
 * list, the hint shows the field `rows` with which the step makes a set from the list. In all cases the hint ends with `sets`, which says
 * what sets there are.
 */
function hintOfNoSet(name: string, { value }: StepOutcome, sets: string): string {
  const type = value === "none" ? undefined : value.type;
  const list = namesOf(type ?? {}).find((field) => {
    const found = fieldType(type, field);
    return "type" in found && typesOf(found.type)?.has("array") === true;
  });
  if (list === undefined) return sets;
  return `let step ${name} take its rows: "rows": {"from": "${list}[]", "keep": ["id"], "page": {"max": 20}}; or ${sets}`;
}

function resolveStep(scope: Scope, name: string, path: Path): ReferenceResult {
  const ended = scope.ended.get(name);
  if (ended === undefined) {
    const known = [...scope.ended].flatMap(([id, { value }]) => (value === "none" ? [] : [id]));
    return missing(scope, name, known, "step with a value");
  }
  if (ended.value === "none") {
    const hint = ended.set === undefined ? scope.hints.values : `use rows.${name} for its size, or reduce it`;
    return { fault: `step ${name} has no value`, hint };
  }
  const found = follow(ended.value.type, path, `the value of ${name}`, "name a field that exists");
  if ("fault" in found) return found;
  return { ...found, maySkip: ended.maySkip, mayFail: ended.mayFail === true };
}

function resolveRow(scope: Scope, name: string, path: Path): ReferenceResult {
  if (scope.row === undefined) {
    return { fault: "row is used where no row exists", hint: scope.hints.rows };
  }
  if (scope.row === "any") return { type: undefined, maySkip: false };
  const { fields } = scope.row;
  if (!fields.has(name)) {
    const [, formatted] = /^(\w+):/.exec(name) ?? [];
    if (formatted !== undefined && fields.has(formatted)) {
      const hint = `compute the formatted value: {"$cel": "'%.2f'.format([row.${formatted}])"}, instead of the whole text`;
      return { fault: `row has no field ${name}`, hint };
    }
    const near = meantField(name, [...fields.keys()]);
    const meant = near === undefined ? "" : `did you mean row.${near}? `;
    return { fault: `row has no field ${name}`, hint: `${meant}keep it, or use ${[...fields.keys()].join(", ")}` };
  }
  return follow(fields.get(name), path, `row.${name}`, "name a field that exists");
}

function resolveCall(scope: Scope, name: string, path: Path): ReferenceResult {
  if (scope.calls === undefined) {
    return { fault: "calls is used outside of a map", hint: "use steps.<id> for the answer of a step" };
  }
  if (!scope.calls.has(name)) {
    const known = [...scope.calls.keys()];
    const hint = known.length === 0 ? "no call comes before this one" : `use ${known.join(", ")}`;
    return { fault: `${name} is not an earlier call of the same map`, hint };
  }
  const call = scope.calls.get(name);
  const found = follow(call?.type, path, `the answer of ${name}`, "name a field of the tool's output");
  return "fault" in found ? found : { ...found, maySkip: call?.maySkip === true };
}

function missing(scope: Scope, name: string, known: readonly string[], what: string): { fault: string; hint: string } {
  const hint = known.length === 0 ? `there is no ${what} before this one` : `use ${known.join(", ")}`;
  const isLater = scope.ids.has(name);
  const why = isLater ? `${name} ends later, or is in another branch or map` : `there is no step ${name}`;
  return { fault: why, hint };
}

function follow(type: ValueType, path: Path, what: string, hint: string): ReferenceResult {
  let current = type;
  let at = what;
  for (const step of path) {
    const field = fieldType(current, step);
    if ("fault" in field) {
      const near = typeof step === "string" && current !== undefined ? meantField(step, namesOf(current)) : undefined;
      return {
        fault: `${at} ${field.fault}; it has no ${step}`,
        hint: near === undefined ? hint : `did you mean ${near}? ${hint}`,
      };
    }
    current = field.type;
    at = typeof step === "number" ? `${at}[${step}]` : `${at}.${step}`;
  }
  return { type: current, maySkip: false };
}

/** The state in which a row of a `map` step ended. */
export type RowState = "ok" | "failed" | "skipped" | "unknown";

/** Every final state of a row, in the order in which messages list them. */
export const rowStates = ["ok", "failed", "skipped", "unknown"] as const satisfies readonly RowState[];
