import { apply, type WorkingJob } from "../../state/apply.ts";
import type { Edit } from "../../state/change.ts";
import type { StepInstruction } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import type { Port } from "../port.ts";

/** Returns the id of the question that a branch of the job's `parallel` step waits for, or undefined if no branch waits for an answer. */
export function askOf({ positions }: JobState): string | undefined {
  return positions.find(({ progress }) => progress?.askId !== undefined)?.progress?.askId;
}

/**
 * Withdraws the pending question of a branch of a `parallel` step, if the step no longer needs that branch. Returns the changed job. If no
 * such branch has a pending question, returns the job unchanged.
 */
export async function withdrawQuestion(work: WorkingJob, parallel: StepInstruction, port: Port): Promise<WorkingJob> {
  const { state } = work;
  const block = state.blocks[parallel.step.id];
  const over = block?.kind === "parallel" ? block.over : [];
  const asking = over.flatMap((branch) => state.positions[branch]?.progress ?? []).find(({ askId }) => askId);
  if (asking === undefined) return work;
  const { askId: _ask, ...progress } = asking;
  return port.locked(async (job) => {
    const { events } = await job.closeAsks(state.principalChain);
    const edits = [
      { kind: "withdrawn", events },
      { kind: "progress", progress },
    ] as const;
    const withdrawn = apply(work, edits, port.clock.now());
    return (await job.commit(withdrawn, { task: "keep" })).work;
  });
}

/** Returns the number of rows that the given changes add to the rows that a job has fetched. */
export function rowsIn(edits: readonly Edit[]): number {
  return edits.reduce((sum, edit) => sum + (edit.kind === "fetched" ? edit.rows.length : 0), 0);
}

/**
 * Returns a function that calls `call` with its arguments and returns the result. At most `max` of these calls run at the same time; others
 * wait in order.
 */
export function bounded<Args extends unknown[], T>(max: number, call: (...args: Args) => Promise<T>) {
  let free = max;
  const waiting: (() => void)[] = [];
  return async (...args: Args): Promise<T> => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    try {
      return await call(...args);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
