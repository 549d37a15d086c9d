import type { SubscriptionId } from "@svc/core";
import type { ReplayReason } from "@svc/db/schema/words";

/**
 * Why a replay cannot queue further deliveries now. `waitsForId`: the subscription that causes this, null if it is the project's quota.
 * `againAt`: time of the next check.
 */
export type Hindrance = {
  readonly reason: ReplayReason;
  readonly waitsForId: SubscriptionId | null;
  readonly againAt: number;
};
