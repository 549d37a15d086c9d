import { AggregatorRegistry, type Registry } from "prom-client";
import type { MetricValues } from "../metrics/types.ts";

/** Summed metrics of several processes. */
export type MetricsSum = {
  /** Stores the values of a process. A process that does not answer keeps its earlier values. */
  note(process: number, values: MetricValues): void;
  /** A process has ended: its counters still count, so that sums never fall, and its gauges are removed. */
  forget(process: number): Promise<void>;
  /** Prometheus' text format. */
  text(): Promise<string>;
};

/** Creates an empty sum. Values of ended processes count as last read. */
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
    // Running processes come first, because values that are not summed are taken from them.
    text: () => aggregate([...known.values(), ended]).metrics(),
  };
}

/** prom-client writes the type as a text, unlike its declared types. */
function isCounted(type: unknown): boolean {
  return type === "counter" || type === "histogram";
}

function aggregate(all: readonly MetricValues[]): Registry {
  return AggregatorRegistry.aggregate([...all]);
}
