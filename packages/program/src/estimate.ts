import type { AccessClass } from "@svc/catalog";
import type { Program } from "./program.ts";
import { asksOf, callsOf, languageOf, maySkipNext, ownCallsOf, type Step, stepsOf } from "./steps/index.ts";
import type { Measure } from "./steps/language.ts";
import { bothUses, noUse, type Use, upTo } from "./steps/use.ts";

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

/** The access class of a call; `read` for one of a tool that is not known. */
export type ClassOf = Measure<Step>["classOf"];

const classes = ["read", "write", "destructive"] as const satisfies readonly AccessClass[];

/** Computes the bounds of a program whose tools are known. */
export function estimateOf(program: Program, classOf: ClassOf): ProgramEstimate {
  const { limits, steps } = program;
  // How many rows there are says how often maps call, so rows are counted first.
  const rowsMax = Math.min(useOf(program, { classOf, rows: 0, isRepeating: true }).rowsMax, limits.rows);
  const use = useOf(program, { classOf, rows: rowsMax, isRepeating: true });
  const repeats = rerunsOf(program);
  const bound = (count: number, limit: number) => Math.min(count * repeats, limit);
  const calls = callsOf(steps);
  const used = new Set(calls.map(classOf));
  const all = [...calls, ...calls.flatMap(({ undo }) => undo ?? [])];
  return {
    callsMin: use.callsMin,
    callsMax: bound(use.callsMax, limits.toolCalls),
    writesMax: bound(use.writesMax, limits.writes),
    destructiveMax: bound(use.destructiveMax, limits.writes),
    rowsMax,
    asksMax: bound(use.asksMax, limits.asks),
    accessClasses: classes.filter((name) => used.has(name)),
    toolkits: sorted(all.map(({ tool }) => tool.split(".")[0] ?? "")),
    entities: sorted(all.map(({ entity }) => entity)).filter((entity) => entity !== ""),
    notCompensable: notCompensable(steps, classOf),
  };
}

/** What a program uses where no row and no repetition decides: what its limits must allow. */
export function fixedUseOf(program: Program, classOf: ClassOf): Use {
  return useOf(program, { classOf, rows: 0, isRepeating: false });
}

function useOf(program: Program, counting: Pick<Measure<Step>, "classOf" | "rows" | "isRepeating">): Use {
  const measure: Measure<Step> = {
    ...counting,
    rowsMax: program.limits.rows,
    list(steps) {
      let sum = noUse;
      let maySkip = false;
      for (const step of steps) {
        const own = bothUses(languageOf(step.kind).estimate(step, measure), useOfAsks(step));
        const use = step.onError === undefined ? own : bothUses(own, upTo(1, measure.list(step.onError.steps)));
        const isCertain = !maySkip && step.when === undefined;
        sum = bothUses(sum, isCertain ? use : { ...use, callsMin: 0 });
        maySkip = maySkipNext(step, program.points);
      }
      return sum;
    },
  };
  return measure.list(program.steps);
}

function useOfAsks(step: Step): Use {
  const asks = asksOf(step);
  const certain = step.when === undefined ? asks.filter(({ isCertain }) => isCertain) : [];
  return { ...noUse, asksMin: certain.length, asksMax: asks.length };
}

/** How often steps may be run: once, and once more for each question that may be answered with retry-with. */
function rerunsOf({ points, limits }: Program): number {
  return [...points.values()].some(({ continuations }) => continuations.includes("retry-with")) ? 1 + limits.asks : 1;
}

function notCompensable(steps: readonly Step[], classOf: ClassOf): string[] {
  const isLasting = (step: Step) =>
    ownCallsOf(step).some((call) => classOf(call) !== "read" && call.undo === undefined);
  return [...stepsOf(steps)].filter(isLasting).map(({ id }) => id);
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
