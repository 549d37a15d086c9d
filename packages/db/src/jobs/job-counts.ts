import type { ProjectId } from "@svc/core";

/** A count is valid for ten times as long as it took, within these limits in milliseconds. So counting takes at most a tenth of the time. */
const lastsMs = { least: 1_000, most: 5_000 };

type JobCount = { used: number; readonly untilMs: number };

/** Remembers how many jobs of each project have not ended. */
type JobCounts = {
  /** Returns an upper bound, apart from jobs added by other nodes since the count; undefined if they must be counted. */
  find(projectId: ProjectId): number | undefined;
  /** Adds newly stored jobs to the remembered count. */
  add(projectId: ProjectId, jobs: number): void;
  /** Remembers a count of `used` jobs, from a statement that took `tookMs`. */
  keep(projectId: ProjectId, used: number, tookMs: number): void;
};

/**
 * The counts of this process. While a transaction holds an old snapshot, vacuum keeps dead rows, and a count scans them too. A count with
 * every batch would then take longer every minute.
 */
export const jobCounts: JobCounts = createJobCounts(() => performance.now());

/** Creates separate counts, for tests; `nowMs` is a monotonic clock. */
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
