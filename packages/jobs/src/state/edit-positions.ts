import type { Editors, JobDraft } from "./draft.ts";
import { branchOf, stepOf } from "./flow.ts";

/** Change the positions of a job in its program, and the state of the blocks around them. */
export const positionEditors: Editors<"go" | "progress" | "block" | "fork" | "join" | "generation"> = {
  go: ({ job }, { from, to }) => goTo(job, from, to),
  progress: ({ job }, { progress }) => {
    const index = job.loaded.flow.indexOf.get(progress.stepId);
    job.positions = job.positions.map((position) => {
      if (position.index !== index) return position;
      const now = position.progress?.now;
      return { ...position, progress: now === undefined ? progress : { ...progress, now } };
    });
  },
  block: ({ job }, { stepId, block }) => {
    const { [stepId]: _before, ...others } = job.blocks;
    job.blocks = block === undefined ? others : { ...others, [stepId]: block };
  },
  fork: ({ job }, { from, to }) => {
    const { generation } = job;
    job.positions = job.positions.flatMap((position) => {
      return position.index === from ? to.map((index) => ({ index, progress: undefined, generation })) : [position];
    });
  },
  join: ({ job }, { to }) => {
    job.positions = [{ index: to, progress: undefined }];
  },
  generation: ({ job }, { stepId }) => {
    job.generation += 1;
    if (job.positions.length === 1) return;
    const { generation } = job;
    const { flow } = job.loaded;
    const branch = stepId === undefined ? undefined : branchOf(flow, stepOf(flow, stepId).index)?.branch;
    job.positions = job.positions.map((position, at) => {
      return branch === undefined || at === branch ? { ...position, generation } : position;
    });
  },
};

/** Moves the position that is at one instruction to another. */
export function goTo(job: JobDraft["job"], from: number | undefined, to: number): void {
  job.positions = job.positions.map((position) => {
    return position.index === from ? { ...position, index: to, progress: undefined } : position;
  });
}
