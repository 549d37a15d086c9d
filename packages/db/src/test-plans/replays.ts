import type { Executor } from "../connect.ts";
import { countReplayMatches, findReplayMatches } from "../replays/match.ts";
import { firstEventAt, type NewReplay, replaysForProject } from "../replays/repo.ts";
import { lockReplay, moveReplay, type ReplayMove, readReplayedSubscriptions } from "../replays/step.ts";
import { armLostReplays, expirePausedReplays, sweepReplays } from "../replays/sweep.ts";
import { nowMs } from "../test-rows.ts";
import type { Plan } from "./plan.ts";
import { seededAt, seededId } from "./seed.ts";

const projectId = seededId("prj", 1);
const id = seededId("rpl", 1);
const position = { eventId: seededId("evt", 5_001), subscriptionId: seededId("sub", 7) };
const filter = {
  ...{ projectId, toolkitSlug: "", triggerSlug: "", subscriptionId: null, onlyUndelivered: true },
  until: seededAt(20_000),
  createdAt: nowMs,
};
const started: NewReplay = {
  ...filter,
  ...{
    id: seededId("rpl", 500_000),
    since: seededAt(10),
    perSecond: 50,
    total: 0,
    uncountedFromId: null,
    pacedAt: nowMs,
  },
};
const moved: ReplayMove = {
  ...{ id, state: "running", reason: "", waitsForId: null, total: 1, uncountedFromId: null, queued: 1 },
  ...{ positionEventId: position.eventId, positionSubscriptionId: position.subscriptionId },
  ...{ pacedAt: nowMs, updatedAt: nowMs, endedAt: null },
};
const matching = {
  events: "events_key(project_id, id)",
  subscriptions: "subscriptions_project(project_id)",
  deliveries: ["deliveries_event(project_id, event_id)"],
};

const byId = ["replays_pkey(id)", "replays_project(project_id, id)"];

/** Starts a replay of a project that has none. */
function start(db: Executor) {
  return replaysForProject(db, seededId("prj", 5_000)).start(started, 10);
}

/** Ends a replay that is under way. */
function cancel(db: Executor) {
  return replaysForProject(db, projectId).change(id, () => ({ state: "cancelled", endedAt: nowMs, updatedAt: nowMs }));
}

/** Paced replays. */
export const replayPlans: readonly Plan[] = [
  {
    name: "find_replay_matches",
    run: (db) => findReplayMatches(db, filter, position, { limit: 50, events: 100 }),
    reads: matching,
    // However many events there are: a walk is bounded, and the fewer the more subscriptions they are compared with.
    rowsMax: { events: 5_000 },
  },
  {
    name: "count_replay_matches",
    isSlow: true,
    run: (db) => countReplayMatches(db, filter, firstEventAt(seededAt(10_000))),
    reads: matching,
  },
  { name: "lock_replay", run: (db) => lockReplay(db, id), reads: { replays: "replays_pkey(id)" } },
  { name: "move_replay", run: (db) => moveReplay(db, moved), reads: { replays: "replays_pkey(id)" } },
  {
    name: "read_replayed_subscriptions",
    run: (db) => readReplayedSubscriptions(db, [seededId("sub", 2), seededId("sub", 3)], 500),
    reads: {
      subscriptions: "subscriptions_pkey(id)",
      delivery_epoch: "delivery_epoch_pkey(id)",
      delivery_tasks: "delivery_tasks_lane(epoch, subscription_id)",
    },
  },
  { name: "lock_replay_starts", run: (db) => replaysForProject(db, projectId).start(started, 10), reads: {} },
  {
    name: "the replays of a project that have not ended",
    words: `select "id", "subscription_id"`,
    run: (db) => replaysForProject(db, projectId).start(started, 10),
    reads: { replays: "replays_unfinished(project_id)" },
  },
  { name: "start a replay", words: `insert into "replays"`, run: start, reads: {} },
  { name: "a replay", run: (db) => replaysForProject(db, projectId).find(id), reads: { replays: byId } },
  { name: "a replay that is to be changed", words: "for no key update", run: cancel, reads: { replays: byId } },
  { name: "change a replay", words: `update "replays"`, run: cancel, reads: { replays: byId } },
  {
    name: "sweep_replays",
    run: (db) => sweepReplays(db, seededAt(10), 100),
    reads: { replays: ["replays_ended(ended_at)", "replays_pkey(id)"] },
  },
  {
    name: "expire_paused_replays",
    run: (db) => expirePausedReplays(db, { beforeMs: seededAt(10), nowMs, limit: 100 }),
    reads: { replays: ["replays_unfinished()", "replays_pkey(id)"] },
  },
  {
    name: "arm_lost_replays",
    run: (db) => armLostReplays(db, nowMs, 100),
    reads: { replays: "replays_unfinished()", due_tasks: "due_tasks_key(owner_id, kind, subject)" },
  },
  {
    name: "a page of replays",
    run: (db) => replaysForProject(db, projectId).list({ after: undefined, limit: 51 }),
    reads: { replays: "replays_project(project_id, id)" },
    isOrdered: true,
  },
  {
    name: "the next page of replays",
    run: (db) => replaysForProject(db, projectId).list({ after: seededId("rpl", 5_001), limit: 51 }),
    reads: { replays: "replays_project(project_id, id)" },
    isOrdered: true,
  },
];
