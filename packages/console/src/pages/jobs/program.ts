/** A step of a program as it is read: what it is, and the blocks of steps that it holds. */
export type ListedStep = {
  id: string;
  kind: string;
  /** What it works with: a tool, a set, an expression. */
  says: string;
  /** Slug of the tool that it calls; empty for none. */
  tool: string;
  entity: string;
  /** Arguments as they stand in the program, as JSON text; empty for none. */
  args: string;
  /** Expression on which the step or the call depends; empty for always. */
  when: string;
  /** Slug of what undoes it; empty for nothing. */
  undo: string;
  /** The calls that a `map` makes for each row. */
  calls: readonly ListedStep[];
  blocks: readonly ProgramBlock[];
};

/** Steps that stand within a step: a branch, a round, what handles an error. */
export type ProgramBlock = {
  name: string;
  kind: "then" | "else" | "branch" | "round" | "onError";
  steps: readonly ListedStep[];
};

type Json = Record<string, unknown>;

/** Fields that tell what a step is; the first that a step has is its kind. */
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

/** The steps of a program, in their order. Empty for a text that is none: what is shown of it is its text. */
export function readProgram(text: string): readonly ListedStep[] {
  const program = parse(text);
  return isObject(program) ? readSteps(program["steps"]) : [];
}

/** Every step of a program, those in blocks behind the one that holds them; the calls of maps are not among them. */
export function allSteps(steps: readonly ListedStep[]): readonly ListedStep[] {
  return steps.flatMap((step) => [step, ...step.blocks.flatMap((block) => allSteps(block.steps))]);
}

/** The ends on which the program undoes what was done (`saga.on`). */
export function undoneOn(text: string): readonly string[] {
  const program = parse(text);
  const saga = isObject(program) ? program["saga"] : undefined;
  const on = isObject(saga) ? saga["on"] : undefined;
  return Array.isArray(on) ? on.filter((end) => typeof end === "string") : [];
}

/** A member of the program that is an object (`params`, `input`, `inputSchema`), as JSON text; empty where there is none. */
export function programPart(text: string, name: string): string {
  const program = parse(text);
  const part = isObject(program) ? program[name] : undefined;
  return part === undefined ? "" : JSON.stringify(part, undefined, 2);
}

/** A limit that the program declares; undefined where it leaves it to the service. */
export function declaredLimit(text: string, name: string): number | string | undefined {
  const program = parse(text);
  const limits = isObject(program) ? program["limits"] : undefined;
  const limit = isObject(limits) ? limits[name] : undefined;
  return typeof limit === "number" || typeof limit === "string" ? limit : undefined;
}

function readSteps(value: unknown): readonly ListedStep[] {
  return Array.isArray(value) ? value.filter(isObject).map(readStep) : [];
}

function readStep(step: Json): ListedStep {
  const kind = kinds.find((name) => Object.hasOwn(step, name)) ?? "step";
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
    // A program that is being written, or that a newer service cut: there is nothing to read.
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
