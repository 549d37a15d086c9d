import type { SharedPorts } from "../listen/listeners.ts";
import type { MetricValues } from "../metrics/types.ts";
import type { PreparedStore } from "../start/prepare.ts";
import type { HeldStore } from "../start/store.ts";

/** Data that the supervisor shares with a process: the prepared database, the ports, and access to the metrics of all processes. */
export type ProcessShare = PreparedStore & {
  /** True for exactly one of the server's processes. This process reports the metrics that are the same for all processes. */
  readonly isFirst: boolean;
  readonly store: Pick<HeldStore, "url" | "isEmbedded">;
  /**
   * Reports that this process has loaded everything, and resolves with the ports. The process listens only afterwards, so no connection
   * arrives before it can be answered.
   */
  takePorts(): Promise<SharedPorts>;
  /** Sets the function with which this process returns its metrics when the supervisor asks for them. */
  answerMetrics(read: () => Promise<MetricValues>): void;
  /** Notifies the other processes of due work, such as long jobs, that this process has stored but does not do itself. */
  tellWorkDue(): void;
  /** Sets the function that is called when another process reports due work. */
  onWorkDue(look: () => void): void;
  /** Returns the metrics of all processes in Prometheus' text format. */
  sumMetrics(): Promise<string>;
};
