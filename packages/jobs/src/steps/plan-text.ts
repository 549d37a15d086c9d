import type { EstimateDocument } from "@svc/db/documents/programs";
import { callsOf, classOfMethod, type PinnedSkills, type Program, runsOf } from "@svc/program";

/** A program that a person is asked to approve or confirm before it runs, with what it may use at most (`estimate`). */
export type AskedPlan = {
  readonly program: Pick<Program, "title" | "steps">;
  readonly estimate: EstimateDocument;
  /** What the program calls that is destructive: slugs of tools and names of skills. */
  readonly destructive: readonly string[];
  /** True if the question is about a schedule, so that the answer applies to all runs of the schedule. */
  readonly isRehearsal?: boolean;
};

/** Maximum number of names shown in each list (destructive calls, steps that cannot be undone). Further names are only counted. */
const namesMax = 4;
const textMax = 500;

/**
 * Returns the text that asks a person to approve or confirm a program, for example `Approve the plan "Clean up"? At most 12 calls: 3
 * writes, 2 of them destructive (sales_crm.delete_activity); 1,000 rows. It cannot undo: purge.` The text contains nothing from rows. If it
 * would be too long, it names fewer tools and steps.
 */
export function planText(plan: AskedPlan, verb: "Approve" | "Confirm" = "Approve"): string {
  const { program, estimate, destructive, isRehearsal = false } = plan;
  const { callsMax, writesMax, destructiveMax, rowsMax, asksMax, notCompensable } = estimate;
  const whole = (most: number) => {
    const named = destructiveMax === 0 || destructive.length === 0 ? "" : ` (${namesText(destructive, most)})`;
    const destroys = destructiveMax === 0 ? "" : `, ${count(destructiveMax)} of them destructive${named}`;
    const writes = writesMax === 0 ? "no writes" : `${counted(writesMax, "write")}${destroys}`;
    const others = [
      ...(rowsMax === 0 ? [] : [counted(rowsMax, "row")]),
      ...(asksMax === 0 ? [] : [counted(asksMax, "question")]),
    ];
    const lasting = notCompensable.length === 0 ? "" : ` It cannot undo: ${namesText(notCompensable, most)}.`;
    const bounds = [`${counted(callsMax, "call")}: ${writes}`, ...others].join("; ");
    const opening = isRehearsal ? " for all runs of a standing program? A run makes at most" : "? At most";
    return `${verb} the plan "${program.title}"${opening} ${bounds}.${lasting}`;
  };
  for (let most = namesMax; most > 0; most--) {
    const text = whole(most);
    if (text.length < textMax) return text;
  }
  return whole(0);
}

function namesText(names: readonly string[], most: number): string {
  const told = names.slice(0, most);
  const left = names.length - told.length;
  if (told.length === 0) return counted(left, "step");
  return left === 0 ? told.join(", ") : `${told.join(", ")} and ${left} more`;
}

function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** Returns the destructive tools and skills of a program in program order, each of them once. */
export function destructiveOf(
  { steps }: Pick<Program, "steps">,
  { isDestructive, skills }: { readonly isDestructive: (slug: string) => boolean; readonly skills: PinnedSkills },
): readonly string[] {
  const tools = callsOf(steps).flatMap(({ tool, http }) => {
    if (http !== undefined) return classOfMethod(http.method) === "destructive" ? [`http ${http.method}`] : [];
    return isDestructive(tool) ? [tool] : [];
  });
  const runs = runsOf(steps).filter((name) => (skills[name]?.estimate.destructiveMax ?? 0) > 0);
  return [...new Set([...tools, ...runs])];
}
