import type { SubscriptionId } from "@svc/core";
import type { ReplayReason } from "@svc/db/schema/words";

/**
 * The reason why a replay cannot queue more deliveries now. `waitsForId`: the subscription that is the cause; null if the project's quota
 * is. `againAt`: time of the next check.
 */
export type Hindrance = {
  readonly reason: ReplayReason;
  readonly waitsForId: SubscriptionId | null;
  readonly againAt: number;
};
