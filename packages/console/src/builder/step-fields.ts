/**
 * The kind of field that a step's card shows for a property of the step: a set of rows, an expression, a text, a number, a value of any
 * form, or JSON.
 */
export type StepFieldKind = "set" | "cel" | "text" | "number" | "value" | "json";

/**
 * A property of a step that has its own field on the step's card. `name`: the property's name in the program. `label`: the field's label.
 */
export type StepField = { readonly name: string; readonly label: string; readonly kind: StepFieldKind };

const field = (name: string, label: string, kind: StepFieldKind): StepField => ({ name, label, kind });
const rowsOf = (name: string) => field(name, "Rows of", "set");

/** The fields of each kind of step that are always shown. */
const mainFields: Readonly<Record<string, readonly StepField[]>> = {
  filter: [rowsOf("filter"), field("where", "Keep if", "cel")],
  sort: [rowsOf("sort"), field("by", "By", "json")],
  limit: [rowsOf("limit"), field("max", "At most", "number")],
  distinct: [rowsOf("distinct"), field("by", "Equal in", "json")],
  join: [rowsOf("join"), field("with", "With rows of", "set"), field("on", "Where equal", "json")],
  group: [rowsOf("group"), field("by", "By", "json"), field("as", "Compute", "json")],
  reduce: [rowsOf("reduce"), field("as", "Compute", "json")],
  compute: [rowsOf("compute"), field("fields", "Fields", "json")],
  flatten: [rowsOf("flatten"), field("field", "List field", "text"), field("keep", "Keep", "json")],
  take: [field("take", "List", "text"), field("key", "Key", "text")],
  map: [rowsOf("map")],
  if: [field("if", "If", "cel")],
  until: [field("until", "Until", "cel"), field("max", "At most rounds", "number"), field("every", "Pause", "text")],
  wait: [field("wait", "For", "value")],
  fail: [field("fail", "Message", "value")],
  judge: [field("judge", "Question", "text")],
  http: [field("http", "Request", "json")],
};

/** The optional fields of each kind of step. They are shown if they are set, or after a press. */
const moreFields: Readonly<Record<string, readonly StepField[]>> = {
  call: [
    ...[field("entity", "User", "text"), field("rows", "Read rows", "json"), field("retry", "Retries", "json")],
    ...[field("timeout", "Timeout", "text"), field("undo", "Undo", "json"), field("onError", "On error", "json")],
  ],
  map: [
    field("concurrency", "Rows at once", "number"),
    field("keep", "Keep", "json"),
    field("tolerate", "Tolerate", "json"),
  ],
  run: [field("onError", "On error", "json")],
  filter: [field("states", "States of rows", "json")],
  join: [field("kind", "Kind", "text"), field("keep", "Keep", "json")],
};

const when = field("when", "Only if", "cel");

/** Returns the fields of the card for a kind of step. `main`: fields that are always shown. `more`: optional fields. */
export function fieldsOfKind(kind: string): { main: readonly StepField[]; more: readonly StepField[] } {
  return { main: mainFields[kind] ?? [], more: [...(moreFields[kind] ?? []), when] };
}

/**
 * Returns the properties of a step for which its card draws no ordinary field, because other parts of the card show them: the id, the tool,
 * the arguments, and the lists of inner steps.
 */
export function shownElsewhere(kind: string): ReadonlySet<string> {
  return new Set(["id", ...(shownMembers[kind] ?? [])]);
}

const shownMembers: Readonly<Record<string, readonly string[]>> = {
  call: ["call", "args"],
  run: ["run", "input"],
  if: ["then", "else"],
  map: ["do"],
  until: ["do"],
  parallel: ["parallel"],
};

/**
 * A kind of step that the user can add. `make`: returns the new step without its id. Its parameter `set` names the set of rows that the step
 * will read, the nearest one before it; empty if there is none.
 */
export type AddedStep = {
  readonly kind: string;
  readonly words: string;
  readonly says: string;
  readonly make: (set: string) => Readonly<Record<string, unknown>>;
};

/** The kinds of steps that call no tool, in the order in which they are offered. */
export const addedSteps: readonly AddedStep[] = [
  {
    kind: "filter",
    words: "Filter rows",
    says: "keeps the rows for which a condition is true",
    make: (set) => ({ filter: set, where: "true" }),
  },
  {
    kind: "reduce",
    words: "Count and add up",
    says: "values over all rows of a set",
    make: (set) => ({ reduce: set, as: { rows: "count" } }),
  },
  {
    kind: "sort",
    words: "Sort rows",
    says: "orders the rows of a set",
    make: (set) => ({ sort: set, by: [{ field: "id" }] }),
  },
  {
    kind: "limit",
    words: "First rows",
    says: "keeps the first rows of a set",
    make: (set) => ({ limit: set, max: 10 }),
  },
  {
    kind: "distinct",
    words: "Remove duplicates",
    says: "one row for equal values",
    make: (set) => ({ distinct: set, by: ["id"] }),
  },
  {
    kind: "map",
    words: "For each row",
    says: "makes calls for each row of a set",
    make: (set) => ({ map: set, do: [] }),
  },
  {
    kind: "if",
    words: "If",
    says: "chooses between two lists of steps",
    // biome-ignore lint/suspicious/noThenProperty: programs have the field, and no promise is made of a step
    make: () => ({ if: "true", then: [], else: [] }),
  },
  {
    kind: "parallel",
    words: "Run in parallel",
    says: "lists of steps at the same time",
    make: () => ({ parallel: { one: [], two: [] } }),
  },
  {
    kind: "until",
    words: "Repeat until",
    says: "repeats steps until a condition is true",
    make: () => ({ until: "true", do: [], max: 10 }),
  },
  { kind: "wait", words: "Wait", says: "waits for a time", make: () => ({ wait: "1h" }) },
  {
    kind: "judge",
    words: "Ask a person",
    says: "asks one of the questions of the program",
    make: () => ({ judge: "" }),
  },
  { kind: "fail", words: "Fail", says: "ends the job as failed", make: () => ({ fail: "The job cannot continue." }) },
];

/** Returns an id for a new step that no step of the program has. `base`: the wished id, such as the name of a tool. */
export function freeId(base: string, taken: ReadonlySet<string>): string {
  const name = base.replace(/\W+/g, "_").replace(/^[^a-z]+/i, "") || "step";
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}${number}`)) number += 1;
  return `${name}${number}`;
}
