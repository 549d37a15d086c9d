import { apply, type WorkingJob } from "../../state/apply.ts";
import type { Change, Edit, Next } from "../../state/change.ts";
import type { StepInstruction } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import { isEnd } from "../../state/statuses.ts";
import { awaited, waitsForPerson } from "../../steps/children.ts";
import type { Child, StepEffects } from "../../steps/effects.ts";
import { askOf } from "../ask/branch-asks.ts";
import type { Port } from "../port.ts";
import { endChildren, type OpenChild, openChildren } from "./children.ts";

/**
 * Result of running the branches of a `parallel` step: the job, and the next change to apply to it. Undefined if the job is already stored
 * as waiting.
 */
export type BranchesEnd = { readonly work: WorkingJob; readonly change: Change } | undefined;

/**
 * A branch of a `parallel` step that cannot continue before `atMs`. `isWait`: true if it is in a wait step. `isForChildren`: true if it
 * waits only for child jobs, whose state the job reads again at `atMs`.
 */
export type BlockedBranch = {
  readonly atMs: number;
  readonly isWait: boolean;
  readonly stepId: string;
  readonly isForChildren?: boolean;
};

/**
 * A job in whose `parallel` step no branch can continue now. `ending`: the reason that ends all branches, if any. `dues`: the times for
 * which unfinished branches wait, the earliest first.
 */
type StoppedBranches = {
  readonly work: WorkingJob;
  readonly port: Port;
  readonly parallel: StepInstruction;
  readonly ending: Next | undefined;
  readonly dues: readonly BlockedBranch[];
  readonly mustPause: StepEffects["mustPause"];
};

/**
 * Decides how a job continues when no branch of its `parallel` step can run. Returns undefined if the job was parked because of an open
 * question.
 */
export async function endBranches(stopped: StoppedBranches): Promise<BranchesEnd> {
  const { work, port, parallel, ending, dues } = stopped;
  const { state } = work;
  const then = (next: Next): BranchesEnd => ({ work, change: { edits: [], next } });
  if (ending?.kind === "end" || ending?.kind === "finish") {
    const change = await endChildren(state, ending.chain, port);
    return change === undefined ? then(ending) : { work, change };
  }
  if (ending !== undefined) return then(ending);
  if (stopped.mustPause(state)) return then({ kind: "on" });
  if (state.positions.every((_position, branch) => isOver(state, parallel, branch))) {
    return { work, change: joinBranches(state, parallel) };
  }
  const open = openChildren(state);
  if (open.length > 0) return { work, change: await leaveToChildren(stopped, open) };
  const [first, ...others] = dues;
  const askId = askOf(state);
  if (askId !== undefined) return (await park(stopped, askId, first?.atMs)) ? undefined : then({ kind: "on" });
  if (first === undefined) throw new Error(`no branch of ${state.id} can continue`);
  const { atMs, stepId } = first;
  const isWait = [first, ...others].every((blocked) => blocked.isWait);
  return then(isWait ? { kind: "wait", stepId, atMs } : { kind: "until", atMs });
}

/**
 * Returns the change after which the job waits until a child job ends or a branch must continue. The job is parked if all running child
 * jobs wait for people, and all other branches are in wait steps.
 */
async function leaveToChildren(stopped: StoppedBranches, open: readonly OpenChild[]): Promise<Change> {
  const { port, work } = stopped;
  const { state } = work;
  const running = (await readOpenChildren(state, port)).filter(({ status }) => !isEnd(status));
  // A child has ended, so its branch continues.
  if (running.length < open.length) return { edits: [], next: { kind: "on" } };
  const askId = askOf(state);
  const dues = stopped.dues.filter(({ isForChildren }) => isForChildren !== true);
  const [first] = dues;
  const next: Next = {
    kind: "await",
    children: running.map(awaited),
    ...(first !== undefined && { atMs: first.atMs }),
    ...(askId !== undefined && { askId }),
  };
  const isParked = running.every(waitsForPerson) && dues.every(({ isWait }) => isWait);
  return isParked ? { edits: parkWith(stopped, running, open, first?.atMs), next } : { edits: [], next };
}

function parkWith(
  { work: { state }, port }: StoppedBranches,
  running: readonly Child[],
  open: readonly OpenChild[],
  wakeAt: number | undefined,
): Edit[] {
  const asking = state.positions.find(({ progress }) => progress?.askId !== undefined)?.progress?.stepId;
  const block = asking === undefined ? undefined : state.blocks[asking];
  const [first] = running;
  const stepId = open.find(({ id }) => id === first?.id)?.stepId ?? "";
  const onChild = { reason: "child", stepId, ...(first !== undefined && { childJobId: first.id }) } as const;
  const park = {
    ...(block?.kind === "asked" ? block.park : onChild),
    since: port.clock.now(),
    ...(wakeAt !== undefined && { wakeAt }),
  };
  const stops = asking !== undefined || running.every(({ isClockStopped }) => isClockStopped);
  return [
    { kind: "move", to: "parked", reason: park.reason },
    { kind: "park", park },
    ...(stops ? [{ kind: "deadline", clock: "stops" } as const] : []),
  ];
}

/**
 * Parks the job (suspends it) until the pending question of one of its branches is answered, and returns true. Returns false and parks
 * nothing if the question was settled in the meantime; the job must then continue with the answer.
 */
function park({ work, port }: StoppedBranches, askId: string, wakeAt: number | undefined): Promise<boolean> {
  return port.locked(async (job) => {
    const { asks } = await job.closeAsks(undefined);
    if (asks.find(({ id }) => id === askId)?.state !== "pending") return false;
    const nowMs = port.clock.now();
    const { state } = work;
    const asking = state.positions.find(({ progress }) => progress?.askId === askId)?.progress?.stepId ?? "";
    const block = state.blocks[asking];
    if (block?.kind !== "asked") throw new Error(`the question of ${asking} is not known`);
    const park = { ...block.park, since: nowMs, ...(wakeAt !== undefined && { wakeAt }) };
    const edits = [
      { kind: "move", to: "parked", reason: park.reason },
      { kind: "park", park },
      { kind: "deadline", clock: "stops" },
    ] as const;
    const task = wakeAt === undefined ? "end" : { dueAtMs: wakeAt };
    await job.commit(apply(work, edits, nowMs), { task });
    return true;
  });
}

/** True if a parallel branch of a `parallel` step was given up or has reached its end. False if the branch can still continue. */
export function isOver({ blocks, positions }: JobState, parallel: StepInstruction, branch: number): boolean {
  const block = blocks[parallel.step.id];
  const wasGivenUp = block?.kind === "parallel" && block.over.includes(branch);
  return wasGivenUp || positions[branch]?.index === parallel.branches[branch]?.join;
}

/** Returns the running child jobs that were started in the branches of the job's `parallel` step. */
export async function readOpenChildren(state: JobState, port: Port): Promise<readonly Child[]> {
  const ids = openChildren(state).map(({ id }) => id);
  return ids.length === 0 ? [] : port.readChildren(state, ids);
}

/**
 * Returns the change of the job when all branches of a `parallel` step have ended. The job continues after the step, or the step fails with
 * the error of the branch that failed first.
 */
function joinBranches(state: JobState, { step, index, end }: StepInstruction): Change {
  const block = state.blocks[step.id];
  const failed = block?.kind === "parallel" ? block.failed : undefined;
  if (failed !== undefined) {
    const { stepId: failedIn, ...failure } = failed;
    return { edits: [], next: { kind: "fail", stepId: step.id, ...failure, failedIn } };
  }
  const gone: Edit = { kind: "block", stepId: step.id, block: undefined };
  const finished = state.isSimulated ? "simulated" : "completed";
  return {
    edits: [{ kind: "finish", stepId: step.id, state: finished, to: index }, gone, { kind: "join", to: end }],
    next: { kind: "on" },
  };
}
