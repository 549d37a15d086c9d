import type { Id } from "@svc/core";

/** Tells the watchers of one node that a job's log grew. A hint only: another node's work is found by polling. */
export type JobHints = {
  notify(jobId: Id<"job">): void;
  /** Calls `listener` at every hint about the job until the returned function is called. */
  subscribe(jobId: Id<"job">, listener: () => void): () => void;
};

/** Makes the hints of one node. They hold nothing of jobs that nobody watches. */
export function createJobHints(): JobHints {
  const listeners = new Map<Id<"job">, Set<() => void>>();
  return {
    notify(jobId) {
      for (const listener of [...(listeners.get(jobId) ?? [])]) listener();
    },
    subscribe(jobId, listener) {
      const known = listeners.get(jobId) ?? new Set();
      listeners.set(jobId, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0 && listeners.get(jobId) === known) listeners.delete(jobId);
      };
    },
  };
}
