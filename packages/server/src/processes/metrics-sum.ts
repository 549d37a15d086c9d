import { AggregatorRegistry, type Registry } from "prom-client";
import type { MetricValues } from "../metrics/types.ts";

/** The metrics of several processes in one. */
export type MetricsSum = {
  /** Keeps what a process has counted; a process that does not answer stands with what it had before. */
  note(process: number, values: MetricValues): void;
  /** A process has ended: its counters go on to count, lest the sums fall, and its gauges are gone. */
  forget(process: number): Promise<void>;
  /** Prometheus' text format. */
  text(): Promise<string>;
};

/** Makes a sum of nothing. What has ended is counted as it was read last. */
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
    // Those that run come first: what is not summed is theirs.
    text: () => aggregate([...known.values(), ended]).metrics(),
  };
}

/** A type is a text in what prom-client makes, whatever its types say. */
function isCounted(type: unknown): boolean {
  return type === "counter" || type === "histogram";
}

function aggregate(all: readonly MetricValues[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}
