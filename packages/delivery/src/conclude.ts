import { readRetryAfter } from "@svc/core";
import type { DeliverySettlement } from "@svc/db/deliveries/settle";
import type { OutgoingDelivery } from "./outgoing.ts";
import type { Attempt } from "./send.ts";

/**
 * Waits between the attempts of a delivery, in milliseconds. The first value is the wait after the first failed attempt, and so on. A
 * delivery that fails after the last wait is dead.
 */
export const defaultRetryScheduleMs: readonly number[] = [
  5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
];

/** Maximum value of an endpoint's Retry-After that svc follows, in milliseconds. */
export const retryAfterMaxMs = 86_400_000;

/**
 * Returns the wait after failed attempt `number` (from 1), or undefined after the last attempt. The wait varies by ±20 % (`random` is in
 * [0, 1)), so that deliveries that failed together are retried at different times. A longer Retry-After of the endpoint is used instead.
 */
export function retryWaitMs(
  scheduleMs: readonly number[],
  number: number,
  retryAfterMs: number,
  random: number,
): number | undefined {
  const wait = scheduleMs[number - 1];
  if (wait === undefined) return undefined;
  return Math.max(Math.round(wait * (0.8 + 0.4 * random)), retryAfterMs);
}

/**
 * Returns the delivery's new state after an attempt: `delivered`, `pending` until the next retry, or `dead_letter`. `random` in [0, 1)
 * varies the wait until the retry.
 */
export function conclude(
  delivery: OutgoingDelivery,
  attempt: Attempt,
  times: { startedAtMs: number; nowMs: number },
  limits: { retryScheduleMs: readonly number[] },
  random: number,
): { settlement: DeliverySettlement; retryAfterMs: number; isUnwanted: boolean } {
  const number = delivery.attempts + 1;
  const isDelivered = attempt.error === "";
  const asked = isDelivered ? undefined : attempt.responseHeaders["retry-after"];
  const retryAfterMs = readRetryAfter(asked, times.nowMs, retryAfterMaxMs) ?? 0;
  const isUnwanted = delivery.endpoint.agent !== undefined && unwanted.includes(attempt.statusCode);
  const scheduleMs = delivery.endpoint.retry?.scheduleMs ?? limits.retryScheduleMs;
  const waitMs = isDelivered || isUnwanted ? undefined : retryWaitMs(scheduleMs, number, retryAfterMs, random);
  const settlement: DeliverySettlement = {
    id: delivery.id,
    projectId: delivery.projectId,
    subscriptionId: delivery.subscriptionId,
    queuedForMs: delivery.queuedForMs,
    leaseUntilMs: delivery.leaseUntilMs,
    behind: delivery.behind,
    state: isDelivered ? "delivered" : waitMs === undefined ? "dead_letter" : "pending",
    dueAtMs: times.nowMs + (waitMs ?? 0),
    attempt: {
      number,
      startedAt: times.startedAtMs,
      durationMs: times.nowMs - times.startedAtMs,
      requestUrl: delivery.endpoint.url,
      ...attempt,
    },
  };
  return { settlement, retryAfterMs, isUnwanted };
}

/**
 * Status codes with which the receiver of an agent's subscription (MCP) refuses only one event. The receiver's endpoint still counts as
 * healthy.
 */
const unwanted = [410, 413];
