import type { IfStep, PlainStep, Step } from "../program/program.ts";

/** One entry of a program's flat order. Of an `if`, `elseAt` is where it goes on when the condition does not hold. */
export type Instruction =
  | { readonly kind: "step"; readonly step: PlainStep }
  | { readonly kind: "if"; readonly step: IfStep; readonly elseAt: number; readonly endAt: number }
  | { readonly kind: "jump"; readonly to: number };

/** A program's steps in one list: `jobs.position` is an index into it. The same program always gives the same list. */
export type Flow = {
  readonly instructions: readonly Instruction[];
  /** Where each step stands. */
  readonly indexOf: ReadonlyMap<string, number>;
};

/** Lays a program's steps out flat: the branches of an `if` follow it, a jump between them. */
export function flatten(steps: readonly Step[]): Flow {
  const instructions: Instruction[] = [];
  for (const step of steps) {
    if (step.kind !== "if") {
      instructions.push({ kind: "step", step });
      continue;
    }
    const at = instructions.length;
    const elseAt = at + step.whenTrue.length + 2;
    const endAt = elseAt + step.whenFalse.length;
    instructions.push({ kind: "if", step, elseAt, endAt });
    for (const inner of step.whenTrue) instructions.push({ kind: "step", step: inner });
    instructions.push({ kind: "jump", to: endAt });
    for (const inner of step.whenFalse) instructions.push({ kind: "step", step: inner });
  }
  const indexOf = new Map<string, number>();
  for (const [index, instruction] of instructions.entries()) {
    if (instruction.kind !== "jump") indexOf.set(instruction.step.id, index);
  }
  return { instructions, indexOf };
}
