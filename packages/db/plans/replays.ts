import type { Executor } from "../src/connect.ts";
import { countReplayMatches, findReplayMatches } from "../src/replays/match.ts";
import { closePause, endPause, expirePauses, openPause } from "../src/replays/pause.ts";
import { firstEventAt, type NewReplay, replaysForProject } from "../src/replays/repo.ts";
import { lockReplay, moveReplay, type ReplayMove, readReplayedSubscriptions } from "../src/replays/step.ts";
import { armLostReplays, expirePausedReplays, sweepReplays } from "../src/replays/sweep.ts";
import { nowMs } from "../src/test-rows.ts";
import { plan } from "./planner/plan.ts";
import { seededAt, seededId } from "./planner/seed.ts";

const projectId = seededId("prj", 1);
const id = seededId("rpl", 1);
const position = { eventId: seededId("evt", 5_001), subscriptionId: seededId("sub", 7) };
const filter = {
  ...{ projectId, toolkitSlug: "", triggerSlug: "", subscriptionId: null, onlyUndelivered: true, onlyFailed: false },
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
    origin: "",
  },
};
const limits = { ofProject: 10, ofCustomers: 100 };

/** The new state of a replay after one of its steps, for recorded query plans. The step has queued one delivery. */
const moved: ReplayMove = {
  ...{ id, state: "running", reason: "", waitsForId: null, total: 1, uncountedFromId: null, queued: 1 },
  ...{ positionEventId: position.eventId, positionSubscriptionId: position.subscriptionId },
  ...{ pacedAt: nowMs, updatedAt: nowMs, endedAt: null },
};

function start(db: Executor) {
  return replaysForProject(db, seededId("prj", 5_000)).start(started, limits);
}

/**
 * Starts a replay to an endpoint of a customer, as in the portal, so that the query plans of the statements are recorded. The start first
 * checks that this customer has no other unfinished replay.
 */
function startInPortal(db: Executor) {
  const ofCustomer: NewReplay = { ...started, subscriptionId: seededId("sub", 7), origin: "portal" };
  return replaysForProject(db, seededId("prj", 5_000)).start(ofCustomer, limits);
}

/** Cancels the running replay `id`, so that the query plans of the statements are recorded. */
function cancel(db: Executor) {
  return replaysForProject(db, projectId).change(id, () => ({ state: "cancelled", endedAt: nowMs, updatedAt: nowMs }));
}

const paused = { id: seededId("sub", 7), projectId, createdAt: seededAt(1), pausedReplayId: id };

// Recorded query plans of statements on throttled replays.
plan("open the replay of a pause", async (db) => {
  const freshId = seededId("rpl", 500_001);
  await openPause(db, { ...paused, pausedReplayId: null }, { nowMs, freshId, origin: "portal" });
  await openPause(db, { ...paused, pausedReplayId: freshId }, { nowMs, freshId: id, origin: "" });
});
plan("close the replay of a pause", (db) => closePause(db, paused, nowMs));
plan("end the replay of a pause", (db) => endPause(db, paused, { nowMs, reason: "deleted" }));
plan("end pauses that are too old", async (db) => {
  const old = { nowMs: seededAt(1), freshId: seededId("rpl", 500_002), origin: "" } as const;
  await openPause(db, { ...paused, pausedReplayId: null }, old);
  await expirePauses(db, { beforeMs: seededAt(10), nowMs, limit: 100 });
});
plan("find_replay_matches", (db) => findReplayMatches(db, filter, position, { limit: 50, events: 100 }), {
  // The maximum does not grow with the number of events: each scan is bounded, and reads fewer events if there are more subscriptions.
  rowsMax: { events: 5_000 },
});
plan("count_replay_matches", (db) => countReplayMatches(db, filter, firstEventAt(seededAt(10_000))), {
  isSlow: true,
});
plan("lock_replay", (db) => lockReplay(db, id));
plan("move_replay", (db) => moveReplay(db, moved));
plan("read_replayed_subscriptions", (db) =>
  readReplayedSubscriptions(db, [seededId("sub", 2), seededId("sub", 3)], 500),
);
plan(["lock_replay_starts", "the replays of a project that have not ended"], (db) =>
  replaysForProject(db, projectId).start(started, limits),
);
plan("start a replay", start);
plan("the customers of replays", startInPortal);
plan("a replay", (db) => replaysForProject(db, projectId).find(id));
plan("change a replay", cancel);
plan("sweep_replays", (db) => sweepReplays(db, seededAt(10), 100));
plan("expire_paused_replays", (db) => expirePausedReplays(db, { beforeMs: seededAt(10), nowMs, limit: 100 }));
plan("arm_lost_replays", (db) => armLostReplays(db, nowMs, 100));
plan("a page of replays", (db) => replaysForProject(db, projectId).list({ after: undefined, limit: 51 }));
plan("a page of replays to some subscriptions", (db) =>
  replaysForProject(db, projectId).list({ after: undefined, limit: 51 }, [seededId("sub", 2), seededId("sub", 3)]),
);
plan("the next page of replays", (db) =>
  replaysForProject(db, projectId).list({ after: seededId("rpl", 5_001), limit: 51 }),
);
