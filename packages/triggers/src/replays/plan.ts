import type { SubscriptionId } from "@svc/core";
import type { ReplayReason } from "@svc/db/schema/words";

/** The reason why a replay queues nothing more, its subscription, and the time of the next check. */
export type Hindrance = {
  readonly reason: ReplayReason;
  readonly waitsForId: SubscriptionId | null;
  readonly againAt: number;
};
