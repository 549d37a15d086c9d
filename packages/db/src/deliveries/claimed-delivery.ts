import type { EventId, ProjectId } from "@svc/core";
import { deliveryTasks, events, subscriptions } from "../schema/triggers.ts";
import type { EventKind } from "../schema/words.ts";
import type { Row } from "../sql/codec.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import type { DeliveryTaskKey } from "./enqueue.ts";

/** A pending delivery that this node now holds, with everything that the node needs to send it. */
export type LeasedDelivery = DeliveryTaskKey & {
  projectId: ProjectId;
  /** Number of attempts of the current retry schedule that were already made. It selects the next wait of the schedule. */
  attempts: number;
  /** Columns of the subscription's endpoint. Its secrets are sealed. */
  endpoint: Readonly<Row<typeof subscriptions, (typeof endpointColumnNames)[number]>>;
  /**
   * True if this delivery is the probe (the one test delivery) of an endpoint that is in backoff after failures. False for all other
   * deliveries.
   */
  probe: boolean;
  event: {
    id: EventId;
    kind: ClaimRow["kind"];
    toolkitSlug: string;
    triggerSlug: string;
    entityId: string;
    payload: string;
    occurredAtMs: number;
    receivedAtMs: number;
    traceparent: string | null;
  };
};

/** Columns of a claimed delivery task, for statements in which the task's row has the name `c`. */
export const taskColumns = selectList(
  deliveryTasks,
  ["deliveryId", "projectId", "subscriptionId", "attempts", "dueAt"],
  "c",
);

/** Columns of a claimed delivery's event, for statements in which the event's row has the name `e`. */
export const eventColumns = selectList(
  events,
  ["id", "toolkitSlug", "triggerSlug", "entityId", "payload", "occurredAt", "receivedAt", "traceparent"],
  "e",
);

const endpointColumnNames = [
  "endpointUrl",
  "signingSecret",
  "mcpId",
  "cursor",
  "formerSecret",
  "formerUntil",
  "settings",
  "credentials",
] as const;
/** Columns of the endpoint to which a claimed delivery goes. The SQL reads them from the row `c` of the statement. */
export const endpointColumns = selectList(subscriptions, endpointColumnNames, "c");
/**
 * Returns SQL text with the columns of a subscription's endpoint. `alias`: name of the row in the query, for example `c` for
 * `c.endpoint_url`.
 */
export const endpointOf = (alias: string) =>
  ["endpoint_url", "signing_secret", "mcp_id", "cursor", "former_secret", "former_until", "settings", "credentials"]
    .map((name) => `${alias}.${name}`)
    .join(", ");

/** Row of a statement that claims deliveries. */
export type ClaimRow = RawRow<
  ReturnType<typeof taskColumns.read> & ReturnType<typeof eventColumns.read> & LeasedDelivery["endpoint"]
> & {
  probe: boolean;
  /**
   * Kind of the event. `notice`: an operational event for an ask endpoint. The kind `swept` (an event without content) cannot occur,
   * because an event's content is not deleted while deliveries of the event are pending.
   */
  kind: Exclude<EventKind, "swept"> | "notice";
};

/**
 * Returns a claimed delivery from a row of the statement that claimed it. `lowPriority`: true if a throttled replay queued the delivery's
 * task.
 */
export function claimedDelivery(
  row: ClaimRow,
  { leaseUntilMs, lowPriority: behind }: { readonly leaseUntilMs: number; readonly lowPriority: boolean },
): LeasedDelivery {
  const { probe, kind } = row;
  const { endpointUrl, signingSecret, mcpId, cursor, formerSecret, formerUntil, settings, credentials } =
    endpointColumns.read(row);
  const { deliveryId, projectId, subscriptionId, attempts, dueAt } = taskColumns.read(row);
  const { id, toolkitSlug, triggerSlug, entityId, payload, occurredAt, receivedAt, traceparent } =
    eventColumns.read(row);
  const texts = { toolkitSlug, triggerSlug, entityId, payload, traceparent };
  return {
    id: deliveryId,
    projectId,
    subscriptionId,
    attempts,
    queuedForMs: dueAt,
    leaseUntilMs,
    behind,
    endpoint: { endpointUrl, signingSecret, mcpId, cursor, formerSecret, formerUntil, settings, credentials },
    probe,
    event: { id, kind, ...texts, occurredAtMs: occurredAt, receivedAtMs: receivedAt },
  };
}
