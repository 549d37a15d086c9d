import type { Step, StepOf } from "@svc/program";

/**
 * Size of the set (list of rows) that a step makes. `in`: as many rows as the step read. `ok`: as many rows as succeeded. Undefined if the
 * step makes no set.
 */
export type SetSize = "in" | "ok" | undefined;

/**
 * A step that contains another step of the program. `handles`: true if the inner step is in the error handler of this step. `branch`: for a
 * `parallel` step, the branch that contains the inner step.
 */
export type EnclosingStep = {
  readonly stepId: string;
  readonly index: number;
  readonly handles: boolean;
  readonly branch?: number;
};

/** Place of an entry in the flat list of a program's steps: its index, and the steps that enclose it, the outermost first. */
type FlowPlace = { readonly index: number; readonly inside: readonly EnclosingStep[] };

/** A step in the flat list of a program's steps (flow). It has its own index, and the indexes at which the job continues after the step. */
export type StepInstruction = FlowPlace & {
  readonly kind: "step";
  readonly step: Step;
  /** Index at which the job continues after the step. For a block, this is the index of its first inner step. */
  readonly next: number;
  /** Index at which the job continues if the condition of an `if` step is false. Not used for other steps. */
  readonly otherwise: number;
  /** Index after the step and everything inside it. A job that skips the step continues there. */
  readonly end: number;
  /** Index of the step's error handler in the flat list. Undefined if the step has no handler. */
  readonly handler: number | undefined;
  /**
   * Says how many rows the step's set (the list of rows that it makes) has: `in` for all rows that the step took, `ok` for those that
   * succeeded. Undefined if the step makes no set.
   */
  readonly set: SetSize;
  /** True if the step makes calls, by itself or through a child job. */
  readonly calls: boolean;
  /** The branches of a `parallel` step, in their order. Empty for any other step. */
  readonly branches: readonly Branch[];
};

/**
 * A branch of a `parallel` step. `from`: index of the branch's first instruction in the program's flow (list of instructions). `join`:
 * index of the instruction at its end.
 */
export type Branch = { readonly name: string; readonly from: number; readonly join: number };

/** Entry at the end of a branch of a `parallel` step. The branch waits there for the other branches. */
type JoinInstruction = FlowPlace & { readonly kind: "join"; readonly step: StepOf<"parallel"> };

/**
 * Instruction at the end of a round of an `until` step (a loop). The next round begins with the instruction at the index `from`, or the job
 * continues with the instruction at the index `to`.
 */
export type AgainInstruction = FlowPlace & {
  readonly kind: "again";
  readonly step: StepOf<"until">;
  readonly from: number;
  readonly to: number;
  /** All steps that one round of an `until` step (a loop) runs, including those inside blocks (steps that contain steps). */
  readonly steps: readonly Step[];
};

/**
 * Entry at the end of a step's error handler, in the flat list of a program's steps. The job continues at the index `to`. If the handler
 * does not let the job continue, the step fails.
 */
type HandledInstruction = FlowPlace & { readonly kind: "handled"; readonly step: Step; readonly to: number };

/** One entry in the flat list of a program's steps (flow): a step, a jump, or the end of a branch, a loop round or an error handler. */
export type Instruction =
  | StepInstruction
  | AgainInstruction
  | JoinInstruction
  | HandledInstruction
  | (FlowPlace & { readonly kind: "jump"; readonly to: number });

/**
 * A program's steps as one flat list, with entries for jumps and the ends of blocks. A job's position is an index into this list. The same
 * program always gives the same list.
 */
export type Flow = {
  readonly instructions: readonly Instruction[];
  /** Position of each step in `instructions`, by step id. */
  readonly indexOf: ReadonlyMap<string, number>;
};

/**
 * Properties of each kind of step with which `flatten` turns a program's steps into a flat list. `set`: size of the set that the step makes.
 * `needs`: the changes that must be committed before each action of the step.
 */
export type FlowKinds = Readonly<Record<Step["kind"], { readonly set: SetSize; readonly needs: string }>>;

/**
 * Returns a program's steps as a flat list. The entry of a block is followed by the block's inner steps:
 * - `if`: both branches, with a jump between them.
 * - `until`: its steps, then an entry for the end of a round.
 * - `parallel`: its branches, each with an entry for its end.
 *
 * If a step has an error handler, its entry is followed by a jump over the handler, and then the handler.
 */
export function flatten(steps: readonly Step[], kinds: FlowKinds): Flow {
  const instructions: Instruction[] = [];
  layList(steps, [], { instructions, kinds });
  const indexOf = new Map<string, number>();
  for (const [index, instruction] of instructions.entries()) {
    if (instruction.kind === "step") indexOf.set(instruction.step.id, index);
  }
  return { instructions, indexOf };
}

type FlowBuilder = { readonly instructions: Instruction[]; readonly kinds: FlowKinds };

function layList(steps: readonly Step[], inside: readonly EnclosingStep[], laying: FlowBuilder): void {
  for (const step of steps) layStep(step, inside, laying);
}

/**
 * Adds a step to the list of instructions, with the steps inside it and its error handler. The instruction of the step comes first. Its
 * jump targets (for example `next`) are set later, after the steps inside it were added.
 */
function layStep(step: Step, inside: readonly EnclosingStep[], laying: FlowBuilder): void {
  const { instructions, kinds } = laying;
  const index = instructions.length;
  const next = index + 1;
  const { set, needs } = kinds[step.kind];
  const own = { kind: "step", step, index, inside, set, calls: needs === "commit" || step.kind === "run" } as const;
  instructions.push({ ...own, next, otherwise: next, end: next, handler: undefined, branches: [] });
  const within = [...inside, { stepId: step.id, index, handles: false }];
  const {
    otherwise,
    jumps,
    branches = [],
  } = step.kind === "parallel" ? layBranches(step, { index, inside }, laying) : layBlock(step, within, laying);
  const handler = layHandler(step, inside, laying);
  const end = instructions.length;
  for (const jump of handler === undefined ? jumps : [...jumps, handler - 1]) {
    instructions[jump] = { kind: "jump", index: jump, inside: within, to: end };
  }
  const isBlock = otherwise !== undefined;
  instructions[index] = { ...own, next: isBlock ? next : end, otherwise: otherwise ?? end, end, handler, branches };
}

/**
 * Adds the instructions of each branch of a `parallel` step to the program's instruction list. The branches follow one another. A `join`
 * instruction ends each branch. Returns the indexes of the branches in the list.
 */
function layBranches(step: StepOf<"parallel">, { index, inside }: FlowPlace, laying: FlowBuilder): LaidBlock {
  const { instructions } = laying;
  const branches = step.branches.map(({ name, steps }, branch) => {
    const from = instructions.length;
    const within = [...inside, { stepId: step.id, index, handles: false, branch }];
    layList(steps, within, laying);
    const join = instructions.length;
    instructions.push({ kind: "join", index: join, inside: within, step });
    return { name, from, join };
  });
  return { otherwise: instructions.length, jumps: [], branches };
}

type LaidBlock = {
  readonly otherwise: number | undefined;
  readonly jumps: readonly number[];
  readonly branches?: readonly Branch[];
};

/**
 * Adds the inner steps of an `if` or `until` to the instructions. `otherwise`: where an `if` continues if its condition is false. `jumps`:
 * the instructions that must lead to the end of the block.
 */
function layBlock(step: Step, within: readonly EnclosingStep[], laying: FlowBuilder): LaidBlock {
  const { instructions } = laying;
  switch (step.kind) {
    case "if": {
      layList(step.whenTrue, within, laying);
      const jump = instructions.push({ kind: "jump", index: instructions.length, inside: within, to: 0 }) - 1;
      layList(step.whenFalse, within, laying);
      return { otherwise: jump + 1, jumps: [jump] };
    }
    case "until": {
      const from = instructions.length;
      layList(step.body, within, laying);
      const steps = instructions.slice(from).flatMap((each) => (each.kind === "step" ? [each.step] : []));
      const again = instructions.length;
      instructions.push({ kind: "again", index: again, inside: within, step, from, to: again + 1, steps });
      return { otherwise: from, jumps: [] };
    }
    default:
      return { otherwise: undefined, jumps: [] };
  }
}

/**
 * Adds the steps of a step's error handler to the list of instructions. A jump comes before them, which skips the handler if the step
 * succeeds. Returns the index of the handler's first instruction.
 */
function layHandler(step: Step, inside: readonly EnclosingStep[], laying: FlowBuilder): number | undefined {
  const { instructions } = laying;
  if (step.onError === undefined) return undefined;
  const index = instructions.length;
  instructions.push({ kind: "jump", index, inside, to: index });
  const within = [...inside, { stepId: step.id, index: index + 1, handles: true }];
  layList(step.onError.steps, within, laying);
  const handled = instructions.length;
  instructions.push({ kind: "handled", index: handled, inside: within, step, to: handled + 1 });
  return index + 1;
}

/**
 * Returns the step at an index of a program's flat list of steps. A jump returns the step to which it leads. The end of a branch, loop round
 * or error handler returns the step that contains it. Undefined at the end of the program.
 */
export function stepAt(flow: Flow, index: number): StepInstruction | undefined {
  const instruction = flow.instructions[index];
  if (instruction?.kind === "jump") return stepAt(flow, instruction.to);
  return instruction === undefined || instruction.kind === "step" ? instruction : stepOf(flow, instruction.step.id);
}

/** Returns the instruction of the step with this id. Throws an Error if the program has no such step. */
export function stepOf({ instructions, indexOf }: Flow, stepId: string): StepInstruction {
  const instruction = instructions[indexOf.get(stepId) ?? -1];
  if (instruction?.kind !== "step") throw new Error(`a checked program lacks the step ${stepId}`);
  return instruction;
}

/** Returns the `parallel` step and the branch of it that contain an instruction. Undefined if no branch contains the instruction. */
export function branchOf(
  { instructions }: Flow,
  index: number,
): { readonly parallel: StepInstruction; readonly branch: number } | undefined {
  const enclosing = instructions[index]?.inside.find(({ branch }) => branch !== undefined);
  const parallel = enclosing && instructions[enclosing.index];
  if (enclosing?.branch === undefined || parallel?.kind !== "step") return undefined;
  return { parallel, branch: enclosing.branch };
}
