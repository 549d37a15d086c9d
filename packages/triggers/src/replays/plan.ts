import type { SubscriptionId } from "@svc/core";
import type { ReplayReason } from "@svc/db/schema/words";

/** Why a replay queues nothing more, for which subscription, and when it looks again. */
export type Hindrance = {
  readonly reason: ReplayReason;
  readonly waitsForId: SubscriptionId | null;
  readonly againAt: number;
};
