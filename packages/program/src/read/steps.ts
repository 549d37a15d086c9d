import { formatValue, isObject } from "@svc/core";
import { type JsonObject, pointerOf } from "../json.ts";
import { type Bounds, type Limits, listed } from "../limits.ts";
import { formOf, languageOf, type OnError, type Step, stepKinds, stepsOf } from "../steps/index.ts";
import type { StepPlace, StepRefusal } from "../steps/language.ts";
import { readExpression } from "./expression.ts";
import { idForm } from "./name.ts";
import { readErrorRule } from "./on-error.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "./shape.ts";
import { failingStep, kindsLike, meantField, schemaPath } from "./shape-words.ts";

/** Maximum number of steps in a program. Steps in branches and calls of `map` steps count as well. */
const programStepsMax = 100;

/** Data for reading a program's steps. `limits`: the program's limits. `leftOut`: collects the ids of steps that could not be read. */
export type StepContext = { readonly limits: Limits; readonly leftOut: Set<string> };

type Walk = StepContext & {
  readonly reader: ShapeReader;
  /** For each step id, the place of the first step that has this id. A second step with the same id is reported as a fault. */
  readonly seen: Map<string, string>;
  count: number;
  /** True if a hint has already shown an example of each kind of step. */
  hasToldKinds: boolean;
};

/**
 * The place of a list of steps. `inside`: kinds of the steps that contain the list, outermost first. `isHandling`: true if the list is in
 * an error handler.
 */
type ListPlace = {
  readonly place: StepPlace;
  readonly inside: readonly Step["kind"][];
  readonly isHandling?: boolean;
};

/** Reads a list of steps, with the lists inside these steps. Records a fault if two steps in any of these lists have the same id. */
export function readSteps(node: ShapeNode, reader: ShapeReader, context: StepContext): Step[] {
  const walk: Walk = { ...context, reader, seen: new Map(), count: 0, hasToldKinds: false };
  const steps = readList(node, { place: "program", inside: [] }, { min: 1, max: Number.MAX_SAFE_INTEGER }, walk);
  if (walk.count > programStepsMax) {
    const message = `has ${walk.count} steps; at most ${programStepsMax} are allowed, including those of branches and maps`;
    reader.faults.add("PROGRAM_TOO_LARGE", node.path, message, "split it into several jobs");
  }
  return steps;
}

function readList(node: ShapeNode, standing: ListPlace, count: Bounds, walk: Walk): Step[] {
  return (walk.reader.items(node, count) ?? []).flatMap((item) => {
    if (walk.count >= programStepsMax) {
      // The program has too many steps and will be refused. So this step is counted and not read.
      walk.count++;
      return [];
    }
    const step = readStep(item, standing, walk);
    if (step === undefined) return [];
    if (refusalOf(step.kind, standing) === undefined) return [step];
    leaveOut(step, walk);
    return [];
  });
}

/** Returns the reason why a step of a kind is not allowed at its place, or undefined if it is allowed. */
function refusalOf(kind: Step["kind"], { inside }: ListPlace): StepRefusal | undefined {
  return inside.includes(kind) ? languageOf(kind).refusedInItself : undefined;
}

function leaveOut(step: Step, { leftOut }: Walk): void {
  for (const { id } of stepsOf([step])) leftOut.add(id);
}

function readStep(node: ShapeNode, standing: ListPlace, walk: Walk): Step | undefined {
  const { reader } = walk;
  const { place, inside } = standing;
  walk.count++;
  const kind = kindOf(node, place, walk);
  if (kind === undefined) {
    const id = isObject(node.value) ? readId({ value: node.value.id, path: [...node.path, "id"] }, walk) : undefined;
    if (id !== undefined) walk.leftOut.add(id);
    return undefined;
  }
  const fields = reader.fields(node, formOf(kind, place));
  if (fields === undefined) return undefined;
  // An invalid id is replaced by "". Nothing can refer to it.
  const id = readId(fields.at("id"), walk) ?? "";
  const refusal = refusalOf(kind, standing);
  if (refusal !== undefined) reader.faults.add("PROGRAM_MALFORMED", node.path, refusal.message, refusal.hint);
  const when = fields.has("when") ? readExpression(fields.at("when"), reader) : undefined;
  const step = languageOf(kind).read({ id, pointer: pointerOf(node.path), when }, fields, {
    reader,
    limits: walk.limits,
    list: (list, inner, count) => readList(list, { ...standing, place: inner, inside: [...inside, kind] }, count, walk),
    leaveOut: (inner) => leaveOut(inner, walk),
  });
  if (step === undefined) walk.leftOut.add(id);
  // Some kinds of steps cannot have an error handler (`onError`). If such a step has one, another check records a fault, and the handler is
  // not read here.
  const onError = languageOf(kind).takesOnError === true ? readOnError(fields, standing, walk) : undefined;
  return step === undefined || onError === undefined ? step : { ...step, onError };
}

function readOnError(fields: ShapeFields, standing: ListPlace, walk: Walk): OnError | undefined {
  const node = fields.at("onError");
  if (node.value === undefined || standing.place === "map") return undefined;
  const rule = readErrorRule(node, walk.reader);
  if (rule === undefined) return undefined;
  if (standing.isHandling === true) {
    const hint = "leave it out: steps of an onError cannot handle errors themselves";
    walk.reader.faults.add("PROGRAM_MALFORMED", node.path, "is inside another onError", hint);
  }
  const list = { value: isObject(node.value) ? node.value.do : undefined, path: [...node.path, "do"] };
  const inner = { ...standing, place: "branch", isHandling: true } as const;
  const steps = list.value === undefined ? [] : readList(list, inner, { min: 1, max: Number.MAX_SAFE_INTEGER }, walk);
  return { ...rule, steps };
}

/**
 * Returns the kind of a step. svc recognizes the kind by the field that only this kind has (such as `call`). If only one kind is allowed at
 * `place`, the step is read as that kind, whatever fields it has.
 */
function kindOf(node: ShapeNode, place: StepPlace, walk: Walk): Step["kind"] | undefined {
  const { faults } = walk.reader;
  const kinds = place === "map" ? stepKinds.filter((kind) => languageOf(kind).formInMap !== undefined) : stepKinds;
  if (kinds.length === 1) return kinds[0];
  const { value } = node;
  if (!isObject(value)) {
    faults.add("PROGRAM_MALFORMED", node.path, `is ${formatValue(value)}, not a step`, "write an object");
    return undefined;
  }
  const named = kinds.filter((kind) => Object.hasOwn(value, kind));
  if (named.length === 1) return named[0];
  // Fields whose names mean to end the run (such as `throw`) are checked first, because some are similar to fields of other kinds of steps.
  const isFailing = place !== "map" && failingStep(value) !== undefined;
  const meant = named.length === 0 && !isFailing ? meantKind(value, kinds) : undefined;
  // The author wrote a field that looks like a misspelled or foreign name of one step kind. The step is read as that kind. Faults in its
  // fields are reported separately.
  if (meant !== undefined) return meant;
  const { message, near, instead } = named.length === 0 ? strangerOf(value, kinds, place) : togetherOf(named, value);
  if (instead !== undefined) {
    faults.add("PROGRAM_MALFORMED", node.path, message, `${instead}; see ${schemaPath} for all kinds of steps`);
    return undefined;
  }
  const [example] = walk.hasToldKinds ? [] : [...near, ...kinds];
  walk.hasToldKinds = true;
  const nearest = near.length === 0 ? "" : `; nearest ${near.length === 1 ? "is" : "are"} ${listed(near, "and")}`;
  const shown =
    example === undefined ? "" : `, as in ${JSON.stringify({ id: example, ...firstExample(example, place) })}`;
  const hint = `give it exactly one of ${kinds.join(", ")}${nearest}${shown}; see ${schemaPath} for all fields`;
  faults.add("PROGRAM_MALFORMED", node.path, message, hint);
  return undefined;
}

/**
 * Returns the kind that was probably meant for a step without a known kind. svc finds this kind by the step's `type` field, or by a field
 * that another workflow language uses.
 */
function meantKind(value: JsonObject, kinds: readonly Step["kind"][]): Step["kind"] | undefined {
  const types = [value.type, value.kind].flatMap((type) => (typeof type === "string" ? [type] : []));
  const names = [...types, ...Object.keys(value).slice(0, 50)];
  const meant = names.map((name) => kinds.find((kind) => kind === name) ?? meantField(name, kinds));
  return kinds.find((kind) => meant.includes(kind));
}

/** A step of unknown kind, with the closest known kinds, for a fault message. */
type UnknownStep = {
  readonly message: string;
  readonly near: readonly Step["kind"][];
  /** Advice in the error about an unknown kind of step, if no existing kind does what the author probably wants. */
  readonly instead?: string | undefined;
};

/** Maximum number of similar kinds of steps that an error message suggests. */
const nearMax = 3;

function togetherOf(named: readonly Step["kind"][], value: JsonObject): UnknownStep {
  const [kind, ...others] = named.filter((name) => name !== "if");
  const { if: condition } = value;
  // True if the author wrote a condition next to its action instead of an `if` step.
  const isCondition =
    kind !== undefined && others.length === 0 && typeof condition === "string" && value["then"] === undefined;
  const instead = isCondition
    ? `write the condition as "when": ${JSON.stringify(condition.slice(0, 200))} next to ${kind}`
    : undefined;
  return { message: `has ${named.join(" and ")} at once`, near: [], instead };
}

/**
 * Returns the description of a step of unknown kind for a fault message: its unknown fields, and the kinds that do the same or have the
 * same fields.
 */
function strangerOf(value: JsonObject, kinds: readonly Step["kind"][], place: StepPlace): UnknownStep {
  const names = Object.keys(value).slice(0, 50);
  const fieldsOf = (kind: Step["kind"]) => {
    const { required, optional } = languageOf(kind).form;
    return [...Object.keys(required), ...Object.keys(optional)];
  };
  const known = new Set(["id", "when", "onError", ...kinds.flatMap(fieldsOf)]);
  const unknown = names.filter((name) => !known.has(name));
  const alike = unknown.flatMap((name) => kindsLike(name, kinds));
  const sharing = kinds
    .map((kind) => ({ kind, shared: fieldsOf(kind).filter((field) => names.includes(field)).length }))
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => b.shared - a.shared);
  const near = [...new Set([...alike, ...sharing.map(({ kind }) => kind)])].slice(0, nearMax);
  if (unknown.length === 0) return { message: "has no field that names its kind", near };
  const words = unknown.slice(0, nearMax).map((name) => formatValue(name));
  const outside = stepKinds.find((kind) => names.includes(kind));
  const message =
    place === "map" && outside !== undefined
      ? `is a step of kind ${outside}, which is not allowed in the do of a map`
      : `has no field that names its kind: no step has ${listed(words, "or")}`;
  const instead =
    insteadOf(unknown, place === "map" ? outside : undefined) ?? (place === "map" ? undefined : failingStep(value));
  return { message, near, instead };
}

/**
 * Returns advice for a step of an unknown kind, or of a kind that is not allowed in a `map` step. The advice describes how to get the same
 * result with other steps. Returns undefined if there is no such advice.
 */
function insteadOf(unknown: readonly string[], outside: Step["kind"] | undefined): string | undefined {
  if (outside === "if") return 'decide for each row with "when" at a call';
  if (outside !== undefined) return `do it before or after the map, over the rows of a filter or of the map itself`;
  if (!unknown.some((name) => isUnion(name))) return undefined;
  return 'no step joins two sets into one: make a text of each, and put both into one text, {"$text": "{steps.a.lines}\\n{steps.b.lines}"}';
}

function firstExample(kind: Step["kind"], place: StepPlace): object {
  const { form, formInMap } = languageOf(kind);
  const [example] = (place === "map" && formInMap !== undefined ? formInMap : form).examples;
  return isObject(example) ? example : {};
}

function readId(node: ShapeNode, { reader, seen }: Walk): string | undefined {
  const id = reader.text(node, { ...idForm, hint: hintOfId(node.value) });
  if (id === undefined) return undefined;
  const first = seen.get(id);
  if (first !== undefined) {
    const message = `is ${formatValue(id)}, as ${first} is`;
    reader.faults.add("PROGRAM_MALFORMED", node.path, message, "give each step its own id");
  } else seen.set(id, pointerOf(node.path));
  return id;
}

/** Returns a hint with a valid id to write in place of an invalid one. */
function hintOfId(value: ShapeNode["value"]): string {
  const id =
    typeof value === "string"
      ? value
          .slice(0, 64)
          .replaceAll(/[^A-Za-z0-9]+/g, "_")
          .replace(/^[^A-Za-z]+|_$/g, "")
      : "";
  return id === "" ? idForm.hint : `write ${JSON.stringify(id)}: 1 to 64 letters, digits and _, a letter first`;
}

/** True if the name of a field in a step means a union of several sets (for example `union` or `concat`). No kind of step makes a union. */
function isUnion(name: string): boolean {
  return /^(union|merge|append|concat|combine)/.test(name.slice(0, 40).toLowerCase());
}
