import type { Job } from "@svc/sdk";

/** A step of a program, as far as it is shown. */
export type ProgramStep = {
  readonly id: string;
  readonly kind: string;
  /** Slug of the tool of a call, or of the first call of a map. Empty when it calls none. */
  readonly toolSlug: string;
  /** The row set that a filter, map or reduce reads. */
  readonly source: string | undefined;
  /** Whether it stands in a branch of an `if`. */
  readonly isInBranch: boolean;
};

/** What is shown of a job's program. */
export type ShownProgram = {
  readonly title: string;
  readonly steps: readonly ProgramStep[];
  readonly params: Readonly<Record<string, unknown>>;
};

type Json = { readonly [name: string]: unknown };

const kinds = ["call", "filter", "map", "reduce", "judge", "if", "wait"] as const;

/** Reads the program of a job. It has passed the service's checks; what is not understood all the same is left out. */
export function readProgram({ programJson }: Pick<Job, "programJson">): ShownProgram {
  const program = asObject(parse(programJson));
  return {
    title: textOf(program["title"]),
    steps: readSteps(program["steps"], false),
    params: asObject(program["params"]),
  };
}

function readSteps(steps: unknown, isInBranch: boolean): ProgramStep[] {
  return asList(steps).flatMap((value) => {
    const step = asObject(value);
    return [readStep(step, isInBranch), ...readSteps(step["then"], true), ...readSteps(step["else"], true)];
  });
}

function readStep(step: Json, isInBranch: boolean): ProgramStep {
  const kind = kinds.find((name) => Object.hasOwn(step, name)) ?? "";
  const [firstCall] = asList(step["do"]);
  return {
    id: textOf(step["id"]),
    kind,
    toolSlug: textOf(kind === "map" ? asObject(firstCall)["call"] : step["call"]),
    source: kind === "filter" || kind === "map" || kind === "reduce" ? textOf(step[kind]) : undefined,
    isInBranch,
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
