import type { Program } from "../program.ts";
import { listsOf, ownCallsOf, ownRunsOf, type Step, stepsOf } from "../steps/index.ts";
import { effectOf } from "../steps/parts/tool-call.ts";
import type { Check } from "./context.ts";

/** Kinds that hold all that is to be skipped. */
const blocks: ReadonlySet<Step["kind"]> = new Set(["if", "until", "parallel"]);

/**
 * Returns the steps that write although a judge step is answered with skip, which leaves out the step after it alone; none if that holds
 * steps. What is done with rows of the skipped step, or asks for it, writes nothing then.
 */
export function writesAfterSkip(program: Program, judge: Step, next: Step, check: Check): readonly Step[] {
  if (blocks.has(next.kind)) return [];
  const gone = new Set([next.id]);
  return followersOf(program.steps, judge)
    .slice(1)
    .filter((step) => {
      const condition = step.kind === "if" ? step.condition.source : "";
      const isIdle =
        ("source" in step && gone.has(step.source)) || asksFor(gone, `${step.when?.source ?? ""} ${condition}`);
      if (isIdle) gone.add(step.id);
      return !isIdle && [...stepsOf([step])].some((inner) => mayWrite(inner, check));
    });
}

/** True if a step itself makes a call that writes, or runs a skill that does. */
export function mayWrite(step: Step, { actions, skills }: Check): boolean {
  const isWriting = ownCallsOf(step).some((call) => (effectOf(call, actions)?.access ?? "read") !== "read");
  return isWriting || ownRunsOf(step).some((name) => skillWrites(name, skills));
}

function skillWrites(name: string, skills: Check["skills"]): boolean {
  const skill = skills.get(name);
  return skill !== undefined && "mayWrite" in skill && skill.mayWrite;
}

/** Steps that are done after a step: those behind it in its list, then those behind each block that it stands in. */
function followersOf(list: readonly Step[], sought: Step): readonly Step[] {
  for (const [index, step] of list.entries()) {
    if (step === sought) return list.slice(index + 1);
    const inner = listsOf(step).find((branch) => [...stepsOf(branch)].includes(sought));
    if (inner !== undefined) return [...followersOf(inner, sought), ...list.slice(index + 1)];
  }
  return [];
}

function asksFor(ids: ReadonlySet<string>, source: string): boolean {
  return [...source.matchAll(/\b(?:steps|rows)\.(\w+)/g)].some(([, id = ""]) => ids.has(id));
}
