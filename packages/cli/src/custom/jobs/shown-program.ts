import { isObject } from "@svc/core";
import type { Job } from "@svc/sdk";

/** The parts of a step that the commands show. */
export type ProgramStep = {
  readonly id: string;
  readonly kind: string;
  /** Slug of the tool that the step calls. For a map, the tool of its first call. Empty if the step calls no tool. */
  readonly toolSlug: string;
  /** The id of the row set that the step reads. Undefined if it reads none. */
  readonly source: string | undefined;
  /** Nesting depth of the step: 0 at the top, and 1 more inside each branch, round or error handler. */
  readonly depth: number;
  /** The `parallel` step and the branch that contain this step (for example `gather/sales`). Empty if the step is in no branch. */
  readonly branch: string;
};

/** The parts of a job's program that the commands show. */
export type ShownProgram = {
  readonly title: string;
  readonly steps: readonly ProgramStep[];
  readonly params: Readonly<Record<string, unknown>>;
};

type Json = { readonly [name: string]: unknown };

/**
 * Fields of a step that do not name its kind. The first field that is not in this list names the kind. So the command line can show kinds
 * that this version does not know.
 */
const detailNames: ReadonlySet<string> = new Set([
  "id",
  ...["entity", "args", "rows", "retry", "timeout", "undo"],
  ...["where", "do", "concurrency", "tolerate", "onRows", "as", "when", "then", "else"],
  ...["every", "factor", "cap", "max", "onError", "confirm", "input"],
]);

/**
 * Returns the parts of a job's program that the command shows: title, steps and inputs. Ignores unknown parts, because the server has
 * already checked the program. If a step has begun, its kind is taken from the job's receipt (the summary of what each step did).
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

/** Returns the lists of steps inside a step. The calls of a map are not steps, so they are left out. */
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

/** Returns the tool that a step calls. For an HTTP request that the step makes itself, returns `http`. */
function toolOf(step: Json): string {
  return textOf(step["call"]) || ("http" in step ? "http" : "");
}

/**
 * Returns all steps, with each invalid `source` replaced by undefined. `source` is valid if it is the id of another step, whose rows this
 * step reads.
 */
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
