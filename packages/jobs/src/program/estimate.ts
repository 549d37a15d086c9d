import type { AccessClass } from "@svc/catalog";
import type { CallStep, MapStep, Program, Step } from "./program.ts";
import { callsOf, stepsOf } from "./program.ts";

/** The bounds of a program, as svc.v1.Estimate has them. */
export type ProgramEstimate = {
  /** Of a run that every judge lets proceed: calls that no row, branch or `skip` decides about. */
  readonly callsMin: number;
  /** Never above the limit: the job fails there (LIMIT_REACHED). Repetitions count, undo calls do not. */
  readonly callsMax: number;
  readonly writesMax: number;
  readonly destructiveMax: number;
  readonly rowsMax: number;
  readonly asksMax: number;
  readonly accessClasses: readonly AccessClass[];
  readonly toolkits: readonly string[];
  readonly entities: readonly string[];
  readonly notCompensable: readonly string[];
};

/** The access class of a tool by slug; `read` for one that is not known. */
export type ClassOf = (slug: string) => AccessClass;

/** What a list of steps does without counting repetitions: for certain, and at most where rows do not decide. */
export type FixedUse = { readonly calls: number; readonly writes: number };

type Counts = { calls: number; writes: number; destructive: number };

const classes = ["read", "write", "destructive"] as const satisfies readonly AccessClass[];

/** Computes the bounds of a program whose tools are known. */
export function estimateOf(program: Program, classOf: ClassOf): ProgramEstimate {
  const { limits, steps } = program;
  const rowsMax = mostRows(program);
  const most = mostOf(steps, { program, classOf, rows: rowsMax, isRepeating: true });
  const undos = callsOf(steps).flatMap(({ undo }) => undo ?? []);
  const used = new Set(callsOf(steps).map(({ tool }) => classOf(tool)));
  const calls = [...callsOf(steps), ...undos];
  const repeats = rerunsOf(program);
  const bound = (count: number, limit: number) => Math.min(count * repeats, limit);
  return {
    callsMin: leastCalls(program, steps),
    callsMax: bound(most.calls, limits.toolCalls),
    writesMax: bound(most.writes, limits.writes),
    destructiveMax: bound(most.destructive, limits.writes),
    rowsMax,
    asksMax: Math.min(asksOf(program) * repeats, limits.asks),
    accessClasses: classes.filter((name) => used.has(name)),
    toolkits: sorted(calls.map(({ tool }) => tool.split(".")[0] ?? "")),
    entities: sorted(calls.map(({ entity }) => entity)),
    notCompensable: notCompensable(steps, classOf),
  };
}

/** What a program calls at most where no row and no repetition decides: what its limits must allow. */
export function fixedUseOf(program: Program, classOf: ClassOf): FixedUse {
  const { calls, writes } = mostOf(program.steps, { program, classOf, rows: 0, isRepeating: false });
  return { calls, writes };
}

/** Questions that are asked whatever happens: judges of the program's own list without `when`. */
export function certainAsksOf({ steps }: Program): number {
  return steps.filter((step) => step.kind === "judge" && step.when === undefined).length;
}

type Most = {
  readonly program: Program;
  readonly classOf: ClassOf;
  readonly rows: number;
  readonly isRepeating: boolean;
};

function mostOf(steps: readonly Step[], most: Most): Counts {
  const sum = { calls: 0, writes: 0, destructive: 0 };
  for (const step of steps) {
    const counts = mostOfStep(step, most);
    sum.calls += counts.calls;
    sum.writes += counts.writes;
    sum.destructive += counts.destructive;
  }
  return sum;
}

function mostOfStep(step: Step, most: Most): Counts {
  switch (step.kind) {
    case "call":
      return countsOf(step, step.rows?.page?.max ?? 1, most);
    case "map": {
      const counts = step.calls.map((call) => countsOf(call, most.rows, most));
      return counts.reduce(add, { calls: 0, writes: 0, destructive: 0 });
    }
    case "if": {
      const then = mostOf(step.whenTrue, most);
      const otherwise = mostOf(step.whenFalse, most);
      return {
        calls: Math.max(then.calls, otherwise.calls),
        writes: Math.max(then.writes, otherwise.writes),
        destructive: Math.max(then.destructive, otherwise.destructive),
      };
    }
    default:
      return { calls: 0, writes: 0, destructive: 0 };
  }
}

function add(a: Counts, b: Counts): Counts {
  return { calls: a.calls + b.calls, writes: a.writes + b.writes, destructive: a.destructive + b.destructive };
}

function countsOf({ tool, retry }: CallStep, times: number, { classOf, isRepeating }: Most): Counts {
  const calls = times * (isRepeating ? 1 + retry.max : 1);
  const name = classOf(tool);
  return { calls, writes: name === "read" ? 0 : calls, destructive: name === "destructive" ? calls : 0 };
}

/** A call makes as many rows as it finds; only the limit bounds them. */
function mostRows({ steps, limits }: Program): number {
  return [...stepsOf(steps)].some((step) => step.kind === "call" && step.rows !== undefined) ? limits.rows : 0;
}

function asksOf({ steps }: Program): number {
  const points = [...stepsOf(steps)].map((step) => {
    if (step.kind === "judge") return 1;
    return step.kind === "map" ? askedOf(step) : 0;
  });
  return points.reduce((sum: number, count) => sum + count, 0);
}

function askedOf({ onRows }: MapStep): number {
  return [onRows.failed, onRows.unknown].filter((point) => point !== undefined).length;
}

/** How often steps may be run: once, and once more for each question that may be answered with retry-with. */
function rerunsOf({ points, limits }: Program): number {
  return [...points.values()].some(({ continuations }) => continuations.includes("retry-with")) ? 1 + limits.asks : 1;
}

function leastCalls(program: Program, steps: readonly Step[]): number {
  let sum = 0;
  let maySkip = false;
  for (const step of steps) {
    if (!maySkip && step.kind === "call") sum++;
    if (!maySkip && step.kind === "if")
      sum += Math.min(leastCalls(program, step.whenTrue), leastCalls(program, step.whenFalse));
    const point = step.kind === "judge" ? program.points.get(step.point) : undefined;
    maySkip = point?.continuations.includes("skip") === true;
  }
  return sum;
}

function notCompensable(steps: readonly Step[], classOf: ClassOf): string[] {
  return [...stepsOf(steps)]
    .filter((step) => {
      if (step.kind === "if") return false;
      return callsOf([step]).some(({ tool, undo }) => classOf(tool) !== "read" && undo === undefined);
    })
    .map(({ id }) => id);
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

/** Whether a plan needs approval under the program's own rule and the least that the project's policy demands. */
export function needsPlanApproval(
  program: Program,
  estimate: ProgramEstimate,
  minimum: Program["approval"]["plan"],
): boolean {
  const rules = [program.approval.plan, minimum];
  if (rules.includes("always")) return true;
  return rules.includes("destructive") && estimate.accessClasses.includes("destructive");
}
