import type { ProjectId } from "@svc/core";

/**
 * Limits of the time for which a remembered count is valid, in milliseconds. A count is valid for ten times as long as the counting took,
 * but at least `least` and at most `most`. So a node spends at most about a tenth of its time on counting.
 */
const lastsMs = { least: 1_000, most: 5_000 };

type JobCount = { used: number; readonly untilMs: number };

/** Remembers how many jobs of each project have not ended. */
type JobCounts = {
  /**
   * Returns the remembered number of unfinished jobs; undefined if the caller must count them. The true number is not higher, except for
   * jobs that other nodes added since the count.
   */
  find(projectId: ProjectId): number | undefined;
  /**
   * Adds the number of newly stored jobs to the number of jobs that this node remembers for the project. So the quota can be checked
   * without counting again.
   */
  add(projectId: ProjectId, jobs: number): void;
  /** Remembers that a project has `used` unfinished jobs. The statement that counted these jobs took `tookMs` milliseconds. */
  keep(projectId: ProjectId, used: number, tookMs: number): void;
};

/**
 * The numbers of unfinished jobs by project, which this process remembers for a short time. Counting them again for each batch of new jobs
 * could become slow.
 */
export const jobCounts: JobCounts = createJobCounts(() => performance.now());

/**
 * Creates an empty store of job counts, so that a test does not share the counts of the process. `nowMs`: a clock that never goes back, in
 * milliseconds.
 */
export function createJobCounts(nowMs: () => number): JobCounts {
  const byProject = new Map<ProjectId, JobCount>();
  const find = (projectId: ProjectId) => {
    const counted = byProject.get(projectId);
    return counted === undefined || counted.untilMs <= nowMs() ? undefined : counted;
  };
  return {
    find: (projectId) => find(projectId)?.used,
    add(projectId, jobs) {
      const counted = find(projectId);
      if (counted !== undefined) counted.used += jobs;
    },
    keep(projectId, used, tookMs) {
      const lasts = Math.min(Math.max(10 * tookMs, lastsMs.least), lastsMs.most);
      for (const [id, { untilMs }] of byProject) if (untilMs <= nowMs()) byProject.delete(id);
      byProject.set(projectId, { used, untilMs: nowMs() + lasts });
    },
  };
}
