import { firstUuidAt, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { countPendingDeliveries } from "../deliveries/backlog.ts";
import { claimDeliveries } from "../deliveries/claim.ts";
import { countDeliveriesOfEvents } from "../deliveries/count-of-events.ts";
import { enqueueDeliveries } from "../deliveries/enqueue.ts";
import { expireDeliveries } from "../deliveries/expire.ts";
import { promoteDeliveries } from "../deliveries/promote.ts";
import { findDeliveryEndpoints, readEndpointTimes } from "../deliveries/read-endpoint-times.ts";
import { readEventDeliveries } from "../deliveries/read-event-deliveries.ts";
import { releaseDeliveries } from "../deliveries/release.ts";
import { deliveriesForProject } from "../deliveries/repo.ts";
import { settleDeliveries } from "../deliveries/settle.ts";
import { countSuperseded } from "../deliveries/superseded.ts";
import type { DeliveryTaskKey } from "../deliveries/task-key.ts";
import { tryDeliveriesNow } from "../deliveries/try-now.ts";
import { followEvents } from "../events/follow.ts";
import { countEventMatches, type EventMatchFilter, findEventMatches } from "../events/match.ts";
import { recordEvents } from "../events/record.ts";
import { eventsForProject } from "../events/repo.ts";
import { sweepProjectEvents } from "../events/sweep.ts";
import { endNarrowedSubscriptions, endSubscriptionsOfKey } from "../subscriptions/end-of-keys.ts";
import { findLastDeliveryError, findOldestPendingEvent } from "../subscriptions/oldest-pending.ts";
import { readSubscriptionProgress } from "../subscriptions/read-progress.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { reportSubscriptionFailures } from "../subscriptions/report-failures.ts";
import { reportSubscriptionRecoveries } from "../subscriptions/report-recoveries.ts";
import { readProjectRouting } from "../subscriptions/routing.ts";
import { findEndedSubscriptions } from "../subscriptions/sweep.ts";
import { adoptDeliveryTasks } from "../task-tables/adopt.ts";
import { advanceDeliveryEpoch, readDeliveryEpoch } from "../task-tables/advance-epoch.ts";
import { countDeadTasks } from "../task-tables/compact.ts";
import { claimRequest, newEvent, nowMs, settlement } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const owner = seededId("node", 1);
/** The lane with 8,000 tasks and a dead endpoint. */
const deadLane = seededId("sub", 1);
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
const matching = {
  events: ["events_key(project_id, id)"],
  subscriptions: "subscriptions_project(project_id)",
  deliveries: ["deliveries_event(project_id, event_id)"],
};
/** Finds little, and so looks as far as it may. */
const sought = { ...everyEvent, entityId: "nobody", payloadContains: "" };
const following = {
  ...{ triggerSlug: "code_host.issue_3", entityId: "nobody", exceptUuids: [uuidOfId(seededId("evt", 1))] },
  ...{ fromUuid: firstUuidAt(0), beforeUuid: firstUuidAt(nowMs), limit: 51 },
};
const keyEnd = { projectId, keyId: seededId("key", 501), nowMs };
const deliveryKey = [
  "deliveries_subscription(project_id, subscription_id, id)",
  "deliveries_subscription(project_id, subscription_id)",
];
/** What steps of a walk read beside the key of a subscription: the first lane of a project, and the rows of the page. */
const walkedBy: Readonly<Record<string, readonly string[]>> = {
  list_delivery_lanes: ["deliveries_subscription(project_id)"],
  walk_deliveries: ["deliveries_pkey(id)"],
};
const laneKey = "delivery_tasks_lane(epoch, subscription_id, due_at, delivery_id)";
const epochKey = { delivery_epoch: "delivery_epoch_pkey(id)" };

/** The keys of tasks of the dead lane. */
function tasks(count: number): DeliveryTaskKey[] {
  return Array.from({ length: count }, (_, index) => {
    const queuedForMs = seededAt(index + 1);
    const id = seededId("dlv", 100_001 + index);
    return { id, subscriptionId: deadLane, queuedForMs, leaseUntilMs: nowMs + 30_000, behind: false };
  });
}

function settlements(count: number) {
  const failed = { state: "pending", attempt: { error: "http_500" } } as const;
  return tasks(count).map((task, index) => settlement(projectId, task, index % 2 === 0 ? {} : failed));
}

function advance(db: Executor): Promise<boolean> {
  return advanceDeliveryEpoch(db, { epoch: 1, rowsMax: 100_000, lockMs: 1_000 });
}

/** Events and their deliveries. */
export const deliveryPlans: readonly Plan[] = [
  {
    name: "record_events",
    run: (db) => {
      const events = Array.from({ length: 200 }, (_, n) => newEvent(projectId, [deadLane], { dedupeKey: `new-${n}` }));
      const routing = { version: 1, projects: new Map([[projectId, 1]]) };
      return recordEvents(db, events, routing, { owner, untilMs: nowMs });
    },
    reads: { ...epochKey, projects: "projects_pkey(id)", routing_state: ["Seq Scan", "routing_state_pkey()"] },
  },
  {
    name: "record_heard_events",
    run: (db) => {
      const events = Array.from({ length: 200 }, (_, n) => {
        return { ...newEvent(projectId, [deadLane], { dedupeKey: `heard-${n}` }), heardAt: 1 };
      });
      const routing = { version: 1, projects: new Map([[projectId, 1]]) };
      return recordEvents(db, events, routing, { owner, untilMs: nowMs });
    },
    reads: { ...epochKey, projects: "projects_pkey(id)", routing_state: ["Seq Scan", "routing_state_pkey()"] },
  },
  {
    name: "find_matches",
    run: (db) => findEventMatches(db, projectId, matchFilter, 500),
    reads: matching,
  },
  { name: "count_matches", run: (db) => countEventMatches(db, projectId, matchFilter), reads: matching },
  {
    name: "lock_swept_events",
    run: (db) => sweepProjectEvents(db, projectId, { beforeMs: seededAt(5_000), rememberFromMs: seededAt(5_000) }, 100),
    reads: {
      events: "events_key(project_id, id)",
      deliveries: ["deliveries_event(project_id, event_id)"],
      replays: "replays_unfinished(project_id)",
      standing_backfills: "standing_backfills_unreached(project_id)",
      standing_arrivals: "standing_arrivals_key(project_id, due_at, event_id)",
      standing_run_events: "standing_run_events_key(event_id)",
      standing_runs: "standing_runs_pkey(id)",
    },
    isOrdered: true,
    rowsMax: { events: 200 },
  },
  {
    name: "sweep_events",
    run: (db) => sweepProjectEvents(db, projectId, { beforeMs: seededAt(5_000), rememberFromMs: seededAt(5_000) }, 100),
    reads: {
      events: "events_key(project_id, id)",
      deliveries: ["deliveries_event(project_id, event_id)"],
    },
  },
  {
    name: "visit_lanes",
    run: (db) => claimDeliveries(db, claimRequest(owner)),
    reads: {
      ...epochKey,
      // By the epoch alone: whether there is anything behind.
      delivery_tasks: [
        "delivery_tasks_lane(epoch, subscription_id)",
        "delivery_tasks_lane(epoch)",
        "delivery_tasks_waiting(due_at)",
      ],
      subscriptions: "subscriptions_pkey(id)",
    },
    rowsMax: { delivery_tasks: 260 },
  },
  {
    name: "promote_deliveries",
    run: (db) => promoteDeliveries(db, nowMs, 100),
    reads: { ...epochKey, delivery_tasks: ["delivery_tasks_waiting(due_at)", laneKey] },
    isOrdered: true,
    // Few of those that wait are due.
    rowsMax: { delivery_tasks: 220 },
  },
  {
    name: "read_delivery_epoch",
    run: (db) => readDeliveryEpoch(db),
    reads: epochKey,
  },
  {
    name: "claim_deliveries",
    run: (db) => claimDeliveries(db, claimRequest(owner)),
    reads: {
      ...epochKey,
      delivery_tasks: ["delivery_tasks_lane(epoch, subscription_id, due_at)", laneKey],
      subscriptions: "subscriptions_pkey(id)",
      events: "events_key(project_id, id)",
    },
    // A dead endpoint's backlog costs one hop.
    rowsMax: { delivery_tasks: 1_100 },
  },
  {
    name: "settle_deliveries",
    run: (db) => settleDeliveries(db, owner, settlements(1)),
    reads: {
      ...epochKey,
      delivery_tasks: laneKey,
      deliveries: "deliveries_pkey(id)",
      subscriptions: "subscriptions_pkey(id)",
    },
  },
  {
    name: "settle_deliveries",
    variant: "500 attempts",
    run: (db) => settleDeliveries(db, owner, settlements(500)),
    reads: {
      ...epochKey,
      delivery_tasks: laneKey,
      deliveries: "deliveries_pkey(id)",
      subscriptions: "subscriptions_pkey(id)",
    },
    // Planned for 500 values, a queue that is taken for small is merged with them as a whole.
    staleReads: { delivery_tasks: "delivery_tasks_lane()" },
  },
  {
    name: "measure_task_table",
    run: (db) => countDeadTasks(db, "delivery_tasks"),
    reads: {},
  },
  {
    name: "adopt_delivery_tasks",
    run: (db) => adoptDeliveryTasks(db),
    reads: { ...epochKey, delivery_tasks: "delivery_tasks_lane(epoch)" },
  },
  {
    name: "adopt_ended_deliveries",
    run: (db) => adoptDeliveryTasks(db),
    reads: {
      ...epochKey,
      delivery_tasks: ["delivery_tasks_lane(epoch)", "delivery_tasks_lane(epoch, subscription_id)"],
      subscriptions: "subscriptions_pkey(id)",
    },
  },
  {
    name: "count_epoch_tasks",
    run: advance,
    reads: { delivery_tasks: "delivery_tasks_lane(epoch)" },
  },
  {
    name: "advance_delivery_epoch",
    run: advance,
    reads: epochKey,
  },
  {
    name: "move_delivery_tasks",
    run: advance,
    reads: { delivery_tasks: "delivery_tasks_lane(epoch)" },
  },
  {
    name: "release_deliveries",
    run: (db) => releaseDeliveries(db, owner, tasks(50)),
    reads: { ...epochKey, delivery_tasks: laneKey },
  },
  {
    name: "enqueue_deliveries",
    run: (db) => {
      const queued = Array.from({ length: 100 }, (_, index) => {
        const eventId = seededId("evt", 5 * index + 1);
        return { id: seededId("dlv", 500_000 + index), eventId, subscriptionId: deadLane };
      });
      return enqueueDeliveries(db, { projectId, dueAtMs: nowMs, behind: false }, queued);
    },
    reads: { ...epochKey, events: "events_key(project_id, id)" },
  },
  {
    name: "expire_deliveries",
    run: (db) => expireDeliveries(db, deadLane, nowMs, 50),
    reads: {
      ...epochKey,
      delivery_tasks: ["delivery_tasks_lane(epoch, subscription_id)", laneKey],
      deliveries: "deliveries_pkey(id)",
      subscriptions: "subscriptions_pkey(id)",
    },
  },
  {
    name: "try_deliveries_now",
    run: (db) => tryDeliveriesNow(db, deadLane, { deliveryId: seededId("dlv", 100_001), nowMs }),
    reads: {
      ...epochKey,
      delivery_tasks: [
        "delivery_tasks_lane(epoch, subscription_id)",
        // The one delivery, for a given id.
        "delivery_tasks_lane(epoch, subscription_id, delivery_id)",
        laneKey,
      ],
      deliveries: "deliveries_pkey(id)",
      subscriptions: "subscriptions_pkey(id)",
    },
  },
  {
    name: "read_endpoint_times",
    run: (db) => readEndpointTimes(db, projectId, [deadLane, seededId("sub", 2)]),
    reads: {
      ...epochKey,
      delivery_tasks: "delivery_tasks_lane(epoch, subscription_id)",
      deliveries: [...deliveryKey, "deliveries_pkey(id)"],
    },
  },
  {
    name: "find_delivery_endpoints",
    run: (db) => findDeliveryEndpoints(db, projectId, [deadLane, seededId("sub", 2)]),
    reads: { subscriptions: "subscriptions_pkey(id)" },
  },
  {
    name: "count_delivery_tasks",
    run: (db) => countPendingDeliveries(db),
    reads: { ...epochKey, delivery_tasks: "delivery_tasks_lane(epoch)" },
  },
  {
    name: "read_event_deliveries",
    run: (db) => readEventDeliveries(db, projectId, [seededId("evt", 1), seededId("evt", 6)]),
    reads: { deliveries: "deliveries_event(project_id, event_id)" },
  },
  {
    name: "count_superseded_deliveries",
    run: (db) => {
      const dead = (n: number) => ({
        ...{ id: seededId("dlv", n), eventId: seededId("evt", n), subscriptionId: seededId("sub", 7) },
      });
      return countSuperseded(db, projectId, [dead(1), dead(6)]);
    },
    reads: { deliveries: "deliveries_event(project_id, event_id)" },
  },
  {
    name: "an event",
    run: (db) => eventsForProject(db, projectId).find(seededId("evt", 1)),
    reads: { events: "events_key(project_id, id)" },
  },
  {
    name: "a page of events",
    statistics: ["fresh"],
    run: (db) => eventsForProject(db, projectId).list(everyEvent, page),
    reads: { events: "events_key(project_id, id)" },
    isOrdered: true,
    rowsMax: { events: 51 },
  },
  {
    name: "a page of events of a trigger",
    statistics: ["fresh"],
    run: (db) => eventsForProject(db, projectId).list({ ...everyEvent, triggerSlug: "code_host.issue_3" }, page),
    reads: { events: "events_trigger(trigger_slug, project_id, id)" },
    isOrdered: true,
    rowsMax: { events: 51 },
  },
  {
    name: "list_toolkit_events",
    run: (db) => eventsForProject(db, projectId).list({ ...everyEvent, toolkitSlug: "code_host" }, page),
    reads: { events: ["events_trigger(trigger_slug)", "events_trigger(trigger_slug, project_id, id)"] },
    // A page of each of its seven triggers, and a hop to each.
    rowsMax: { events: 8 * 51 },
  },
  {
    name: "list_toolkit_events",
    variant: "none",
    run: (db) => eventsForProject(db, projectId).list({ ...everyEvent, toolkitSlug: "nobody" }, page),
    reads: { events: ["events_trigger(trigger_slug)", "events_trigger(trigger_slug, project_id, id)"] },
    rowsMax: { events: 0 },
  },
  {
    name: "a page of events of a time",
    statistics: ["fresh"],
    run: (db) =>
      eventsForProject(db, projectId).list({ ...everyEvent, sinceMs: seededAt(100), untilMs: seededAt(400) }, page),
    reads: { events: "events_key(project_id, id)" },
    isOrdered: true,
  },
  ...["walk_events", "end_event_walk"].map((name): Plan => {
    return {
      name,
      run: (db) => eventsForProject(db, projectId).walk({ ...sought, payloadContains: "nothing" }, page),
      reads: { events: "events_key(project_id, id)" },
      isOrdered: true,
      rowsMax: { events: 20_000 },
    };
  }),
  ...["walk_events_of_trigger", "end_event_walk_of_trigger"].map((name): Plan => {
    return {
      name,
      run: (db) => eventsForProject(db, projectId).walk({ ...sought, triggerSlug: "code_host.issue_3" }, page),
      reads: { events: "events_trigger(trigger_slug, project_id, id)" },
      isOrdered: true,
      rowsMax: { events: 20_000 },
    };
  }),
  ...["follow_events", "end_followed_events"].map((name): Plan => {
    return {
      name,
      run: (db) => followEvents(db, projectId, following),
      reads: { events: "events_trigger(trigger_slug, project_id, id)" },
      isOrdered: true,
      rowsMax: { events: 20_000 },
    };
  }),
  ...["list_delivery_lanes", "walk_deliveries", "end_delivery_walk"].map((name): Plan => {
    return {
      name,
      run: (db) => {
        const filter = { subscriptionId: undefined, state: "dead_letter", onlyFailed: true } as const;
        return deliveriesForProject(db, projectId).walk(filter, page);
      },
      reads: {
        deliveries: [...deliveryKey, ...(walkedBy[name] ?? [])],
      },
      rowsMax: { deliveries: 20_500 },
    };
  }),
  {
    name: "find_last_success",
    run: (db) => readSubscriptionProgress(db, projectId, deadLane),
    reads: { deliveries: deliveryKey },
    isOrdered: true,
    rowsMax: { deliveries: 20_000 },
  },
  {
    name: "count_subscription_deliveries",
    run: (db) => readSubscriptionProgress(db, projectId, deadLane),
    reads: { ...epochKey, delivery_tasks: "delivery_tasks_lane(epoch, subscription_id)" },
  },
  {
    name: "a delivery",
    run: (db) => deliveriesForProject(db, projectId).find(seededId("dlv", 1)),
    reads: { deliveries: "deliveries_pkey(id)" },
  },
  {
    name: "the attempts of a delivery",
    run: (db) => deliveriesForProject(db, projectId).findAttempts(seededId("dlv", 1)),
    reads: { deliveries: "deliveries_pkey(id)" },
  },
  {
    name: "a page of deliveries of an event",
    statistics: ["fresh"],
    run: (db) =>
      deliveriesForProject(db, projectId).list({ eventId: seededId("evt", 1), subscriptionId: undefined }, page),
    reads: { deliveries: "deliveries_event(project_id, event_id)" },
    isOrdered: true,
  },
  {
    name: "count_event_deliveries",
    run: (db) => {
      const page = Array.from({ length: 200 }, (_, n) => seededId("evt", n + 1));
      return countDeliveriesOfEvents(db, projectId, page);
    },
    reads: { deliveries: "deliveries_event(project_id, event_id)" },
    rowsMax: { deliveries: 200 * 41 },
  },
  {
    name: "a page of deliveries of a subscription",
    statistics: ["fresh"],
    run: (db) =>
      deliveriesForProject(db, projectId).list({ eventId: undefined, subscriptionId: seededId("sub", 7) }, page),
    reads: { deliveries: "deliveries_subscription(project_id, subscription_id)" },
    isOrdered: true,
  },
];

/** Subscriptions and their health. */
export const subscriptionPlans: readonly Plan[] = [
  {
    name: "end_subscriptions_of_key",
    run: (db) => endSubscriptionsOfKey(db, keyEnd),
    reads: {
      api_keys: "api_keys_pkey(id)",
      grants: "grants_project(project_id)",
      subscriptions: "subscriptions_key(key_id)",
    },
  },
  {
    name: "end_narrowed_subscriptions",
    run: (db) => endNarrowedSubscriptions(db, keyEnd, ["calendar"]),
    reads: { subscriptions: "subscriptions_key(key_id)" },
  },
  {
    name: "find_ended_subscriptions",
    run: (db) => findEndedSubscriptions(db, nowMs, 100),
    reads: { subscriptions: "subscriptions_expires(expires_at)" },
    isOrdered: true,
  },
  {
    name: "find_oldest_pending_event",
    run: (db) => findOldestPendingEvent(db, deadLane),
    reads: { ...epochKey, delivery_tasks: "delivery_tasks_lane(epoch, subscription_id)" },
  },
  {
    name: "find_last_delivery_error",
    run: (db) => findLastDeliveryError(db, projectId, deadLane),
    reads: { deliveries: deliveryKey },
    rowsMax: { deliveries: 1_000 },
  },
  {
    name: "read_project_routing",
    isSlow: true,
    run: (db) => readProjectRouting(db, [projectId, seededId("prj", 700)]),
    reads: {
      projects: "projects_pkey(id)",
      project_policies: "project_policies_pkey(project_id)",
      subscriptions: "subscriptions_project(project_id)",
      standing_listeners: "standing_listeners_trigger(project_id)",
    },
  },
  {
    name: "record_failures",
    run: (db) => {
      const report = { subscriptionId: deadLane, startedAtMs: nowMs, retryAfterMs: 0, goneCount: 0 };
      return reportSubscriptionFailures(db, [report], nowMs + 6 * day, limits);
    },
    reads: {
      subscriptions: "subscriptions_pkey(id)",
      deliveries: "deliveries_subscription(project_id, subscription_id)",
      projects: "projects_pkey(id)",
    },
  },
  {
    name: "record_recoveries",
    run: (db) => reportSubscriptionRecoveries(db, [deadLane]),
    reads: { subscriptions: "subscriptions_pkey(id)" },
  },
  {
    name: "a subscription",
    run: (db) => subscriptionsForProject(db, projectId).find(deadLane),
    reads: { subscriptions: ["subscriptions_pkey(id)", "subscriptions_project(project_id, id)"] },
  },
  {
    name: "a page of subscriptions",
    statistics: ["fresh"],
    run: (db) => subscriptionsForProject(db, projectId).list(page),
    reads: { subscriptions: "subscriptions_project(project_id)" },
    isOrdered: true,
  },
];
