import type { SubscriptionId } from "@svc/core";
import type { EventMatch } from "@svc/db/events/match";
import type { ReplayRecord } from "@svc/db/replays/repo";
import type { ReplayedSubscription } from "@svc/db/replays/step";
import type { ReplayReason } from "@svc/db/schema/words";
import { turnMs } from "./pace.ts";

/** A subscription has this much of a replay pending at most, measured by the replay's pace. */
const pendingSeconds = 10;
/** Longest wait for an endpoint that backs off, until it is looked at again. */
const backoffWaitMs = 30_000;

/** How many deliveries of a replay a subscription may have pending. */
export function pendingMaxOf({ perSecond }: Pick<ReplayRecord, "perSecond">): number {
  return pendingSeconds * perSecond;
}

/** Why a replay queues nothing more, for which subscription, and when it looks again. */
export type Hindrance = {
  readonly reason: ReplayReason;
  readonly waitsForId: SubscriptionId | null;
  readonly againAt: number;
};

/** The matches that a step queues: the first ones, up to the first that has to wait. */
export type StepPlan = { readonly queue: readonly EventMatch[]; readonly hindrance: Hindrance | undefined };

/** What of the next matches is queued. A subscription that is missing is one that ended meanwhile: nothing is sent to it, and nothing waits. */
export function planStep(
  matches: readonly EventMatch[],
  subscriptions: readonly ReplayedSubscription[],
  { pendingMax, nowMs }: { pendingMax: number; nowMs: number },
): StepPlan {
  const known = new Map(subscriptions.map((one) => [one.id, { one, room: roomOf(one, pendingMax, nowMs) }]));
  const queue: EventMatch[] = [];
  for (const match of matches) {
    const to = known.get(match.subscriptionId);
    if (to === undefined) continue;
    if (to.room <= 0) return { queue, hindrance: hindranceOf(to.one, nowMs) };
    to.room--;
    queue.push(match);
  }
  return { queue, hindrance: undefined };
}

/** An endpoint that fails is sent one delivery each time its backoff is over: nothing else may be there to find it well again. */
function roomOf(
  { failingSince, backoffUntil, pending }: ReplayedSubscription,
  pendingMax: number,
  nowMs: number,
): number {
  if (failingSince === null) return pendingMax - pending;
  return pending === 0 && (backoffUntil ?? 0) <= nowMs ? 1 : 0;
}

function hindranceOf({ id, failingSince, backoffUntil }: ReplayedSubscription, nowMs: number): Hindrance {
  if (failingSince === null) return { reason: "pending", waitsForId: id, againAt: nowMs + turnMs };
  const againAt = Math.min(Math.max(backoffUntil ?? 0, nowMs + turnMs), nowMs + backoffWaitMs);
  return { reason: "backoff", waitsForId: id, againAt };
}
