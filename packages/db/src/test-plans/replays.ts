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
    statistics: ["fresh"],
    run: (db) => replaysForProject(db, projectId).list({ after: undefined, limit: 51 }),
    reads: { replays: "replays_project(project_id)" },
    isOrdered: true,
  },
];
