import type { SharedPorts } from "../listen/listeners.ts";
import type { MetricValues } from "../metrics/types.ts";
import type { PreparedStore } from "../start/prepare.ts";
import type { HeldStore } from "../start/store.ts";

/** What one of several processes has from their supervisor: a store that is prepared, a place to listen, and the others' figures. */
export type ProcessShare = PreparedStore & {
  /** Whether this process tells what would be the same of all. */
  readonly isFirst: boolean;
  readonly store: Pick<HeldStore, "url" | "isEmbedded">;
  /** Tells that everything is loaded, and waits for the ports: no connection comes before it can be answered. */
  takePorts(): Promise<SharedPorts>;
  /** From now on the supervisor is answered with these. */
  answerMetrics(read: () => Promise<MetricValues>): void;
  /** The metrics of all processes in Prometheus' text format. */
  sumMetrics(): Promise<string>;
};
