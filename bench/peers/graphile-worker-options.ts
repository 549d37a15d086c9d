import { Logger, type RunnerOptions } from "graphile-worker";

/** Its own settings, chosen by measurement (docs/concepts/benchmarks/delivering-events.md). */
const workerSettings = {
  concurrentJobs: 32,
  maxPoolSize: 10,
  // With the delay notifications are ignored while there is work anyway; without it every new job is a fetch of its own.
  localQueue: { size: 500, refetchDelay: { durationMs: 100, threshold: 0, maxAbortThreshold: 500 } },
  completeJobBatchDelay: 100,
  pollInterval: 200,
};

/** How graphile-worker runs in every case: as fast as it was measured to be, and silent but for its errors. */
export function workerOptions(databaseUrl: string): RunnerOptions {
  return {
    noHandleSignals: true,
    logger: new Logger(() => (level, message) => {
      if (level === "error") process.stderr.write(`graphile-worker: ${message}\n`);
    }),
    preset: { worker: { connectionString: databaseUrl, ...workerSettings } },
  };
}
