import { randomBytes } from "node:crypto";
import {
  createId,
  type DeliveryId,
  type EventId,
  idOfUuid,
  type NodeId,
  type ProjectId,
  type SubscriptionId,
  uuidOfId,
} from "@svc/core";
import type { CallRecord } from "./calls/repo.ts";
import type { Database, Executor } from "./connect.ts";
import type { DeliveryClaimRequest } from "./deliveries/claim.ts";
import type { DeliveryTaskKey } from "./deliveries/enqueue.ts";
import type { DeliverySettlement } from "./deliveries/settle.ts";
import type { AttemptEntry } from "./documents/calls.ts";
import type { NewEvent } from "./events/record.ts";
import { createProject } from "./projects/repo.ts";
import { subscriptionsForProject } from "./subscriptions/repo.ts";

/** Time that tests use if they need no particular time. */
export const nowMs = Date.UTC(2026, 0, 5, 9, 0, 0);

/** Adds a project with a unique name. */
export async function addProject(db: Executor): Promise<ProjectId> {
  return (await createProject(db, randomBytes(6).toString("hex"), nowMs)).id;
}

/**
 * For tests: adds a subscription to events of every trigger. `entityId`: only events of this entity (customer or user); empty for all
 * events.
 */
export async function addSubscription(db: Executor, projectId: ProjectId, entityId = ""): Promise<SubscriptionId> {
  const id = createId("sub", nowMs);
  const signingSecret = Buffer.from("sealed");
  const endpointUrl = "https://example.com/hook";
  await subscriptionsForProject(db, projectId).create({
    id,
    endpointUrl,
    entityId,
    toolkitSlug: "",
    triggerSlug: "",
    createdAt: nowMs,
    signingSecret,
  });
  return id;
}

/**
 * For tests: returns an event with one delivery for each subscription. No node has a lease (the right to send it) of the deliveries.
 * `changes` replaces fields of the event.
 */
export function newEvent(
  projectId: ProjectId,
  subscriptions: readonly SubscriptionId[] = [],
  changes: Partial<NewEvent> = {},
): NewEvent {
  const receivedAtMs = changes.receivedAtMs ?? nowMs;
  return {
    id: createId("evt", receivedAtMs),
    projectId,
    kind: "event",
    toolkitSlug: "code_host",
    triggerSlug: "code_host.issue_opened",
    entityId: "",
    payload: '{"n":1}',
    occurredAtMs: receivedAtMs,
    receivedAtMs,
    dedupeKey: "",
    deliveries: subscriptions.map((subscriptionId) => ({
      id: createId("dlv", receivedAtMs),
      subscriptionId,
      leased: false,
    })),
    ...changes,
  };
}

/**
 * For tests: returns a request to claim deliveries, with limits so high that they have no effect. `changes` replaces fields of the request.
 */
export function claimRequest(owner: NodeId, changes: Partial<DeliveryClaimRequest> = {}): DeliveryClaimRequest {
  return {
    owner,
    nowMs,
    leaseUntilMs: nowMs + 30_000,
    limit: 256,
    share: 32,
    slots: new Map(),
    fullProjects: new Set(),
    after: undefined,
    queuesMax: 256,
    lowPriority: false,
    ...changes,
  };
}

/** For tests: returns the result of a first delivery attempt that succeeded. `changes` replaces fields of the result. */
export function settlement(
  projectId: ProjectId,
  task: DeliveryTaskKey,
  { attempt, ...changes }: Partial<Omit<DeliverySettlement, "attempt">> & { attempt?: Partial<AttemptEntry> } = {},
): DeliverySettlement {
  return {
    ...task,
    projectId,
    state: "delivered",
    dueAtMs: nowMs,
    attempt: {
      number: 1,
      startedAt: nowMs,
      durationMs: 12,
      requestUrl: "https://example.com/hook",
      address: "192.0.2.1",
      statusCode: 200,
      error: "",
      responseHeaders: { "content-type": "text/plain" },
      responseBody: "ok",
      ...attempt,
    },
    ...changes,
  };
}

/**
 * For tests: fills the delivery queue of a subscription with `count` events, one second apart from `fromMs`. Each event has one pending
 * delivery, due when the event was received. Returns the tasks, oldest first.
 */
export async function fillQueue(
  db: Database,
  projectId: ProjectId,
  subscriptionId: SubscriptionId,
  { count, fromMs = nowMs - 86_400_000, owner }: { count: number; fromMs?: number; owner?: NodeId },
): Promise<DeliveryTaskKey[]> {
  const rows = await db.sql<{ id: string; due_ms: number }[]>`
    with numbered as materialized (
      select n, to_timestamp(${fromMs / 1000}::float8) + n * interval '1 second' as at,
        (lpad(to_hex(${fromMs}::int8 + n * 1000), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid as id
      from generate_series(1, ${count}::int8) n
    ), stored as (
      insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
      select ${uuidOfId(projectId)}::uuid, id, 'event', 'code_host', 'code_host.issue_opened', '', '{"n":1}', at, at, '' from numbered
    ), delivered as (
      insert into deliveries (project_id, id, event_id, subscription_id, state, next_attempt_at)
      select ${uuidOfId(projectId)}::uuid, id, id, ${uuidOfId(subscriptionId)}::uuid, 'pending', at from numbered
    ), queued as (
      insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, epoch, lease_owner, lease_until)
      select id, ${uuidOfId(projectId)}::uuid, ${uuidOfId(subscriptionId)}::uuid, id, at, (select epoch from delivery_epoch),
        ${owner === undefined ? null : uuidOfId(owner)}::uuid, ${owner === undefined ? null : new Date(nowMs + 30_000).toISOString()}::timestamptz
      from numbered
    )
    select id, (extract(epoch from at) * 1000)::float8 as due_ms from numbered order by n`;
  const leaseUntilMs = nowMs + 30_000;
  return rows.map((row) => {
    return { id: idOfUuid("dlv", row.id), subscriptionId, queuedForMs: row.due_ms, leaseUntilMs, behind: false };
  });
}

/** For tests: returns the id of the event of a delivery that `fillQueue` stored. Both ids have the same UUID. */
export function eventOf(id: DeliveryId): EventId {
  return idOfUuid("evt", uuidOfId(id));
}

/** For tests: returns the ledger row of a successful tool call. `changes` replaces fields of the row. */
export function callOf(projectId: ProjectId, changes: Partial<CallRecord> = {}): CallRecord {
  const createdAt = changes.createdAt ?? nowMs;
  return {
    id: createId("call", createdAt),
    projectId,
    toolSlug: "desk.read_ticket",
    accessClass: "write",
    entityId: "ann",
    accountId: createId("acc", nowMs),
    keyId: createId("key", nowMs),
    jobId: undefined,
    stepId: "",
    outcome: "ok",
    message: "",
    sealedMessage: undefined,
    providerStatus: 200,
    argumentsDigest: Buffer.alloc(32, 1),
    arguments: Buffer.from("sealed"),
    result: undefined,
    isTruncated: false,
    isSandbox: false,
    idempotencyKey: undefined,
    replay: undefined,
    createdAt,
    durationMs: 12,
    providerMs: 7,
    ...changes,
  };
}
