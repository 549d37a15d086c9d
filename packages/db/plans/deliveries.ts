import { firstUuidAt, uuidOfId } from "@svc/core";
import type { Executor } from "../src/connect.ts";
import { claimDeliveries } from "../src/deliveries/claim.ts";
import { countSuperseded, type DeliveryTaskKey, enqueueDeliveries } from "../src/deliveries/enqueue.ts";
import { expireDeliveries, unparkDeliveries } from "../src/deliveries/expire.ts";
import { promoteDeliveries, releaseDeliveries } from "../src/deliveries/queue.ts";
import {
  countDeliveriesOfEvents,
  isDeliveredToPortal,
  readEventDeliveries,
  readTriggersOfEvents,
} from "../src/deliveries/read.ts";
import { findDeliveryEndpoints, readEndpointTimes } from "../src/deliveries/read-endpoint-times.ts";
import { readAttemptMarks, readShortEvents } from "../src/deliveries/read-marks.ts";
import { readSubscriptionStats } from "../src/deliveries/read-stats.ts";
import { countPacedDeliveries, countPendingDeliveries, deliveriesForProject } from "../src/deliveries/repo.ts";
import { findDeadDeliveries, settleDeliveries } from "../src/deliveries/settle.ts";
import { tryDeliveriesNow } from "../src/deliveries/try-now.ts";
import { readTraceparents } from "../src/events/find-by-key.ts";
import {
  countEventMatches,
  type EventMatchFilter,
  findEventMatches,
  lookForEvents,
  readFollowedEvents,
} from "../src/events/follow.ts";
import {
  findOperationalProjects,
  publishOperationalEvents,
  startsOnOperationalEvents,
} from "../src/events/operational.ts";
import { recordEvents } from "../src/events/record.ts";
import { eventsForProject } from "../src/events/repo.ts";
import { sweepProjectEvents } from "../src/events/sweep.ts";
import {
  findLastDeliveryError,
  findOldestPendingEvent,
  reportSubscriptionFailures,
  reportSubscriptionOverflows,
  reportSubscriptionRecoveries,
} from "../src/subscriptions/health.ts";
import { queueWithin, readSubscriptionProgress } from "../src/subscriptions/read-progress.ts";
import { subscriptionsForProject } from "../src/subscriptions/repo.ts";
import {
  endNarrowedSubscriptions,
  endSubscriptionsOfKey,
  readEntityRouting,
  readProjectRouting,
} from "../src/subscriptions/routing.ts";
import { findEndedSubscriptions } from "../src/subscriptions/sweep.ts";
import {
  adoptDeliveryTasks,
  advanceDeliveryEpoch,
  countDeadTasks,
  readDeliveryEpoch,
} from "../src/task-tables/epochs.ts";
import { claimRequest, newEvent, nowMs, settlement } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const owner = seededId("node", 1);
/** The subscription whose queue has 8,000 tasks. Its endpoint never answers. */
const deadQueue = seededId("sub", 1);
const page = { after: undefined, limit: 51 };
const day = 86_400_000;
const everyEvent = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
const limits = { backoffMinMs: 1_000, backoffMaxMs: 300_000, failingMaxMs: day, goneMaxMs: day, goneMin: 3 };
const matchFilter: EventMatchFilter = {
  fromUuid: firstUuidAt(seededAt(15_000)),
  toUuid: firstUuidAt(seededAt(15_100)),
  toolkitSlug: "",
  triggerSlug: "",
  subscriptionId: undefined,
  onlyUndelivered: true,
};
const followed = { toolkitSlug: "", triggerSlugs: [], entityId: "nobody", readableToolkits: [] };
const look = {
  ...{ fromUuid: firstUuidAt(0), beforeUuid: firstUuidAt(nowMs), seen: "1:1:" },
  ...{ snapshot: undefined, limit: 101 },
};
const keyEnd = { projectId, keyId: seededId("key", 501), nowMs };

/** A filter of deliveries that matches no row, for the recorded query plans. The query therefore scans the maximum number of rows. */
const sought = { ...everyEvent, entityId: "nobody", payloadContains: "" };

/**
 * Returns the keys of `count` delivery tasks, for recorded query plans. All of them are in the queue of the subscription `deadQueue`, whose
 * endpoint never answers.
 */
function tasks(count: number): DeliveryTaskKey[] {
  return Array.from({ length: count }, (_, index) => {
    const queuedForMs = seededAt(index + 1);
    const id = seededId("dlv", 100_001 + index);
    return { id, subscriptionId: deadQueue, queuedForMs, leaseUntilMs: nowMs + 30_000, behind: false };
  });
}

function settlements(count: number) {
  const failed = { state: "pending", attempt: { error: "http_500" } } as const;
  return tasks(count).map((task, index) => settlement(projectId, task, index % 2 === 0 ? {} : failed));
}

function advance(db: Executor): Promise<boolean> {
  return advanceDeliveryEpoch(db, { epoch: 1, rowsMax: 100_000, lockMs: 1_000 });
}

// Recorded query plans of statements on events and their deliveries.
plan("record_events", (db) => {
  const events = Array.from({ length: 200 }, (_, n) => newEvent(projectId, [deadQueue], { dedupeKey: `new-${n}` }));
  const routing = { version: 1, projects: new Map([[projectId, 1]]) };
  return recordEvents(db, events, routing, { owner, untilMs: nowMs });
});
plan("record_heard_events", (db) => {
  const events = Array.from({ length: 200 }, (_, n) => {
    return { ...newEvent(projectId, [deadQueue], { dedupeKey: `heard-${n}` }), subscribedVersion: 1 };
  });
  const routing = { version: 1, projects: new Map([[projectId, 1]]) };
  return recordEvents(db, events, routing, { owner, untilMs: nowMs });
});
plan("record_narrowed_events", (db) => {
  const events = Array.from({ length: 200 }, (_, n) =>
    newEvent(projectId, [deadQueue], { dedupeKey: `narrowed-${n}` }),
  );
  const shards = Array.from({ length: 16 }, (_, shard) => ({ projectId, shard, version: 1 }));
  const routing = { version: 1, projects: new Map([[projectId, 1]]), shards };
  return recordEvents(db, events, routing, { owner, untilMs: nowMs });
});
plan("find_matches", (db) => findEventMatches(db, projectId, matchFilter, 500));
plan("count_matches", (db) => countEventMatches(db, projectId, matchFilter));
plan(
  "lock_swept_events",
  (db) =>
    sweepProjectEvents(db, projectId, { beforeMs: seededAt(5_000), rememberFromMs: seededAt(5_000) }, { limit: 100 }),
  { rowsMax: { events: 200 } },
);
plan("sweep_events", (db) =>
  sweepProjectEvents(db, projectId, { beforeMs: seededAt(5_000), rememberFromMs: seededAt(5_000) }, { limit: 100 }),
);
plan("visit_lanes", (db) => claimDeliveries(db, claimRequest(owner)), { rowsMax: { delivery_tasks: 260 } });
plan("promote_deliveries", (db) => promoteDeliveries(db, nowMs, 100), {
  // Only a few of the waiting tasks are due, so the statement reads few rows.
  rowsMax: { delivery_tasks: 220 },
});
plan("read_delivery_epoch", (db) => readDeliveryEpoch(db));
plan("claim_deliveries", (db) => claimDeliveries(db, claimRequest(owner)), {
  // The long queue of an endpoint that never answers costs only one index lookup.
  rowsMax: { delivery_tasks: 1_100 },
});
plan("claim_paced_deliveries", (db) => claimDeliveries(db, claimRequest(owner)), { rowsMax: { delivery_tasks: 250 } });
plan("settle_deliveries", (db) => settleDeliveries(db, owner, settlements(1)));
plan("settle_deliveries, 500 attempts", (db) => settleDeliveries(db, owner, settlements(500)));
plan("measure_task_table", (db) => countDeadTasks(db, "delivery_tasks"));
plan(["adopt_delivery_tasks", "adopt_ended_deliveries"], (db) => adoptDeliveryTasks(db));
plan(["count_epoch_tasks", "advance_delivery_epoch", "move_delivery_tasks"], advance);
plan("release_deliveries", (db) => releaseDeliveries(db, owner, tasks(50)));
plan("enqueue_deliveries", (db) => {
  const queued = Array.from({ length: 100 }, (_, index) => {
    const eventId = seededId("evt", 5 * index + 1);
    return { id: seededId("dlv", 500_000 + index), eventId, subscriptionId: deadQueue };
  });
  return enqueueDeliveries(db, { projectId, dueAtMs: nowMs, lowPriority: false }, queued);
});
plan(["expire_deliveries", "park_deliveries"], (db) => expireDeliveries(db, deadQueue, nowMs, 50));
plan("unpark_deliveries", (db) => unparkDeliveries(db, deadQueue, nowMs, 2_000));
plan("try_deliveries_now", (db) => tryDeliveriesNow(db, deadQueue, { deliveryId: seededId("dlv", 100_001), nowMs }));
plan("read_endpoint_times", (db) => readEndpointTimes(db, projectId, [deadQueue, seededId("sub", 2)]));
plan("find_delivery_endpoints", (db) => findDeliveryEndpoints(db, projectId, [deadQueue, seededId("sub", 2)], nowMs));
plan("count_delivery_tasks", (db) => countPendingDeliveries(db));
plan("count_paced_deliveries", (db) => countPacedDeliveries(db, nowMs), { wholeReads: ["subscription_paces"] });
plan("read_event_deliveries", (db) => readEventDeliveries(db, projectId, [seededId("evt", 1), seededId("evt", 6)]));
plan("count_superseded_deliveries", (db) => {
  const dead = (n: number) => ({
    ...{ id: seededId("dlv", n), eventId: seededId("evt", n), subscriptionId: seededId("sub", 7) },
  });
  return countSuperseded(db, projectId, [dead(1), dead(6)]);
});
plan("read_event_traces", (db) => readTraceparents(db, [{ projectId, id: seededId("evt", 1) }]));
plan("an event", (db) => eventsForProject(db, projectId).find(seededId("evt", 1)));
plan("a page of events", (db) => eventsForProject(db, projectId).list(everyEvent, page), {
  statistics: ["fresh"],
  rowsMax: { events: 51 },
});
plan(
  "a page of events of a trigger",
  (db) => eventsForProject(db, projectId).list({ ...everyEvent, triggerSlug: "code_host.issue_3" }, page),
  { statistics: ["fresh"], rowsMax: { events: 51 } },
);
plan(
  "list_toolkit_events",
  (db) => eventsForProject(db, projectId).list({ ...everyEvent, toolkitSlug: "code_host" }, page),
  {
    // The query reads one page, plus one page for each of the seven triggers.
    rowsMax: { events: 8 * 51 },
  },
);
plan(
  "list_toolkit_events, none",
  (db) => eventsForProject(db, projectId).list({ ...everyEvent, toolkitSlug: "nobody" }, page),
  { rowsMax: { events: 0 } },
);
plan(
  "a page of events of a time",
  (db) => eventsForProject(db, projectId).list({ ...everyEvent, sinceMs: seededAt(100), untilMs: seededAt(400) }, page),
  { statistics: ["fresh"] },
);
plan(
  ["walk_events", "end_event_walk"],
  (db) => eventsForProject(db, projectId).walk({ ...sought, payloadContains: "nothing" }, page),
  {
    rowsMax: { events: 20_000 },
  },
);
plan(
  ["walk_events_of_trigger", "end_event_walk_of_trigger"],
  (db) => eventsForProject(db, projectId).walk({ ...sought, triggerSlug: "code_host.issue_3" }, page),
  { rowsMax: { events: 20_000 } },
);
plan("look_at_events", (db) => lookForEvents(db, projectId, followed, look), { rowsMax: { events: 20_000 } });
plan(
  "look_at_events_of_trigger",
  (db) => lookForEvents(db, projectId, { ...followed, triggerSlugs: ["code_host.issue_3"] }, look),
  { rowsMax: { events: 20_000 } },
);
plan("read_followed_events", (db) =>
  readFollowedEvents(db, projectId, [uuidOfId(seededId("evt", 1)), uuidOfId(seededId("evt", 6))], 1_048_576),
);
plan(
  ["list_delivery_lanes", "walk_deliveries", "end_delivery_walk"],
  (db) => {
    const filter = { state: "dead_letter", onlyFailed: true, kinds: ["failed"], statusCode: 503 } as const;
    return deliveriesForProject(db, projectId).walk({ ...filter, subscriptionId: undefined }, page);
  },
  { rowsMax: { deliveries: 20_500 } },
);
plan("find_last_success", (db) => readSubscriptionProgress(db, projectId, deadQueue), {
  rowsMax: { deliveries: 20_000 },
});
plan("find_subscription_pace", (db) => readSubscriptionProgress(db, projectId, seededId("sub", 207)));
plan("count_subscription_deliveries", (db) => readSubscriptionProgress(db, projectId, deadQueue));
plan("lock_subscription_queue", (db) => queueWithin(db, deadQueue, 10, () => Promise.resolve()));
plan("read_triggers_of_events", (db) =>
  readTriggersOfEvents(db, projectId, [seededId("evt", 1), seededId("evt", 5_001)]),
);
plan("find_portal_delivery", (db) =>
  isDeliveredToPortal(db, projectId, { eventId: seededId("evt", 1), entityId: "ada" }),
);
plan("a delivery", (db) => deliveriesForProject(db, projectId).find(seededId("dlv", 1)));
plan("the attempts of a delivery", (db) => deliveriesForProject(db, projectId).findAttempts(seededId("dlv", 1)));
plan("list_event_deliveries", (db) =>
  deliveriesForProject(db, projectId).list({ eventId: seededId("evt", 1), subscriptionId: undefined }, page),
);
plan("read_attempt_marks", (db) => readAttemptMarks(db, projectId, [seededId("dlv", 1), seededId("dlv", 6)]));
plan("read_short_events", (db) => readShortEvents(db, projectId, [seededId("evt", 1), seededId("evt", 5_001)]));
plan(
  "read_subscription_stats",
  (db) => readSubscriptionStats(db, projectId, deadQueue, { sinceMs: 0, untilMs: nowMs }),
  { rowsMax: { deliveries: 10_100, events: 5_100 } },
);
plan(
  "count_event_deliveries",
  (db) => {
    const page = Array.from({ length: 200 }, (_, n) => seededId("evt", n + 1));
    return countDeliveriesOfEvents(db, projectId, page);
  },
  { rowsMax: { deliveries: 200 * 41 } },
);
plan(
  "a page of deliveries of a subscription",
  (db) => deliveriesForProject(db, projectId).list({ eventId: undefined, subscriptionId: seededId("sub", 7) }, page),
  { statistics: ["fresh"] },
);

// Recorded query plans of statements on subscriptions and the health of their endpoints.
plan("end_subscriptions_of_key", (db) => endSubscriptionsOfKey(db, keyEnd));
plan("end_narrowed_subscriptions", (db) => endNarrowedSubscriptions(db, keyEnd, ["calendar"]));
plan("find_ended_subscriptions", (db) => findEndedSubscriptions(db, nowMs, 100));
plan("find_oldest_pending_event", (db) => findOldestPendingEvent(db, deadQueue));
plan("find_last_delivery_error", (db) => findLastDeliveryError(db, projectId, deadQueue), {
  rowsMax: { deliveries: 1_000 },
});
plan("read_project_routing", (db) => readProjectRouting(db, [projectId, seededId("prj", 700)]), { isSlow: true });
plan("read_entity_routing", (db) => {
  const names = Array.from({ length: 200 }, (_, n) => ({ projectId, entityId: `entity-${n}` }));
  return readEntityRouting(db, names);
});
plan("record_failures", (db) => {
  const report = { subscriptionId: deadQueue, startedAtMs: nowMs, retryAfterMs: 0, goneCount: 0 };
  return reportSubscriptionFailures(db, [report], nowMs + 6 * day, limits);
});
plan("record_overflows", (db) => reportSubscriptionOverflows(db, [deadQueue, seededId("sub", 9)], 100), {
  rowsMax: { delivery_tasks: 202 },
});
plan("record_recoveries", (db) => reportSubscriptionRecoveries(db, [deadQueue]));
plan("find_dead_deliveries", (db) => findDeadDeliveries(db, [seededId("dlv", 9), seededId("dlv", 7)]));
plan("find_operational_receivers", (db) => {
  const filters = { begin: () => async () => new Map(), countFaults: () => {} };
  const facts = [{ projectId }, { projectId: seededId("prj", 700) }];
  return publishOperationalEvents(db, facts, () => [], { filters, nowMs });
});
plan("find_entity_receivers", async (db) => {
  const filters = { begin: () => async () => new Map(), countFaults: () => {} };
  const of = { projectId, entityId: "entity-0" };
  const endpoint = { endpointUrl: "https://example.com/", signingSecret: Buffer.from("sealed"), createdAt: nowMs };
  const operational = { ...endpoint, id: seededId("sub", 500_001), toolkitSlug: "svc", triggerSlug: "" };
  await subscriptionsForProject(db, projectId).create({ ...operational, entityId: of.entityId });
  const payload = { quota: "jobs", used: 1, limit: 1 };
  const event = { ...of, name: "quota_near" as const, occurrence: "o", payload };
  await publishOperationalEvents(db, [of], () => [event], { filters, nowMs });
});
plan("find_operational_projects", (db) => findOperationalProjects(db, undefined, 100), { isSlow: true });
plan("find_operational_listeners", (db) => startsOnOperationalEvents(db, [seededId("stp", 9)]));
plan("a subscription", (db) => subscriptionsForProject(db, projectId).find(deadQueue));
plan("a page of subscriptions", (db) => subscriptionsForProject(db, projectId).list(page), { statistics: ["fresh"] });
