import type { Step } from "@svc/program";

/** Which count of a receipt is the size of a set: of all rows taken, or of those that are ok. */
export type SetSize = "in" | "ok" | undefined;

/** A step in a program's flat order: where it stands, and where the job goes on from it. */
export type StepInstruction = {
  readonly kind: "step";
  readonly step: Step;
  readonly index: number;
  /** After the step; of an `if` whose condition holds, its first step. */
  readonly next: number;
  /** Of an `if` whose condition does not hold; of any other step, `next`. */
  readonly otherwise: number;
  /** Behind the step and all that stands in it: where a job goes on that skips it. */
  readonly end: number;
  /** Which of its rows' counts is the size of the step's set; undefined where it makes none. */
  readonly set: SetSize;
};

/** One entry of a program's flat order. */
export type Instruction = StepInstruction | { readonly kind: "jump"; readonly to: number };

/** A program's steps in one list: a job's position is an index into it. The same program always gives the same list. */
export type Flow = {
  readonly instructions: readonly Instruction[];
  /** Where each step stands. */
  readonly indexOf: ReadonlyMap<string, number>;
};

/** Lays a program's steps out flat: the branches of an `if` follow it, a jump between them. `kinds` tells which make sets. */
export function flatten(
  steps: readonly Step[],
  kinds: Readonly<Record<Step["kind"], { readonly set: SetSize }>>,
): Flow {
  const instructions: Instruction[] = [];
  const add = (step: Step, { otherwise, end }: { otherwise?: number; end?: number } = {}) => {
    const index = instructions.length;
    const next = index + 1;
    instructions.push({
      kind: "step",
      step,
      index,
      next,
      otherwise: otherwise ?? next,
      end: end ?? next,
      set: kinds[step.kind].set,
    });
  };
  for (const step of steps) {
    if (step.kind !== "if") {
      add(step);
      continue;
    }
    const otherwise = instructions.length + step.whenTrue.length + 2;
    const end = otherwise + step.whenFalse.length;
    add(step, { otherwise, end });
    for (const inner of step.whenTrue) add(inner);
    instructions.push({ kind: "jump", to: end });
    for (const inner of step.whenFalse) add(inner);
  }
  const indexOf = new Map<string, number>();
  for (const [index, instruction] of instructions.entries()) {
    if (instruction.kind === "step") indexOf.set(instruction.step.id, index);
  }
  return { instructions, indexOf };
}

/** The step at an index, behind any jump that stands there; undefined at the program's end. */
export function stepAt(flow: Flow, index: number): StepInstruction | undefined {
  const instruction = flow.instructions[index];
  return instruction?.kind === "jump" ? stepAt(flow, instruction.to) : instruction;
}

/** The step of an id. Throws an Error for an id that is none of the program's: nothing stored names another. */
export function stepOf({ instructions, indexOf }: Flow, stepId: string): StepInstruction {
  const instruction = instructions[indexOf.get(stepId) ?? -1];
  if (instruction?.kind !== "step") throw new Error(`a checked program lacks the step ${stepId}`);
  return instruction;
}
