import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createId, uuidOfId } from "@svc/core";
import { sweepProjectEvents } from "@svc/db/events/sweep";
import { type Replay, ReplayState } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { refusalOf } from "@svc/testing/project-client";
import { startTestReceiver } from "@svc/testing/receiver";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { issuePost } from "../test-posts.ts";
import { replaySweep } from "./retention.ts";
import { createReplayWorld, type ReplayWorld } from "./test-replays.ts";

afterAll(dropTestDatabases);

test("acceptance 21: a replay queues every match once, oldest first and at its pace, and tells how far it is", async () => {
  await using world = await createReplayWorld();
  const { client, since } = world;
  await world.subscribe();
  await world.subscribe({ toolkitSlug: "payments" });
  await world.store(10);
  await world.subscribe();
  const expected = await client.replayEvents({ since, dryRun: true });
  const { total, counts, replay: none } = await client.startReplay({ since, dryRun: true });
  // A subscription that was created after the events gets them as well.
  expect([total, counts.map(({ count }) => count), none, expected.count]).toEqual([25, [10, 5, 10], undefined, 25]);

  const { replay } = await client.startReplay({ since, perSecond: 10 });
  expect(replay).toMatchObject({ state: ReplayState.RUNNING, total: 25, totalComplete: true, queued: 0, position: "" });
  const id = replay!.id;
  await until(() => world.node.replaySteps.length === 1);
  // A subscription that is created after the start of the replay gets nothing from it.
  world.cluster.clock.advance(1);
  await world.subscribe();
  expect((await client.getReplay({ id })).replay).toMatchObject({ queued: 10, perSecond: 10 });
  await world.tick();
  const { replay: half } = await client.getReplay({ id });
  expect(half).toMatchObject({ state: ReplayState.RUNNING, queued: 20, reason: "", waitsFor: "" });
  expect(half!.position).toMatch(/^evt_/);
  await world.tick();
  expect((await client.getReplay({ id })).replay).toMatchObject({ state: ReplayState.DONE, queued: 25, total: 25 });
  const pairs = await world.pairs();
  expect(pairs).toEqual([...pairs].sort());
  expect(new Set(pairs).size).toBe(25);
  expect(await world.cluster.count("delivery_tasks")).toBe(25);
  await world.node.standing.engine.stop();
  expect(await world.cluster.db.sql`select from due_tasks`).toHaveLength(0);
});

test("a replay says how many deliveries are still pending and arrive twice, before it begins and as it begins", async () => {
  await using world = await createReplayWorld();
  const { client, since, cluster } = world;
  await world.subscribe();
  await world.store(4);
  // Events with a pending delivery and events with a finished one: each is sent once more.
  await client.replayEvents({ since });
  await cluster.db.sql`update deliveries set state = 'delivered', next_attempt_at = null
    where id in (select id from deliveries order by id limit 1)`;
  const twice = [
    expect.stringMatching(/^3 of them arrive twice: deliveries of them are still pending; onlyUndelivered leaves/),
  ];
  expect(await client.startReplay({ since, dryRun: true })).toMatchObject({ total: 4, warnings: twice });
  expect((await client.startReplay({ since, dryRun: true, onlyUndelivered: true })).warnings).toEqual([]);
  expect((await client.startReplay({ since, toolkitSlug: "code_host", dryRun: true })).warnings.length).toBe(1);
  expect((await client.startReplay({ since })).warnings).toEqual(twice);
});

test("a replay of what is all delivered warns of nothing", async () => {
  await using world = await createReplayWorld();
  const { client, since, cluster } = world;
  await world.subscribe();
  await world.store(3);
  expect((await client.startReplay({ since, dryRun: true })).warnings).toEqual([]);
  await client.replayEvents({ since });
  await cluster.db.sql`update deliveries set state = 'delivered', next_attempt_at = null`;
  expect((await client.startReplay({ since })).warnings).toEqual([]);
});

test("a replay of what failed leaves out what was never queued, what waits and what was delivered since", async () => {
  await using world = await createReplayWorld();
  const { client, since, cluster } = world;
  await world.subscribe();
  await world.store(5);
  await client.replayEvents({ since, until: timestampFromMs(cluster.clock.now() - 1_500) });
  await cluster.db.sql`delete from delivery_tasks`;
  await cluster.db.sql`update deliveries set state = 'dead_letter', next_attempt_at = null, replayed = false`;
  const states = ["failed"];
  const count = async (filter: object) => (await client.startReplay({ since, dryRun: true, ...filter })).total;
  expect([await count({}), await count({ onlyUndelivered: true }), await count({ states })]).toEqual([5, 5, 4]);
  await cluster.db
    .sql`update deliveries set state = 'delivered' where id = (select id from deliveries order by id limit 1)`;
  expect(await count({ states })).toBe(3);
  const { replay } = await client.startReplay({ since, states });
  expect(replay).toMatchObject({ states, onlyUndelivered: true, total: 3 });
  await until(async () => (await client.getReplay({ id: replay!.id })).replay!.state === ReplayState.DONE);
  expect(await world.pairs()).toHaveLength(3);
  expect(await count({ states })).toBe(0);
  expect(await refusalOf(client.startReplay({ since, states: ["waiting"] }))).toMatchObject({
    reason: "DELIVERY_STATE_INVALID",
  });
});

test.each([
  [{}, 20],
  [{ toolkitSlug: "payments" }, 15],
  [{ triggerSlug: "code_host.happened" }, 5],
  [{ from: 3_000 }, 15],
  [{ from: 3_000, to: 5_000 }, 4],
  [{ only: true }, 10],
  [{ only: true, toolkitSlug: "code_host" }, 5],
  [{ onlyUndelivered: true }, 16],
] as const)("a replay with %j queues what ReplayEvents counts", async (given, count) => {
  await using world = await createReplayWorld();
  const { client, since, cluster } = world;
  const everything = await world.subscribe();
  await world.subscribe({ toolkitSlug: "payments" });
  const other = await world.subscribe({ toolkitSlug: "payments" });
  await world.store(10);
  const { from, to, only, ...filter } = given as { from?: number; to?: number; only?: true };
  const startMs = Number(since.seconds) * 1_000 + 3;
  if ("onlyUndelivered" in filter) {
    await client.replayEvents({ since, until: timestampFromMs(startMs + 2_001) });
    await cluster.db.sql`delete from delivery_tasks`;
    await cluster.db
      .sql`update deliveries set state = case when subscription_id = ${uuidOfId(other)}::uuid then 'dead_letter' else 'delivered' end, replayed = false`;
  }
  const request = {
    ...filter,
    since: from === undefined ? since : timestampFromMs(startMs + from),
    ...(to !== undefined && { until: timestampFromMs(startMs + to) }),
    ...(only && { subscriptionId: everything }),
  };
  const { count: expected } = await client.replayEvents({ ...request, dryRun: true });
  expect(expected).toBe(count);
  const { replay } = await client.startReplay({ ...request, perSecond: 5_000 });
  expect(replay?.total).toBe(count);
  await until(() => world.node.replaySteps.length === 1);
  expect((await client.getReplay({ id: replay!.id })).replay).toMatchObject({ state: ReplayState.DONE, queued: count });
  expect(new Set(await world.pairs()).size).toBe(count);
});

test("a replay is refused as ReplayEvents is, but for its size", async () => {
  await using world = await createReplayWorld({ isReplaying: false });
  const { client, since } = world;
  const refused = (request: object) => refusalOf(client.startReplay({ since, ...request }));
  const id = await world.subscribe();
  const invalid = (reason: string, field: string) => ({ code: "InvalidArgument", reason, field });
  expect(await refusalOf(client.startReplay({}))).toEqual(invalid("FILTER_REQUIRED", "since"));
  expect(await refused({ perSecond: 5_001 })).toEqual(invalid("REPLAY_RATE_INVALID", "perSecond"));
  expect(await refused({ perSecond: -1 })).toEqual(invalid("REPLAY_RATE_INVALID", "perSecond"));
  expect(await refused({ until: timestampFromMs(0) })).toEqual(invalid("TIME_RANGE_INVALID", "since"));
  expect(await refused({ triggerSlug: "bare" })).toEqual(invalid("TRIGGER_WITHOUT_TOOLKIT", "triggerSlug"));
  expect(await refused({ toolkitSlug: "nobody" })).toMatchObject({ reason: "TOOLKIT_NOT_FOUND" });
  expect(await refused({ subscriptionId: createId("sub", 0) })).toMatchObject({ reason: "SUBSCRIPTION_NOT_FOUND" });
  expect(await refused({ subscriptionId: "x" })).toEqual(invalid("ID_MALFORMED", "subscriptionId"));
  await client.updateSubscription({ id, active: false });
  expect(await refused({ subscriptionId: id })).toMatchObject({ reason: "SUBSCRIPTION_INACTIVE" });
  expect((await client.listReplays({})).replays).toEqual([]);
});

test("one replay a subscription, and ten a project; two that start at once are one", async () => {
  await using world = await createReplayWorld({ isReplaying: false });
  const { client, since } = world;
  const ids: string[] = [];
  for (let count = 0; count < 11; count++) ids.push(await world.subscribe());
  const start = (subscriptionId = "") => client.startReplay({ since, subscriptionId });
  const running = { code: "FailedPrecondition", reason: "REPLAY_RUNNING", field: "subscriptionId" };
  const twins = await Promise.allSettled([start(ids[0]), start(ids[0])]);
  expect(twins.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await refusalOf(start(ids[0]))).toEqual(running);
  expect(await refusalOf(start())).toEqual(running);
  for (const id of ids.slice(1, 10)) await start(id);
  expect(await refusalOf(start(ids[10]))).toMatchObject({ code: "ResourceExhausted", reason: "REPLAYS_TOO_MANY" });
  const { replays } = await client.listReplays({});
  expect(replays).toHaveLength(10);
  for (const { id } of replays) await client.cancelReplay({ id });
  const { replay } = await start();
  expect(await refusalOf(start(ids[10]))).toEqual(running);
  expect((await client.listReplays({ pageSize: 1 })).replays[0]?.id).toBe(replay?.id);
});

test("replays are paged newest first, and those of another project read as missing", async () => {
  await using world = await createReplayWorld({ isReplaying: false });
  const { client, since, cluster, node } = world;
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) {
    const { replay } = await client.startReplay({ since });
    ids.unshift(replay!.id);
    await client.cancelReplay({ id: replay!.id });
    cluster.clock.advance(1);
  }
  const first = await client.listReplays({ pageSize: 2 });
  const second = await client.listReplays({ pageSize: 2, pageToken: first.nextPageToken });
  const third = await client.listReplays({ pageSize: 2, pageToken: second.nextPageToken });
  expect([first, second, third].map((page) => page.replays.map(({ id }) => id))).toEqual([
    ids.slice(0, 2),
    ids.slice(2, 4),
    ids.slice(4),
  ]);
  expect(third.nextPageToken).toBe("");
  const stranger = node.client(await cluster.project());
  expect((await stranger.listReplays({})).replays).toEqual([]);
  const missing = { code: "NotFound", reason: "REPLAY_NOT_FOUND", field: "id" };
  const malformed = { code: "InvalidArgument", reason: "ID_MALFORMED", field: "id" };
  for (const [id, refusal] of [
    [ids[0]!, missing],
    [createId("rpl", 0), missing],
    ["rpl_1", malformed],
  ] as const) {
    expect(await refusalOf(stranger.getReplay({ id }))).toEqual(refusal);
    expect(await refusalOf(stranger.updateReplay({ id, paused: true }))).toEqual(refusal);
    expect(await refusalOf(stranger.cancelReplay({ id }))).toEqual(refusal);
  }
});

test("acceptance 21: it is paused, goes on at another pace and is cancelled, each from the next step", async () => {
  await using world = await createReplayWorld();
  const { client, since, cluster } = world;
  await world.subscribe();
  await world.store(60);
  const id = (await client.startReplay({ since, perSecond: 10 })).replay!.id;
  const queued = async () => (await client.getReplay({ id })).replay!.queued;
  await until(() => world.node.replaySteps.length === 1);
  expect((await client.updateReplay({ id, paused: true })).replay).toMatchObject({ state: ReplayState.PAUSED });
  for (let count = 0; count < 5; count++) {
    cluster.clock.advance(1_000);
    world.node.standing.engine.wake();
  }
  // After a pause, the replay does not catch up.
  expect(await queued()).toBe(10);
  const resumed = await client.updateReplay({ id, paused: false, perSecond: 20 });
  expect(resumed.replay).toMatchObject({ state: ReplayState.RUNNING, perSecond: 20 });
  await until(() => world.node.replaySteps.length === 2);
  expect(await queued()).toBe(30);
  expect(await refusalOf(client.updateReplay({ id, perSecond: 0 }))).toMatchObject({ reason: "REPLAY_RATE_INVALID" });
  const cancelled = (await client.cancelReplay({ id })).replay;
  expect(cancelled).toMatchObject({ state: ReplayState.CANCELLED, reason: "requested", queued: 30 });
  expect((await client.cancelReplay({ id })).replay).toEqual(cancelled);
  expect((await client.updateReplay({ id, paused: false })).replay).toEqual(cancelled);
  for (let count = 0; count < 3; count++) {
    cluster.clock.advance(1_000);
    world.node.standing.engine.wake();
  }
  await world.node.standing.engine.stop();
  expect([await queued(), (await world.pairs()).length]).toEqual([30, 30]);
});

test("acceptance 21: it waits for an endpoint that fails, probes it, and goes on where it is well again", async () => {
  await using world = await createReplayWorld();
  const { client, since, cluster } = world;
  const waitsFor = await world.subscribe();
  await world.store(60);
  const nowMs = cluster.clock.now();
  const fail = (untilMs: number) =>
    cluster.db
      .sql`update subscriptions set failing_since = now(), backoff_ms = 1000, backoff_until = ${new Date(untilMs).toISOString()}::timestamptz`;
  await fail(nowMs + 2_500);
  const id = (await client.startReplay({ since, perSecond: 10 })).replay!.id;
  const state = async () => {
    const { replay } = await client.getReplay({ id });
    return [replay!.queued, replay!.reason, replay!.waitsFor];
  };
  await until(() => world.node.replaySteps.length === 1);
  expect(await state()).toEqual([0, "backoff", waitsFor]);
  cluster.clock.advance(1_500);
  await world.tick();
  expect(await state()).toEqual([1, "backoff", waitsFor]);
  await world.tick(2);
  expect(await state()).toEqual([1, "backoff", waitsFor]);
  await cluster.db.sql`update subscriptions set failing_since = null, backoff_until = null`;
  await world.tick();
  expect(await state()).toEqual([11, "", ""]);
});

test("it never has more than 10 seconds' worth of a subscription pending", async () => {
  await using world = await createReplayWorld();
  const { client, since, cluster } = world;
  const waitsFor = await world.subscribe();
  await world.store(60);
  const id = (await client.startReplay({ since, perSecond: 2 })).replay!.id;
  await until(() => world.node.replaySteps.length === 1);
  await world.tick(12);
  const { replay } = await client.getReplay({ id });
  expect(replay).toMatchObject({ queued: 20, reason: "pending", waitsFor });
  await cluster.db
    .sql`delete from delivery_tasks where delivery_id in (select delivery_id from delivery_tasks limit 3)`;
  await world.tick(3);
  expect((await client.getReplay({ id })).replay).toMatchObject({ queued: 23, reason: "pending" });
});

test("it waits while its only subscription is inactive, and ends when that is deleted", async () => {
  await using world = await createReplayWorld();
  const { client, since, cluster } = world;
  const subscriptionId = await world.subscribe();
  await world.store(30);
  const id = (await client.startReplay({ since, subscriptionId, perSecond: 5 })).replay!.id;
  await until(() => world.node.replaySteps.length === 1);
  await client.updateSubscription({ id: subscriptionId, active: false });
  await world.tick();
  const inactive = { queued: 5, reason: "inactive", waitsFor: subscriptionId, state: ReplayState.RUNNING };
  expect((await client.getReplay({ id })).replay).toMatchObject(inactive);
  await client.updateSubscription({ id: subscriptionId, active: true });
  cluster.clock.advance(4_000);
  await world.tick();
  expect((await client.getReplay({ id })).replay!.queued).toBeGreaterThan(5);
  await client.deleteSubscription({ id: subscriptionId });
  await world.tick();
  const deleted = { state: ReplayState.CANCELLED, reason: "deleted" };
  expect((await client.getReplay({ id })).replay).toMatchObject(deleted);
});

test("what it has yet to reach outlives its retention, and goes afterwards", async () => {
  await using world = await createReplayWorld();
  const { client, since, cluster, projectId } = world;
  await world.subscribe();
  await world.store(30);
  const id = (await client.startReplay({ since, perSecond: 10 })).replay!.id;
  await until(() => world.node.replaySteps.length === 1);
  await cluster.db.sql`delete from delivery_tasks`;
  await cluster.db.sql`update deliveries set state = 'delivered'`;
  const retention = { beforeMs: cluster.clock.now() + 86_400_000, rememberFromMs: cluster.clock.now() + 86_400_000 };
  expect((await sweepProjectEvents(cluster.db, projectId, retention, { limit: 100 })).count).toBe(9);
  await world.tick(2);
  expect((await client.getReplay({ id })).replay).toMatchObject({ state: ReplayState.RUNNING, queued: 30 });
  await world.tick();
  expect((await client.getReplay({ id })).replay).toMatchObject({ state: ReplayState.DONE, queued: 30, total: 30 });
  await cluster.db.sql`delete from delivery_tasks`;
  await cluster.db.sql`update deliveries set state = 'delivered'`;
  expect((await sweepProjectEvents(cluster.db, projectId, retention, { limit: 100 })).count).toBe(21);
});

test("what it queues stands behind what is live, and is sent where nothing live waits", async () => {
  await using receiver = await startTestReceiver();
  await using world = await createReplayWorld({ isStarted: true, limits: { endpointConcurrency: 4 } });
  const { client, since } = world;
  await world.subscribe({ endpointUrl: receiver.url });
  await world.store(30);
  receiver.hold();
  await client.startReplay({ since, perSecond: 30 });
  await until(() => world.node.replaySteps.length === 1);
  // The deliveries are due one after another during the second.
  world.cluster.clock.advance(1_000);
  world.node.dispatcher.wake();
  await until(() => receiver.requests.length === 3);
  // Replayed deliveries get at most three of four turns, so the live delivery is sent next.
  await world.node.ingest.accept(issuePost({ title: "live" }));
  await until(() => receiver.requests.length === 4);
  expect(receiver.requests[3]!.body.toString()).toContain("live");
  receiver.release();
  await until(() => receiver.requests.length === 31);
  expect(receiver.inFlightMax()).toBe(4);
});

test("steps that fail before or after their commit, on any node, queue every pair once", async () => {
  let fails = 0;
  const onReplayFaultPoint = () => {
    if (++fails % 3 !== 0) throw new Error("the node is gone");
  };
  await using world = await createReplayWorld({ onReplayFaultPoint });
  const { client, since, cluster } = world;
  await world.subscribe();
  await world.subscribe({ toolkitSlug: "payments" });
  await world.store(40);
  const id = (await client.startReplay({ since, perSecond: 7 })).replay!.id;
  await untilMoved(async () => {
    cluster.clock.advance(1_000);
    world.node.standing.engine.wake();
    return (await client.getReplay({ id })).replay!.state === ReplayState.DONE;
  });
  const pairs = await world.pairs();
  expect([pairs.length, new Set(pairs).size]).toEqual([60, 60]);
  expect((await client.getReplay({ id })).replay).toMatchObject({ queued: 60, total: 60 });
  expect(fails).toBeGreaterThan(9);
});

/** Moves the clock until the project's newest replay satisfies the condition. */
async function driveReplay({ client, cluster, node }: ReplayWorld, isThere: (replay: Replay) => boolean) {
  await untilMoved(async () => {
    cluster.clock.advance(1_000);
    node.standing.engine.wake();
    const [replay] = (await client.listReplays({})).replays;
    return replay !== undefined && isThere(replay);
  });
}

test("a pause loses nothing: over racing posts, failing steps and a second pause, each event is queued once", async () => {
  let fails = 0;
  const onReplayFaultPoint = () => {
    if (++fails % 5 === 0) throw new Error("the node is gone");
  };
  await using world = await createReplayWorld({ onReplayFaultPoint });
  const { client, cluster, projectId } = world;
  const { db, clock } = cluster;
  const id = await world.subscribe();
  const pause = (paused: boolean) => client.updateSubscription({ id, paused });
  let posts = 0;
  const accept = (count: number) =>
    Promise.all(Array.from({ length: count }, () => world.node.ingest.accept(issuePost({ delivery: `d${++posts}` }))));
  const counts = async () => {
    const [row] = await db.sql<{ events: number; deliveries: number; pairs: number; tasks: number; parked: number }[]>`
      select (select count(*)::int4 from events) as events, count(*)::int4 as deliveries, count(distinct d.event_id)::int4 as pairs,
        count(t.delivery_id)::int4 as tasks, count(*) filter (where t.epoch = 0 and t.due_at = 'infinity')::int4 as parked
      from deliveries d left join delivery_tasks t on t.delivery_id = d.id where d.state = 'pending'`;
    return row!;
  };

  await accept(50);
  const [{ subscription }] = await Promise.all([pause(true), accept(100)]);
  expect(subscription).toMatchObject({
    ...{ active: false, inactiveReason: "paused", pausedAt: timestampFromMs(clock.now()) },
    health: { state: "inactive", reason: "nothing is delivered: paused" },
  });
  expect((await pause(true)).subscription).toEqual(subscription);
  await world.store(2_000);
  const before = await counts();
  expect([before.tasks, before.parked]).toEqual([before.deliveries, before.deliveries]);
  expect(before.deliveries).toBeGreaterThanOrEqual(50);
  // The events that the subscription has missed are kept beyond their retention.
  const retention = { beforeMs: clock.now() + 1, rememberFromMs: clock.now() + 1 };
  expect((await sweepProjectEvents(db, projectId, retention, { limit: 10_000 })).count).toBe(0);

  const [{ subscription: resumed }] = await Promise.all([pause(false), accept(100)]);
  expect(resumed).toMatchObject({ active: true, inactiveReason: "" });
  expect(resumed?.pausedAt).toBeUndefined();
  await driveReplay(world, ({ queued }) => queued >= 500);
  await pause(true);
  await accept(50);
  expect(await counts()).toMatchObject({ parked: (await counts()).deliveries });
  await pause(false);
  await accept(10);
  await driveReplay(world, ({ state }) => state === ReplayState.DONE);
  const all = 2_310;
  expect(await counts()).toEqual({ events: all, deliveries: all, pairs: all, tasks: all, parked: 0 });
  expect((await client.listReplays({})).replays).toHaveLength(1);
  expect(fails).toBeGreaterThan(50);
});

/** Number of events that a paused endpoint misses: 100,000 in `npm run test:crash`, which has 10 rounds. */
const missed = 10_000 * Number(process.env["SVC_CRASH_ROUNDS"] ?? 0.1);

test("all events of a pause arrive after it, each once, and none is dead", {
  timeout: missed * 30 + 60_000,
}, async () => {
  await using receiver = await startTestReceiver();
  await using world = await createReplayWorld({ isStarted: true });
  const { client, cluster, node } = world;
  const id = await world.subscribe({ endpointUrl: receiver.url });
  await client.updateSubscription({ id, paused: true });
  // One statement has a time limit, so many events are stored in parts.
  for (let left = missed; left > 0; left -= 5_000) await world.store(Math.min(left, 5_000));
  await client.updateSubscription({ id, paused: false });
  let at = performance.now();
  let analyzedAt = 0;
  const isDone = async () => {
    // PostgreSQL plans a statement for an empty table until it has analyzed the table. Autovacuum does so within a minute, but is off in tests.
    if (receiver.requests.length > 10 * analyzedAt + 500) {
      analyzedAt = receiver.requests.length;
      await cluster.db.sql`analyze deliveries, delivery_tasks`;
    }
    // The clock goes as fast as real time, so that no lease of a delivery in flight ends.
    const now = performance.now();
    cluster.clock.advance(Math.floor(now - at));
    at += Math.floor(now - at);
    node.standing.engine.wake();
    if (receiver.requests.length < missed) return false;
    const [replay] = (await client.listReplays({})).replays;
    return replay?.state === ReplayState.DONE && (await cluster.count("delivery_tasks")) === 0;
  };
  await untilMoved(isDone, "every delivery", missed * 30 + 30_000);
  const ids = receiver.requests.map(({ body }) => JSON.parse(body.toString("utf8")).id);
  expect([ids.length, new Set(ids).size]).toEqual([missed, missed]);
  const [counts] = await cluster.db.sql`
    select count(*)::int4 as deliveries, count(distinct event_id)::int4 as events,
      count(*) filter (where state = 'delivered')::int4 as delivered from deliveries`;
  expect(counts).toEqual({ deliveries: missed, events: missed, delivered: missed });
});

test("a receiver gets nothing during a pause, then what waited and what it missed; dead deliveries are not repeated", async () => {
  await using receiver = await startTestReceiver();
  await using world = await createReplayWorld({ isStarted: true });
  const { client, cluster } = world;
  const id = await world.subscribe({ endpointUrl: receiver.url });
  const accept = (delivery: string) => world.node.ingest.accept(issuePost({ delivery }));
  await accept("dead");
  await accept("live");
  await until(async () => receiver.requests.length === 2 && (await cluster.count("delivery_tasks")) === 0);
  await cluster.db
    .sql`update deliveries set state = 'dead_letter' where id in (select id from deliveries order by id limit 1)`;
  await client.updateSubscription({ id, paused: true });
  await accept("missed");
  expect((await client.listDeliveries({ subscriptionId: id })).deliveries).toHaveLength(2);
  await client.updateSubscription({ id, active: true });
  await driveReplay(world, ({ state }) => state === ReplayState.DONE);
  await untilMoved(() => {
    cluster.clock.advance(1_000);
    return receiver.requests.length === 3;
  });
  const { deliveries } = await client.listDeliveries({ subscriptionId: id });
  expect(deliveries.map(({ replayed }) => replayed)).toEqual([true, false, false]);
});

test("a pause ends with what was kept if the subscription is deactivated, deleted or paused for 30 days", async () => {
  await using world = await createReplayWorld();
  const { client, cluster } = world;
  const [off, gone, old] = [await world.subscribe(), await world.subscribe(), await world.subscribe()];
  await world.node.ingest.accept(issuePost());
  for (const id of [off, gone, old]) {
    cluster.clock.advance(1);
    await client.updateSubscription({ id, paused: true });
  }
  const replays = async () => (await client.listReplays({})).replays;
  const [last] = await replays();
  expect(last).toMatchObject({ state: ReplayState.PAUSED, subscriptionId: old, perSecond: 500 });
  expect(last?.until).toBeUndefined();
  const refused = { code: "FailedPrecondition", reason: "REPLAY_OF_PAUSE", field: "id" };
  expect(await refusalOf(client.updateReplay({ id: last!.id, paused: false }))).toEqual(refused);
  expect(await refusalOf(client.cancelReplay({ id: last!.id }))).toEqual(refused);

  await client.updateSubscription({ id: off, active: false });
  await client.deleteSubscription({ id: gone });
  expect(await refusalOf(client.updateSubscription({ id: off, paused: true }))).toEqual({
    ...{ code: "FailedPrecondition", reason: "SUBSCRIPTION_INACTIVE", field: "paused" },
  });
  const sweep = replaySweep({ db: cluster.db, eventRetentionMs: 90 * 86_400_000 });
  const sweepAt = async (days: number) => {
    for await (const _ of sweep.round(cluster.clock.now() + days * 86_400_000));
    return (await client.getSubscription({ id: old })).subscription?.inactiveReason;
  };
  expect(await sweepAt(29)).toBe("paused");
  expect(await sweepAt(31)).toBe("deactivated");
  expect((await replays()).map(({ state, reason }) => [state, reason])).toEqual([
    [ReplayState.CANCELLED, "expired"],
    [ReplayState.CANCELLED, "deleted"],
    [ReplayState.CANCELLED, "requested"],
  ]);
  const { deliveries } = await client.listDeliveries({ since: world.since, state: "dead_letter" });
  expect(deliveries).toHaveLength(3);
  expect(await cluster.count("delivery_tasks")).toBe(0);
});

test("a subscription that was resumed gets back what waited, also if its replay is paused for 30 days", async () => {
  await using world = await createReplayWorld();
  const { client, cluster } = world;
  const id = await world.subscribe();
  await world.node.ingest.accept(issuePost());
  await client.updateSubscription({ id, paused: true });
  const parked = async () => {
    const [row] = await cluster.db.sql`select count(*)::int4 as count from delivery_tasks where due_at = 'infinity'`;
    return row?.["count"];
  };
  const sweep = replaySweep({ db: cluster.db, eventRetentionMs: 90 * 86_400_000 });
  await client.updateSubscription({ id, paused: false });
  const [replay] = (await client.listReplays({})).replays;
  await client.updateReplay({ id: replay!.id, paused: true });
  // Parks a delivery as the engine does with one that ends late.
  await cluster.db
    .sql`update delivery_tasks set epoch = 0, due_at = 'infinity', lease_owner = null, lease_until = null`;
  for await (const _ of sweep.round(cluster.clock.now() + 31 * 86_400_000));
  expect((await client.getReplay({ id: replay!.id })).replay).toMatchObject({ reason: "expired" });
  expect((await client.getSubscription({ id })).subscription).toMatchObject({ active: true });
  expect([await parked(), await cluster.count("delivery_tasks")]).toEqual([0, 1]);
});
