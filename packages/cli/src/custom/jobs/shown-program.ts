import { isObject } from "@svc/core";
import type { Job } from "@svc/sdk";

/** The shown parts of a program's step. */
export type ProgramStep = {
  readonly id: string;
  readonly kind: string;
  /** Slug of the tool of a call, or of the first call of a map. Empty if it calls none. */
  readonly toolSlug: string;
  /** The row set that it reads. */
  readonly source: string | undefined;
  /** Number of enclosing steps: branches, rounds, error handlers. */
  readonly depth: number;
  /** Its `parallel` and branch, as `gather/sales`. Empty if it is in none. */
  readonly branch: string;
};

/** The shown parts of a job's program. */
export type ShownProgram = {
  readonly title: string;
  readonly steps: readonly ProgramStep[];
  readonly params: Readonly<Record<string, unknown>>;
};

type Json = { readonly [name: string]: unknown };

/**
 * Fields of steps that do not name their kind. The kind is the first other field. So a kind that this version does not know is found too.
 */
const detailNames: ReadonlySet<string> = new Set([
  "id",
  ...["entity", "args", "rows", "retry", "timeout", "undo"],
  ...["where", "do", "concurrency", "tolerate", "onRows", "as", "when", "then", "else"],
  ...["every", "factor", "cap", "max", "onError", "confirm", "input"],
]);

/**
 * Reads the program of a job for display. The server has already checked the program, so unknown parts are ignored. The kind of a step that
 * has begun is taken from its receipt.
 */
export function readProgram({ programJson, stepReceipts }: Pick<Job, "programJson" | "stepReceipts">): ShownProgram {
  const program = asObject(parse(programJson));
  const kinds = new Map(stepReceipts.map(({ stepId, kind }) => [stepId, kind]));
  return {
    title: textOf(program["title"]),
    steps: withSources(readSteps(program["steps"], { kinds, depth: 0, branch: "" })),
    params: asObject(program["params"]),
  };
}

type ShownStepContext = Pick<ProgramStep, "depth" | "branch"> & { readonly kinds: ReadonlyMap<string, string> };

function readSteps(steps: unknown, reading: ShownStepContext): ProgramStep[] {
  return asList(steps).flatMap((value) => {
    const step = asObject(value);
    return [
      readStep(step, reading),
      ...innerLists(step).flatMap(({ list, branch = reading.branch }) => {
        return readSteps(list, { ...reading, depth: reading.depth + 1, branch });
      }),
    ];
  });
}

/** Returns the lists of steps in a step. The calls of a map are not such a list. */
function innerLists(step: Json): readonly { readonly list: unknown; readonly branch?: string }[] {
  const branches = Object.entries(asObject(step["parallel"]));
  return [
    { list: step["then"] },
    { list: step["else"] },
    ...branches.map(([name, list]) => ({ list, branch: `${textOf(step["id"])}/${name}` })),
    ...("until" in step ? [{ list: step["do"] }] : []),
    { list: asObject(step["onError"])["do"] },
  ];
}

function readStep(step: Json, { kinds, depth, branch }: ShownStepContext): ProgramStep {
  const id = textOf(step["id"]);
  const kind = kinds.get(id) ?? Object.keys(step).find((name) => !detailNames.has(name)) ?? "";
  const [firstCall] = "until" in step ? [] : asList(step["do"]);
  const toolSlug = toolOf(step) || toolOf(asObject(firstCall));
  return { id, kind, toolSlug, source: textOf(step[kind]), depth, branch };
}

/** Returns the tool of a call. For an HTTP request, its name in receipts. */
function toolOf(step: Json): string {
  return textOf(step["call"]) || ("http" in step ? "http" : "");
}

/** Adds to each step the set of rows that it reads: the field that names the step's kind contains the name of the set. */
function withSources(steps: readonly ProgramStep[]): ProgramStep[] {
  const ids = new Set(steps.map(({ id }) => id));
  return steps.map((step) => (ids.has(step.source ?? "") ? step : { ...step, source: undefined }));
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
