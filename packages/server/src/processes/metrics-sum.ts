import { AggregatorRegistry, type Registry } from "prom-client";
import type { MetricValues } from "../metrics/types.ts";

/** Adds up the metrics of several processes. */
export type MetricsSum = {
  /** Stores the current values of a process, in place of its earlier values. If a process does not answer, its earlier values stay. */
  note(process: number, values: MetricValues): void;
  /** Handles the end of a process. Its counters stay in the sum, so that sums never decrease; its gauges are removed. */
  forget(process: number): Promise<void>;
  /** Returns the metrics of all processes, added up, in Prometheus' text format. */
  text(): Promise<string>;
};

/** Creates an object that adds up the metrics of all processes. Processes that have ended count with their last known values. */
export function createMetricsSum(): MetricsSum {
  const known = new Map<number, MetricValues>();
  let ended: MetricValues = [];
  return {
    note: (process, values) => void known.set(process, values),
    async forget(process) {
      const counted = (known.get(process) ?? []).filter(({ type }) => isCounted(type));
      known.delete(process);
      if (counted.length > 0) ended = await aggregate([ended, counted]).getMetricsAsJSON();
    },
    // Running processes come first in the list, because a value that cannot be added is taken from the first process.
    text: () => aggregate([...known.values(), ended]).metrics(),
  };
}

/**
 * Returns true for counters and histograms. They keep counting over the life of the server, so their values count after a process has
 * ended. prom-client returns the type as a text, although its TypeScript declaration says that it is a number.
 */
function isCounted(type: unknown): boolean {
  return type === "counter" || type === "histogram";
}

function aggregate(all: readonly MetricValues[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}
