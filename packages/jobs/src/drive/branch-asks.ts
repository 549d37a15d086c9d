import { apply, type Work } from "../state/apply.ts";
import type { StepInstruction } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import type { Port } from "./port.ts";

/** The question of a branch that the job asks now. */
export function askOf({ positions }: JobState): string | undefined {
  return positions.find(({ progress }) => progress?.askId !== undefined)?.progress?.askId;
}

/** Withdraws the question of a branch that was given up: it is not asked any more. */
export async function withdrawQuestion(work: Work, parallel: StepInstruction, port: Port): Promise<Work> {
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
