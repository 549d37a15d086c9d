import type { AccessClass } from "@svc/catalog";
import type { Program } from "./program.ts";
import {
  asksOf,
  callsOf,
  languageOf,
  maySkipNext,
  ownCallsOf,
  ownRunsOf,
  runsOf,
  type Step,
  stepsOf,
} from "./steps/index.ts";
import type { Measure } from "./steps/language.ts";
import { bothUses, noUse, type Use, upTo } from "./steps/use.ts";

/** The estimate of a program: how many calls, writes, rows and questions one run can need. It has the form of svc.v1.Estimate. */
export type ProgramEstimate = {
  /**
   * Minimum number of calls of a successful run, if people answer every question of the program with `proceed`. Calls that depend on rows,
   * a branch or `skip` are not counted.
   */
  readonly callsMin: number;
  /**
   * Maximum number of calls of a run, with repetitions and without undo calls. It is never above the program's limit, because the job fails
   * there with LIMIT_REACHED.
   */
  readonly callsMax: number;
  readonly writesMax: number;
  readonly destructiveMax: number;
  readonly rowsMax: number;
  readonly asksMax: number;
  /** Access classes of all calls, including undo calls and calls of skills. */
  readonly accessClasses: readonly AccessClass[];
  readonly toolkits: readonly string[];
  readonly entities: readonly string[];
  readonly notCompensable: readonly string[];
};

/** A function that returns the access class (read, write or destructive) of a call. It returns `read` for an unknown tool. */
export type ClassOf = Measure<Step>["classOf"];

const classes = ["read", "write", "destructive"] as const satisfies readonly AccessClass[];

/**
 * A skill (a program that is called as a tool) that a program runs, with the numbers of calls, rows and questions that the skill needs.
 * These numbers are added to the numbers of the program.
 */
export type CountedSkill = {
  readonly accepted: {
    readonly program: Pick<Program, "sagaOn">;
    readonly estimate: ProgramEstimate;
    readonly fixedUse: Use;
  };
};

/**
 * Facts about the tools and skills that a program names. `classOf`: returns the access class of a call. `skills`: the skills, by the names
 * that the program uses.
 */
export type KnownParts = { readonly classOf: ClassOf; readonly skills: ReadonlyMap<string, CountedSkill> };

/**
 * Returns the estimate of a program, for example the largest numbers of calls, writes, rows and questions in one run. All tools and skills
 * of the program must be known (`known`).
 */
export function estimateOf(program: Program, known: KnownParts): ProgramEstimate {
  const { limits, steps } = program;
  const { classOf } = known;
  const counting = { classOf, useOfSkill: (name: string) => wholeUse(known, name), isRepeating: true };
  // The number of rows decides how many calls a `map` step makes, so the rows are counted first.
  const setRows = Math.min(useOf(program, { ...counting, rows: 0 }).rowsMax, limits.rows);
  const use = useOf(program, { ...counting, rows: setRows });
  const inner = runsOf(steps).flatMap((name) => known.skills.get(name)?.accepted.estimate ?? []);
  const repeats = rerunsOf(program);
  const bound = (count: number, limit: number) => Math.min(count * repeats, limit);
  const calls = callsOf(steps);
  const all = [...calls, ...calls.flatMap(({ undo }) => undo ?? [])];
  const used = new Set([...all.map(classOf), ...inner.flatMap((one) => one.accessClasses)]);
  return {
    callsMin: use.callsMin,
    callsMax: bound(use.callsMax, limits.toolCalls),
    writesMax: bound(use.writesMax, limits.writes),
    destructiveMax: bound(use.destructiveMax, limits.writes),
    rowsMax: bound(use.rowsMax, limits.rows),
    asksMax: bound(use.asksMax, limits.asks),
    accessClasses: classes.filter((name) => used.has(name)),
    toolkits: sorted([...all.map(({ tool }) => tool.split(".")[0] ?? ""), ...inner.flatMap((one) => one.toolkits)]),
    entities: sorted([...all.map(({ entity }) => entity), ...inner.flatMap((one) => one.entities)]).filter(
      (entity) => entity !== "",
    ),
    notCompensable: notCompensable(steps, known),
  };
}

/**
 * Returns the maximum number of writes that a job can still make when it is at a given step: the writes of this step and of all later steps.
 * A step that may run its failed rows again counts twice.
 */
export function writesFrom(
  program: Program,
  {
    classOf,
    skills,
  }: { readonly classOf: ClassOf; readonly skills: Readonly<Record<string, { readonly estimate: ProgramEstimate }>> },
  stepId: string,
): number {
  const { limits, steps } = program;
  const counting = { classOf, useOfSkill: (name: string) => useOfEstimate(skills[name]?.estimate), isRepeating: true };
  const index = steps.findIndex((step) => [...stepsOf([step])].some(({ id }) => id === stepId));
  const rows = Math.min(useOf(program, { ...counting, rows: 0 }).rowsMax, limits.rows);
  const writesOf = (part: readonly Step[]) => {
    return useOf({ ...program, steps: part }, { ...counting, rows }).writesMax;
  };
  const [at] = steps.slice(index);
  const again = at === undefined || ["call", "http", "run"].includes(at.kind) ? 0 : writesOf([at]);
  return Math.min((writesOf(steps.slice(index)) + again) * rerunsOf(program), limits.writes);
}

/**
 * Returns how many calls, rows and questions the program needs at least: with empty lists of rows, and without repeats. The limits of the
 * program must not be lower.
 */
export function fixedUseOf(program: Program, { classOf, skills }: KnownParts): Use {
  const useOfSkill = (name: string) => skills.get(name)?.accepted.fixedUse ?? noUse;
  return useOf(program, { classOf, useOfSkill, rows: 0, isRepeating: false });
}

/**
 * Returns the maximum number of calls, rows and questions of a skill (a program that is used as a tool). A skill runs as a job of its own,
 * so the limits of its own program apply.
 */
function wholeUse({ skills }: KnownParts, name: string): Use {
  return useOfEstimate(skills.get(name)?.accepted.estimate);
}

function useOfEstimate(estimate: ProgramEstimate | undefined): Use {
  if (estimate === undefined) return noUse;
  const { callsMin, callsMax, writesMax, destructiveMax, rowsMax, asksMax } = estimate;
  return { callsMin, callsMax, writesMax, destructiveMax, rowsMax, asksMin: 0, asksMax };
}

type Counting = Pick<Measure<Step>, "classOf" | "useOfSkill" | "rows" | "isRepeating">;

function useOf(program: Program, counting: Counting): Use {
  const sizes = new Map<string, number>();
  const measure: Measure<Step> = {
    ...counting,
    rowsMax: program.limits.rows,
    sizeOf: (set) => sizes.get(set) ?? counting.rows,
    list(steps) {
      let sum = noUse;
      let maySkip = false;
      for (const step of steps) {
        const { estimate, setSize } = languageOf(step.kind);
        const own = bothUses(estimate(step, measure), useOfAsks(step));
        const use = step.onError === undefined ? own : bothUses(own, upTo(1, measure.list(step.onError.steps)));
        sizes.set(step.id, Math.min(setSize?.(step, measure) ?? counting.rows, counting.rows));
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

/**
 * Returns how many times a job may run a step. Usually once. If a question of the program can be answered with `retry-with`, the step may
 * run once more for each question that the job may ask.
 */
function rerunsOf({ points, limits }: Program): number {
  return [...points.values()].some(({ continuations }) => continuations.includes("retry-with")) ? 1 + limits.asks : 1;
}

function notCompensable(steps: readonly Step[], { classOf, skills }: KnownParts): string[] {
  const isLasting = (step: Step) =>
    ownCallsOf(step).some((call) => classOf(call) !== "read" && call.undo === undefined) ||
    ownRunsOf(step).some((name) => leavesWrites(skills.get(name)));
  return [...stepsOf(steps)].filter(isLasting).map(({ id }) => id);
}

/**
 * True if the writes of a skill stay when the program that runs the skill is undone. The writes are undone only if the skill's own program
 * declares a saga (rules for undoing calls) and can undo every write.
 */
function leavesWrites(skill: CountedSkill | undefined): boolean {
  if (skill === undefined) return false;
  const { program, estimate } = skill.accepted;
  return estimate.notCompensable.length > 0 || (estimate.writesMax > 0 && program.sagaOn.length === 0);
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

/**
 * True if people must approve a program before it runs. Either the program's own `approval.plan` or the project's policy (`minimum`) can
 * require this.
 */
export function needsPlanApproval(
  program: Program,
  estimate: ProgramEstimate,
  minimum: Program["approval"]["plan"],
): boolean {
  const rules = [program.approval.plan, minimum];
  if (rules.includes("always")) return true;
  return rules.includes("destructive") && estimate.accessClasses.includes("destructive");
}
