import type { Audience } from "@svc/catalog";
import type { ListenerUrls, SharedPorts } from "../listen/listeners.ts";
import type { MetricValues } from "../metrics/types.ts";
import type { Server } from "../server.ts";
import type { HeldStore } from "../start/store.ts";

/** A message from the supervisor to one of the processes that it started. Other processes of the machine cannot read the channel. */
export type SupervisorMessage =
  | {
      readonly type: "begin";
      readonly store: Pick<HeldStore, "url" | "isEmbedded">;
      readonly audience: Audience | undefined;
      readonly isFirst: boolean;
    }
  | { readonly type: "listen"; readonly ports: SharedPorts }
  | { readonly type: "readMetrics"; readonly request: number }
  | { readonly type: "metricsSummed"; readonly request: number; readonly text: string }
  /** Notice that another process stored work that is due, such as a job. The receiving process looks for this work in the database. */
  | { readonly type: "workDue" }
  | { readonly type: "reload" }
  | { readonly type: "stop" };

/** Addresses of the service. They are the same for all processes. */
export type ProcessAddresses = ListenerUrls & Pick<Server, "consoleUrl">;

/** A message from a process to the supervisor. */
export type ProcessMessage =
  | { readonly type: "loaded" }
  | (ProcessAddresses & { readonly type: "ready" })
  /** The process cannot start, for a reason that an operator can correct. */
  | { readonly type: "refused"; readonly message: string }
  | { readonly type: "metricsRead"; readonly request: number; readonly values: MetricValues }
  | { readonly type: "sumMetrics"; readonly request: number }
  /** Notice that this process stored work that is due, such as a job with rows, and leaves it to other processes. */
  | { readonly type: "workDue" };
