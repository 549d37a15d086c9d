import type { SubscriptionId } from "@svc/core";
import type { ReplayReason } from "@svc/db/schema/words";

/**
 * Reason why a replay (repeated deliveries of past events) cannot queue more deliveries now. `waitsForId`: the subscription that is the
 * cause; null if the cause is the project's quota. `againAt`: time of the next check.
 */
export type Hindrance = {
  readonly reason: ReplayReason;
  readonly waitsForId: SubscriptionId | null;
  readonly againAt: number;
};
