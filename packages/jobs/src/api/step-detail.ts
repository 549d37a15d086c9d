import type { MessageInitShape } from "@bufbuild/protobuf";
import { isRawJson } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import { readJobSetRows } from "@svc/db/jobs/sets";
import type { StepOutputSchema, StepRowSchema } from "@svc/gen/jobs";
import { type JsonValue, pointerOf, type Step, type ValueTemplate, valueAt } from "@svc/program";
import { openBlock } from "../drive/store/row-blocks.ts";
import type { JobSeals } from "../drive/store/seals.ts";
import type { JobState } from "../state/job.ts";
import { isSensitiveField } from "../state/sensitive-rows.ts";
import { shownOf } from "../state/shown.ts";

const argumentsMax = 200;
const pathsMax = 200;
const rowsMax = 100;
/** Number of rows, and bytes of their encrypted fields, from which the form of a step's rows is made. */
const sampleRowsMax = 50;
const sampleBytesMax = 131_072;
const writtenMax = 500;
/** Depth of objects and lists up to which the form of an output has paths. */
const depthMax = 6;

/** A value that a program gives to a call of a step, as GetStep returns it. */
type Argument = {
  readonly callId: string;
  readonly path: string;
  readonly source: string;
  readonly written: string;
  readonly type?: string;
  readonly length?: number;
};
type Output = MessageInitShape<typeof StepOutputSchema>;
type Path = readonly (string | number)[];

/**
 * Describes the arguments of the calls in a step without their values: where each argument comes from, and its type and length if these are
 * known.
 */
export function stepArguments(step: Step, state: JobState): readonly Argument[] {
  const reader = createValueReader(state);
  return templatesOf(step)
    .flatMap(([callId, template]) => argumentsOf(template, [], reader).map((one) => ({ callId, ...one })))
    .slice(0, argumentsMax);
}

/** Returns the templates of the arguments of a step's calls, each with the id of its call. */
function templatesOf(step: Step): readonly (readonly [callId: string, template: ValueTemplate])[] {
  if (step.kind === "map") return step.calls.flatMap((call) => templatesOf(call));
  if (step.kind === "call" || step.kind === "http") return [[step.id, step.args]];
  return step.kind === "run" ? [[step.id, step.input]] : [];
}

/** Returns the value that a reference has now. Undefined if svc does not know it yet, or if it is sensitive. */
type ValueReader = (root: string, path: Path) => JsonValue | undefined;

function createValueReader(state: JobState): ValueReader {
  const { scope } = state;
  const shown = shownOf(state).scope;
  return (root, path) => {
    if (root !== "input" && root !== "params" && root !== "steps" && root !== "rows") return undefined;
    const value = valueAt(scope[root], path);
    return isHidden(valueAt(shown[root], path), value) ? undefined : value;
  };
}

/** True if a value is sensitive: it is shown as `***`, or a value that contains it is. */
function isHidden(shown: JsonValue | undefined, value: JsonValue | undefined): boolean {
  return shown === undefined ? value !== undefined : typeof shown === "string" && shown !== value;
}

function argumentsOf(template: ValueTemplate, path: Path, read: ValueReader): Omit<Argument, "callId">[] {
  const own = (source: string, written: string, value?: JsonValue): Omit<Argument, "callId">[] => [
    { path: pointerOf(path), source, written: cut(written), ...(value !== undefined && shapeOf(value)) },
  ];
  switch (template.kind) {
    case "literal":
      return own("literal", JSON.stringify(template.value), template.value);
    case "reference": {
      const { text, root, path: at } = template.reference;
      return own("reference", text, read(root, at));
    }
    case "text": {
      const written = template.parts.map((part) => (typeof part === "string" ? part : `{${part.text}}`)).join("");
      return own("text", written).map((one) => ({ ...one, type: "text" }));
    }
    case "computed":
      return own("expression", template.expression.source);
    case "secret":
      return own("secret", template.name);
    case "object":
      return template.entries.flatMap(([name, item]) => argumentsOf(item, [...path, name], read));
    case "list":
      return template.items.flatMap((item, index) => argumentsOf(item, [...path, index], read));
  }
}

function cut(text: string): string {
  const characters = [...text.slice(0, 2 * writtenMax + 2)];
  return characters.length <= writtenMax ? text : `${characters.slice(0, writtenMax).join("")}…`;
}

/** Returns the type of a value and, for a text, list or object, its length. */
function shapeOf(value: JsonValue | undefined): { readonly type: string; readonly length?: number } {
  if (value === undefined) return { type: "" };
  if (value === null) return { type: "null" };
  if (typeof value === "string") return { type: "text", length: [...value].length };
  if (Array.isArray(value)) return { type: "list", length: value.length };
  if (typeof value === "boolean") return { type: "boolean" };
  return typeof value === "object" && !isRawJson(value)
    ? { type: "object", length: Object.keys(value).length }
    : { type: "number" };
}

/**
 * Names of fields, as apps choose them. An object with a key of another form, or with more keys than `namesMax`, is taken for a map whose
 * keys are data: its keys are not shown.
 */
const fieldName = /^[A-Za-z_$][\w$-]{0,63}$/;
const namesMax = 100;

/** Collects the types and the number of the values at each path. */
class OutputForm {
  readonly #found = new Map<string, { readonly types: Set<string>; count: number }>();

  add(value: JsonValue, path: string, depth: number): void {
    const { type } = shapeOf(value);
    if (!this.#count(path, value === "***" ? "hidden" : type) || depth >= depthMax) return;
    if (Array.isArray(value)) for (const item of value.slice(0, sampleRowsMax)) this.add(item, `${path}[]`, depth + 1);
    else if (type === "object") {
      const entries = Object.entries(value as Readonly<Record<string, JsonValue>>);
      const isMap = entries.length > namesMax || entries.some(([name]) => !fieldName.test(name));
      for (const [name, item] of entries) {
        const shown = isMap ? "*" : name;
        this.add(item, path === "" ? shown : `${path}.${shown}`, depth + 1);
      }
    }
  }

  hide(path: string): void {
    this.#count(path, "hidden");
  }

  /** Counts a value at a path. Returns false if there are too many paths to add this one. */
  #count(path: string, type: string): boolean {
    const known = this.#found.get(path);
    if (known === undefined && this.#found.size >= pathsMax) return false;
    const { types, count } = known ?? { types: new Set<string>(), count: 0 };
    types.add(type);
    this.#found.set(path, { types, count: count + 1 });
    return true;
  }

  list(): Output[] {
    return [...this.#found].map(([path, { types, count }]) => ({ path, types: [...types].sort(), count }));
  }
}

/** Describes the value that a step produced: the names and types of its parts, without the data. Empty if the step produced no value. */
export function valueForm(step: Step, state: JobState): readonly Output[] {
  const value = shownOf(state).scope.steps[step.id];
  const form = new OutputForm();
  if (value !== undefined) form.add(value, "", 0);
  return form.list();
}

/** The rows of a step, as GetStep returns them. `sampled`: number of rows from which `form` was made. */
type StepRows = {
  readonly rows: readonly MessageInitShape<typeof StepRowSchema>[];
  readonly hasMore: boolean;
  readonly form: readonly Output[];
  readonly sampled: number;
};

/**
 * Describes the rows that a step produced: their states, and the names and types of the fields in the first rows. If rows failed or have an
 * unknown outcome, lists the states of only these.
 */
export async function readStepRows(
  db: Executor,
  {
    state,
    seals,
    receipt,
  }: { readonly state: JobState; readonly seals: JobSeals; readonly receipt: StepReceiptDocument },
): Promise<StepRows> {
  const set = { jobId: state.id, setId: receipt.stepId };
  const states = (["failed", "unknown"] as const).filter((one) => (receipt.rows?.[one] ?? 0) > 0);
  const page = { fromOrdinal: 0, limit: rowsMax, bytesMax: Number.MAX_SAFE_INTEGER, withData: false };
  const [sample, ...lists] = await Promise.all([
    readJobSetRows(db, set, { ...page, limit: sampleRowsMax, bytesMax: sampleBytesMax, withData: true }),
    ...(states.length === 0
      ? [readJobSetRows(db, set, page)]
      : states.map((one) => readJobSetRows(db, { ...set, state: one }, page))),
  ]);
  const found = lists.flatMap(({ rows }) => rows).sort((a, b) => a.ordinal - b.ordinal);
  const messageOf = new Map(receipt.errors.map(({ code, sample: message }) => [code, message]));
  return {
    rows: found.slice(0, rowsMax).map(({ ordinal, state: rowState, errorCode, doneCalls }) => ({
      ...{ ordinal, state: rowState, errorCode, callsDone: doneCalls, message: messageOf.get(errorCode) ?? "" },
    })),
    hasMore: found.length > rowsMax || lists.some(({ hasMore }) => hasMore),
    form: rowForm(sample.rows, { state, seals, setId: receipt.stepId }),
    sampled: sample.rows.length,
  };
}

/** Returns the form of rows: the types of their fields, and in how many rows each is present. Sensitive fields are `hidden`. */
function rowForm(
  rows: Awaited<ReturnType<typeof readJobSetRows>>["rows"],
  { state, seals, setId }: { readonly state: JobState; readonly seals: JobSeals; readonly setId: string },
): readonly Output[] {
  const form = new OutputForm();
  let block: ReturnType<typeof openBlock> = [];
  for (const { rowNumber, block: number, data } of rows) {
    if (data !== null) block = openBlock(number, data, seals);
    for (const [name, value] of Object.entries(block[rowNumber - number] ?? {})) {
      if (isSensitiveField(state.loaded, setId, [name])) form.hide(name);
      else form.add(value, name, 1);
    }
  }
  return form.list();
}
