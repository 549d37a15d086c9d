/** A step of a program as read from its text: its kind, and the blocks of steps inside it. */
export type ListedStep = {
  id: string;
  kind: string;
  /** Subject of the step: the tool, the row set or the expression that the step works on. */
  says: string;
  /** Slug of the tool that the step calls; empty if the step calls no tool. */
  tool: string;
  entity: string;
  /** Arguments as written in the program, as JSON text; empty if there are none. */
  args: string;
  /** Condition of the step or the call, as an expression. Empty means that it always runs. */
  when: string;
  /** Slug of the tool that undoes the call; empty if there is none. */
  undo: string;
  /** The calls that a `map` makes for each row. */
  calls: readonly ListedStep[];
  blocks: readonly ProgramBlock[];
};

/** A block: steps inside another step, such as a branch, a round of a loop, or an error handler. */
export type ProgramBlock = {
  name: string;
  kind: "then" | "else" | "branch" | "round" | "onError";
  steps: readonly ListedStep[];
};

type Json = Record<string, unknown>;

/** Fields that name the kind of a step. If a step has several of them, the first one in this list counts. */
const kinds = [
  ...[
    "call",
    "http",
    "map",
    "run",
    "filter",
    "reduce",
    "judge",
    "fail",
    "if",
    "parallel",
    "until",
    "wait",
    "sort",
    "limit",
    "distinct",
  ],
  ...["join", "group", "compute", "flatten", "take"],
];

/** Returns the steps of a program, in order. Empty if the text is not a program: the page then shows the text. */
export function readProgram(text: string): readonly ListedStep[] {
  const program = parse(text);
  return isObject(program) ? readSteps(program["steps"]) : [];
}

/**
 * Returns every step of a program. The steps of a block follow the step that contains the block. The calls of `map` steps are not included.
 */
export function allSteps(steps: readonly ListedStep[]): readonly ListedStep[] {
  return steps.flatMap((step) => [step, ...step.blocks.flatMap((block) => allSteps(block.steps))]);
}

/** Returns the job outcomes, such as `failed`, after which a program undoes its calls. They are in the program's field `saga.on`. */
export function undoneOn(text: string): readonly string[] {
  const program = parse(text);
  const saga = isObject(program) ? program["saga"] : undefined;
  const on = isObject(saga) ? saga["on"] : undefined;
  return Array.isArray(on) ? on.filter((end) => typeof end === "string") : [];
}

/**
 * Returns a member of the program that is an object (`params`, `input` or `inputSchema`), as JSON text. Returns an empty text if the member
 * is missing.
 */
export function programPart(text: string, name: string): string {
  const program = parse(text);
  const part = isObject(program) ? program[name] : undefined;
  return part === undefined ? "" : JSON.stringify(part, undefined, 2);
}

/** Returns a limit that the program declares. Returns undefined if it declares none, because the service's default then applies. */
export function declaredLimit(text: string, name: string): number | string | undefined {
  const program = parse(text);
  const limits = isObject(program) ? program["limits"] : undefined;
  const limit = isObject(limits) ? limits[name] : undefined;
  return typeof limit === "number" || typeof limit === "string" ? limit : undefined;
}

function readSteps(value: unknown): readonly ListedStep[] {
  return Array.isArray(value) ? value.filter(isObject).map(readStep) : [];
}

/**
 * Returns the kind of a step, which is the name of its main field, such as `call`. Returns `step` if the step has no field that names a
 * kind.
 */
export function stepKindOf(step: Readonly<Record<string, unknown>>): string {
  return kinds.find((name) => Object.hasOwn(step, name)) ?? "step";
}

function readStep(step: Json): ListedStep {
  const kind = stepKindOf(step);
  return {
    id: textOf(step["id"]),
    kind,
    says: saysOf(kind, step),
    tool: kind === "call" || kind === "run" ? textOf(step[kind]) : kind === "http" ? "http" : "",
    entity: textOf(step["entity"]),
    args: jsonOf(step["args"] ?? step["input"] ?? (kind === "http" ? step["http"] : undefined)),
    when: textOf(step["when"]),
    undo: undoOf(step["undo"]),
    calls: kind === "map" ? readSteps(step["do"]) : [],
    blocks: blocksOf(kind, step),
  };
}

function saysOf(kind: string, step: Json): string {
  const value = step[kind];
  if (kind === "if" || kind === "judge" || kind === "call" || kind === "run") return textOf(value);
  if (kind === "filter") return `${textOf(value)} where ${textOf(step["where"])}`;
  if (kind === "parallel") return `${isObject(value) ? Object.keys(value).length : 0} branches at the same time`;
  if (kind === "http")
    return isObject(value) ? `${textOf(value["method"])} ${textOf(value["url"])}`.trim() : textOf(value);
  return typeof value === "string" || typeof value === "number" ? String(value) : jsonOf(value);
}

function blocksOf(kind: string, step: Json): readonly ProgramBlock[] {
  const onError = isObject(step["onError"]) ? readSteps(step["onError"]["do"]) : [];
  const handled: ProgramBlock[] = onError.length > 0 ? [{ name: "on error", kind: "onError", steps: onError }] : [];
  if (kind === "if") {
    const branches = (["then", "else"] as const).map((name) => ({ name, kind: name, steps: readSteps(step[name]) }));
    return [...branches.filter(({ steps }) => steps.length > 0), ...handled];
  }
  if (kind === "until") return [{ name: "each round", kind: "round", steps: readSteps(step["do"]) }, ...handled];
  if (kind !== "parallel" || !isObject(step["parallel"])) return handled;
  const branches = Object.entries(step["parallel"]).map(([name, steps]) => ({
    name: `branch ${name}`,
    kind: "branch" as const,
    steps: readSteps(steps),
  }));
  return [...branches, ...handled];
}

function undoOf(value: unknown): string {
  if (!isObject(value)) return "";
  return textOf(value["call"]) || ("http" in value ? "http" : "");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text cannot be parsed: the user has not finished typing it, or a newer service shortened it.
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function jsonOf(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value);
}

/** Returns the step of a program with this id, or undefined. */
export function findStep(program: readonly ListedStep[], id: string | undefined): ListedStep | undefined {
  return id === undefined ? undefined : allSteps(program).find((step) => step.id === id);
}
