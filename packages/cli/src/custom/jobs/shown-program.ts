import { isObject } from "@svc/core";
import type { Job } from "@svc/sdk";

/** A step of a program, as far as it is shown. */
export type ProgramStep = {
  readonly id: string;
  readonly kind: string;
  /** Slug of the tool of a call, or of the first call of a map. Empty when it calls none. */
  readonly toolSlug: string;
  /** The row set that it reads. */
  readonly source: string | undefined;
  /** How many steps it stands in: branches, rounds, what handles an error. */
  readonly depth: number;
  /** The names of the `parallel` and the branch that it stands in, as `gather/sales`; empty where it stands in none. */
  readonly branch: string;
};

/** What is shown of a job's program. */
export type ShownProgram = {
  readonly title: string;
  readonly steps: readonly ProgramStep[];
  readonly params: Readonly<Record<string, unknown>>;
};

type Json = { readonly [name: string]: unknown };

/**
 * Fields of steps that do not tell their kind. It is told by the field of its name, which is what is left: of a kind that this command
 * line has never heard of, the first of its own fields, as programs are written.
 */
const detailNames: ReadonlySet<string> = new Set([
  "id",
  ...["entity", "args", "rows", "retry", "timeout", "undo"],
  ...["where", "do", "concurrency", "tolerate", "onRows", "as", "when", "then", "else"],
  ...["every", "factor", "cap", "max", "onError", "confirm", "input"],
]);

/**
 * Reads the program of a job. It has passed the server's checks; what is not understood all the same is left out. What kind of step
 * one is, the receipt of a step that has begun says best.
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

type Reading = Pick<ProgramStep, "depth" | "branch"> & { readonly kinds: ReadonlyMap<string, string> };

function readSteps(steps: unknown, reading: Reading): ProgramStep[] {
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

/** The lists of steps in a step. What a map does for each row is no such list. */
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

function readStep(step: Json, { kinds, depth, branch }: Reading): ProgramStep {
  const id = textOf(step["id"]);
  const kind = kinds.get(id) ?? Object.keys(step).find((name) => !detailNames.has(name)) ?? "";
  const [firstCall] = "until" in step ? [] : asList(step["do"]);
  const toolSlug = toolOf(step) || toolOf(asObject(firstCall));
  return { id, kind, toolSlug, source: textOf(step[kind]), depth, branch };
}

/** The tool of a call; of a request of the program's own what stands for one in receipts. */
function toolOf(step: Json): string {
  return textOf(step["call"]) || ("http" in step ? "http" : "");
}

/** What tells the kind of a step names the set that it reads, where it names a step at all. */
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
