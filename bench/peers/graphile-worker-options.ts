import { Logger, type RunnerOptions } from "graphile-worker";

/** Settings of the package, chosen by measurement (docs/concepts/benchmarks/delivering-events.md). */
const workerSettings = {
  concurrentJobs: 32,
  maxPoolSize: 10,
  // With the delay, notifications are ignored while there is work. Without it, every new job causes a separate fetch.
  localQueue: { size: 500, refetchDelay: { durationMs: 100, threshold: 0, maxAbortThreshold: 500 } },
  completeJobBatchDelay: 100,
  pollInterval: 200,
};

/** Options with which graphile-worker runs in every case: the fastest ones measured, with only errors printed. */
export function workerOptions(databaseUrl: string): RunnerOptions {
  return {
    noHandleSignals: true,
    logger: new Logger(() => (level, message) => {
      if (level === "error") process.stderr.write(`graphile-worker: ${message}\n`);
    }),
    preset: { worker: { connectionString: databaseUrl, ...workerSettings } },
  };
}
