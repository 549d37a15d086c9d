import { readRetryAfter } from "@svc/core";
import type { DeliverySettlement } from "@svc/db/deliveries/settle";
import type { OutgoingDelivery } from "./outgoing.ts";
import { retryAfterMaxMs, retryWaitMs } from "./retry-schedule.ts";
import type { Attempt } from "./send.ts";

/**
 * What an attempt means for its delivery: delivered by any 2xx; else pending until the next wait of the schedule (or the
 * endpoint's longer Retry-After) is over, and dead after the last, or once an agent's receiver says that it does not want this one. Pure;
 * `random` in [0, 1) spreads the retries.
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
  const waitMs =
    isDelivered || isUnwanted ? undefined : retryWaitMs(limits.retryScheduleMs, number, retryAfterMs, random);
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

/** 410 and 413 are said of one event by receivers of MCP's, and say nothing against the endpoint. */
const unwanted = [410, 413];
