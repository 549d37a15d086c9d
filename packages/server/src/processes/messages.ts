import type { Audience } from "@svc/catalog";
import type { ListenerUrls, SharedPorts } from "../listen/listeners.ts";
import type { MetricValues } from "../metrics/types.ts";
import type { Server } from "../server.ts";
import type { HeldStore } from "../start/store.ts";

/** What the supervisor tells a process, over a channel that no one else can read. */
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
  | { readonly type: "reload" }
  | { readonly type: "stop" };

/** Where a process serves, which is the same for all. */
export type ProcessAddresses = ListenerUrls & Pick<Server, "consoleUrl">;

/** What a process tells the supervisor. */
export type ProcessMessage =
  | { readonly type: "loaded" }
  | (ProcessAddresses & { readonly type: "ready" })
  /** It cannot start, for a reason that an operator can mend. */
  | { readonly type: "refused"; readonly message: string }
  | { readonly type: "metricsRead"; readonly request: number; readonly values: MetricValues }
  | { readonly type: "sumMetrics"; readonly request: number };
