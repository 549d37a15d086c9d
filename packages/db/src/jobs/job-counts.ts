import type { ProjectId } from "@svc/core";

/** A count lasts ten times as long as it took, within these milliseconds: counting takes a tenth of the time at most. */
const lastsMs = { least: 1_000, most: 5_000 };

type JobCount = { used: number; readonly untilMs: number };

/** What a node remembers of how many jobs of each project have not ended. */
type JobCounts = {
  /** That many at most, but for what other nodes have added since they were counted; undefined where they are to be counted. */
  find(projectId: ProjectId): number | undefined;
  /** So many were stored beside those that are known. */
  add(projectId: ProjectId, jobs: number): void;
  /** They were counted: `used`, in a statement that took `tookMs`. */
  keep(projectId: ProjectId, used: number, tookMs: number): void;
};

/**
 * The memory of this process. Who counts walks over what has ended, too, while somebody holds a snapshot that vacuum must keep it for: a
 * count with every batch would take longer from minute to minute.
 */
export const jobCounts: JobCounts = createJobCounts(() => performance.now());

/** A memory of its own; `nowMs` is a clock that is never set. */
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
