import type { SubscriptionId } from "@svc/core";
import type { ReplayReason } from "@svc/db/schema/words";

/** Why a replay queues no further deliveries, the subscription that causes this, and the time of the next check. */
export type Hindrance = {
  readonly reason: ReplayReason;
  readonly waitsForId: SubscriptionId | null;
  readonly againAt: number;
};
