import type { SharedPorts } from "../listen/listeners.ts";
import type { MetricValues } from "../metrics/types.ts";
import type { PreparedStore } from "../start/prepare.ts";
import type { HeldStore } from "../start/store.ts";

/** Data that the supervisor shares with a process: a prepared database, ports, and the metrics of the others. */
export type ProcessShare = PreparedStore & {
  /** True if this process reports facts that are equal for all. */
  readonly isFirst: boolean;
  readonly store: Pick<HeldStore, "url" | "isEmbedded">;
  /** Reports that everything is loaded, and waits for the ports. No connection arrives before it can be answered. */
  takePorts(): Promise<SharedPorts>;
  /** Sets the source of the metrics that answer the supervisor. */
  answerMetrics(read: () => Promise<MetricValues>): void;
  /** Returns the metrics of all processes in Prometheus' text format. */
  sumMetrics(): Promise<string>;
};
