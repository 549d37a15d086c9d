import { currentTrace } from "@svc/core";
import {
  type Histogram,
  type LabelValues,
  type OpenMetricsContentType,
  type PrometheusContentType,
  Registry,
} from "prom-client";

/** Registries to which metrics are added. */
export type Registers = (Registry<PrometheusContentType> | Registry<OpenMetricsContentType>)[];

/**
 * Creates the registry of a node. If the node makes spans, it has the format OpenMetrics, which can name a trace for each bucket of a
 * histogram (an exemplar). Otherwise it has the text format of Prometheus.
 */
export function createRegistry(isTraced: boolean): Registers[number] {
  if (!isTraced) return new Registry<PrometheusContentType>();
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}

/** True if histograms of these registries can have exemplars. */
export function hasExemplars([registry]: Registers): boolean {
  return registry?.contentType === Registry.OPENMETRICS_CONTENT_TYPE;
}

/**
 * Returns a function that adds an observation in seconds to a histogram, with values for its labels in their order. If the histogram has
 * exemplars, the observation names the trace in which the code runs. The function looks up each combination of labels only once.
 */
export function observing<Label extends string>(
  histogram: Histogram<Label>,
  registers: Registers,
  ...names: readonly Label[]
): (seconds: number, ...values: string[]) => void {
  if (!hasExemplars(registers)) {
    const observe = children((...values: string[]) => histogram.labels(...values));
    return (seconds, ...values) => observe(...values).observe(seconds);
  }
  return (value, ...values) => {
    const labels: Partial<Record<Label, string>> = {};
    for (const [index, name] of names.entries()) labels[name] = values[index] ?? "";
    // The library's types name the labels of the histogram here. An exemplar has labels of its own.
    const exemplarLabels = exemplarOf(currentTrace()) as LabelValues<Label>;
    histogram.observe({ labels, value, exemplarLabels });
  };
}

/** Returns the labels of an exemplar for a W3C `traceparent`; none if the trace is not sampled, so that the receiver does not have it. */
function exemplarOf(traceparent: string | undefined): Record<string, string> {
  const [, traceId, spanId, flags] = traceparent?.split("-") ?? [];
  return traceId === undefined || spanId === undefined || flags !== "01" ? {} : { trace_id: traceId, span_id: spanId };
}

/**
 * Returns a function that does the same as `create`, but calls it only once for each combination of labels. `create` searches the metrics
 * library for the counter with these labels, which takes longer than counting.
 */
export function children<Labels extends string[], Child>(
  create: (...labels: Labels) => Child,
): (...labels: Labels) => Child {
  const known = new Map<string, Child>();
  return (...labels) => {
    const key = labels.length === 1 ? (labels[0] ?? "") : labels.join(" ");
    let child = known.get(key);
    if (child === undefined) {
      child = create(...labels);
      known.set(key, child);
    }
    return child;
  };
}
