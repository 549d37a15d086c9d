import type { Step, StepOf } from "@svc/program";

/** The count of a step's receipt that is the size of the step's set: `in` (all rows taken) or `ok`. */
export type SetSize = "in" | "ok" | undefined;

/**
 * A step that encloses an instruction: a block, or a step whose error handler contains the instruction. For a `parallel`, the branch is
 * included.
 */
export type EnclosingStep = {
  readonly stepId: string;
  readonly index: number;
  readonly handles: boolean;
  readonly branch?: number;
};

/** The index of an entry, and its enclosing blocks, outermost first. */
type FlowPlace = { readonly index: number; readonly inside: readonly EnclosingStep[] };

/** A step in the flat order of a program: its index, and the indexes where the job continues after the step. */
export type StepInstruction = FlowPlace & {
  readonly kind: "step";
  readonly step: Step;
  /** The index after the step and its handler. For a block, its first step. */
  readonly next: number;
  /** The index if the condition of an `if` is false. For any other step, `next`. */
  readonly otherwise: number;
  /** The index after the step and everything inside it. A job that skips the step continues there. */
  readonly end: number;
  /** The index of the step's error handler. Undefined if the step has no handler. */
  readonly handler: number | undefined;
  /** The count of rows that is the size of the step's set. Undefined if the step makes no set. */
  readonly set: SetSize;
  /** True if the step makes calls, by itself or through a child job. */
  readonly calls: boolean;
  /** The branches of a `parallel`, in their order. Empty for any other step. */
  readonly branches: readonly Branch[];
};

/** A branch of a `parallel`. `from`: index of its first step. `join`: index of its end. */
export type Branch = { readonly name: string; readonly from: number; readonly join: number };

/** The end of a branch of a `parallel`. The branch waits there for the other branches. */
type JoinInstruction = FlowPlace & { readonly kind: "join"; readonly step: StepOf<"parallel"> };

/** The end of a round of an `until`: its steps begin again at `from`, or the job continues at `to`. */
export type AgainInstruction = FlowPlace & {
  readonly kind: "again";
  readonly step: StepOf<"until">;
  readonly from: number;
  readonly to: number;
  /** The steps of a round, including those in its blocks. */
  readonly steps: readonly Step[];
};

/** The end of a step's error handler. The job continues at `to`, or the step fails although its error was handled. */
type HandledInstruction = FlowPlace & { readonly kind: "handled"; readonly step: Step; readonly to: number };

/** One entry of a program's flat order. */
export type Instruction =
  | StepInstruction
  | AgainInstruction
  | JoinInstruction
  | HandledInstruction
  | (FlowPlace & { readonly kind: "jump"; readonly to: number });

/** A program's steps in one list. A job's position is an index into it. The same program always gives the same list. */
export type Flow = {
  readonly instructions: readonly Instruction[];
  /** The index of each step. */
  readonly indexOf: ReadonlyMap<string, number>;
};

/** The properties of each kind of step that the flat order depends on. */
export type FlowKinds = Readonly<Record<Step["kind"], { readonly set: SetSize; readonly needs: string }>>;

/**
 * Returns a program's steps as a flat list. The lists inside a block follow the step that contains them: the branches of an `if` with a
 * jump between them; the steps of an `until` and the end of its round; the branches of a `parallel`, each with its end; an error handler
 * with a jump over it. `kinds`: which kinds of steps make sets.
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

/** Adds a step and its contents to the list. The step's own entry comes first; its target indexes are set when they are known. */
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

/** Adds the branches of a `parallel`, one after another, each with its end. */
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
 * Adds the lists of a block. Returns the block's alternative target and the jumps to its end. Returns neither if the step is not a block.
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

/** Adds the error handler of a step, after a jump over the handler. Returns the handler's first index. */
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
 * Returns the step at an index. If there is a jump at the index, returns the step that the jump leads to. If there is the end of a block's
 * round or branch, returns that block. Undefined at the program's end.
 */
export function stepAt(flow: Flow, index: number): StepInstruction | undefined {
  const instruction = flow.instructions[index];
  if (instruction?.kind === "jump") return stepAt(flow, instruction.to);
  return instruction === undefined || instruction.kind === "step" ? instruction : stepOf(flow, instruction.step.id);
}

/** Returns the step with an id. Throws an Error if the program has no such step; stored data cannot name one. */
export function stepOf({ instructions, indexOf }: Flow, stepId: string): StepInstruction {
  const instruction = instructions[indexOf.get(stepId) ?? -1];
  if (instruction?.kind !== "step") throw new Error(`a checked program lacks the step ${stepId}`);
  return instruction;
}

/** Returns the `parallel` and the branch that contain an instruction. Undefined if no branch contains it. */
export function branchOf(
  { instructions }: Flow,
  index: number,
): { readonly parallel: StepInstruction; readonly branch: number } | undefined {
  const enclosing = instructions[index]?.inside.find(({ branch }) => branch !== undefined);
  const parallel = enclosing && instructions[enclosing.index];
  if (enclosing?.branch === undefined || parallel?.kind !== "step") return undefined;
  return { parallel, branch: enclosing.branch };
}
