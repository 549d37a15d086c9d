import type { Step, StepOf } from "@svc/program";

/** Which count of a receipt is the size of a set: of all rows taken, or of those that are ok. */
export type SetSize = "in" | "ok" | undefined;

/** A step that an instruction stands in: a block, or one whose error it handles; of a parallel, in which branch. */
export type Enclosing = {
  readonly stepId: string;
  readonly index: number;
  readonly handles: boolean;
  readonly branch?: number;
};

/** What every entry has: where it stands, and the blocks it stands in, outermost first. */
type Placed = { readonly index: number; readonly inside: readonly Enclosing[] };

/** A step in a program's flat order: where it stands, and where the job goes on from it. */
export type StepInstruction = Placed & {
  readonly kind: "step";
  readonly step: Step;
  /** After the step and what handles its error; of a block, its first step. */
  readonly next: number;
  /** Of an `if` whose condition does not hold; of any other step, `next`. */
  readonly otherwise: number;
  /** Behind the step and all that stands in it: where a job goes on that skips it. */
  readonly end: number;
  /** Where its error is handled; undefined where it is not. */
  readonly handler: number | undefined;
  /** Which of its rows' counts is the size of the step's set; undefined where it makes none. */
  readonly set: SetSize;
  /** Whether it calls, itself or by a job that it runs. */
  readonly calls: boolean;
  /** Of a `parallel`: its branches, in their order. Empty for any other step. */
  readonly branches: readonly Branch[];
};

/** A branch of a `parallel`: where its first step stands, and its end. */
export type Branch = { readonly name: string; readonly from: number; readonly join: number };

/** The end of a branch of a `parallel`, where it waits for the others. */
type JoinInstruction = Placed & { readonly kind: "join"; readonly step: StepOf<"parallel"> };

/** The end of a round of an `until`: its steps begin anew at `from`, or the job goes on at `to`. */
export type AgainInstruction = Placed & {
  readonly kind: "again";
  readonly step: StepOf<"until">;
  readonly from: number;
  readonly to: number;
  /** The steps of a round, those in its blocks included. */
  readonly steps: readonly Step[];
};

/** Behind the steps that handle the error of a step: the job goes on at `to`, or fails even so. */
type HandledInstruction = Placed & { readonly kind: "handled"; readonly step: Step; readonly to: number };

/** One entry of a program's flat order. */
export type Instruction =
  | StepInstruction
  | AgainInstruction
  | JoinInstruction
  | HandledInstruction
  | (Placed & { readonly kind: "jump"; readonly to: number });

/** A program's steps in one list: a job's position is an index into it. The same program always gives the same list. */
export type Flow = {
  readonly instructions: readonly Instruction[];
  /** Where each step stands. */
  readonly indexOf: ReadonlyMap<string, number>;
};

/** What the flat order has to know of each kind of step. */
export type FlowKinds = Readonly<Record<Step["kind"], { readonly set: SetSize; readonly needs: string }>>;

/**
 * Lays a program's steps out flat, each list of a block behind the step that holds it: the branches of an `if`, a jump between them;
 * the steps of an `until` and the end of its round; the branches of a `parallel`, each with its end; what handles an error, a jump over it. `kinds` tells which make sets.
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

type Laying = { readonly instructions: Instruction[]; readonly kinds: FlowKinds };

function layList(steps: readonly Step[], inside: readonly Enclosing[], laying: Laying): void {
  for (const step of steps) layStep(step, inside, laying);
}

/** A step, and what stands in it. Its own entry is made first, and told where it leads once that is known. */
function layStep(step: Step, inside: readonly Enclosing[], laying: Laying): void {
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

/** The branches of a parallel, one behind the other, each with its end. */
function layBranches(step: StepOf<"parallel">, { index, inside }: Placed, laying: Laying): LaidBlock {
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

/** The lists of a block. Answers where it leads otherwise, and its jumps to its end; nothing of a step that is none. */
function layBlock(step: Step, within: readonly Enclosing[], laying: Laying): LaidBlock {
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

/** The steps that handle a step's error, behind a jump over them. Answers where they begin. */
function layHandler(step: Step, inside: readonly Enclosing[], laying: Laying): number | undefined {
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

/** The step at an index, behind any jump that stands there, or the block that an entry there belongs to; undefined at the program's end. */
export function stepAt(flow: Flow, index: number): StepInstruction | undefined {
  const instruction = flow.instructions[index];
  if (instruction?.kind === "jump") return stepAt(flow, instruction.to);
  return instruction === undefined || instruction.kind === "step" ? instruction : stepOf(flow, instruction.step.id);
}

/** The step of an id. Throws an Error for an id that is none of the program's: nothing stored names another. */
export function stepOf({ instructions, indexOf }: Flow, stepId: string): StepInstruction {
  const instruction = instructions[indexOf.get(stepId) ?? -1];
  if (instruction?.kind !== "step") throw new Error(`a checked program lacks the step ${stepId}`);
  return instruction;
}

/** In which branch of which `parallel` an instruction stands; undefined where it stands in none. */
export function branchOf(
  { instructions }: Flow,
  index: number,
): { readonly parallel: StepInstruction; readonly branch: number } | undefined {
  const enclosing = instructions[index]?.inside.find(({ branch }) => branch !== undefined);
  const parallel = enclosing && instructions[enclosing.index];
  if (enclosing?.branch === undefined || parallel?.kind !== "step") return undefined;
  return { parallel, branch: enclosing.branch };
}
