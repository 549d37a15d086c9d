import { createId, firstUuidAt, idOfUuid, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { findAccountReferences, putAccountReferences } from "../account-references/repo.ts";
import { readPendingBacklog } from "../activity/backlog.ts";
import { withTransaction } from "../connect.ts";
import { releaseAccountReferences } from "../connections/references.ts";
import { isUniqueViolation } from "../driver.ts";
import { countEventMatches, type EventMatch, type EventMatchFilter, findEventMatches } from "../events/follow.ts";
import { occurrenceOf } from "../events/operational.ts";
import { recordEvents } from "../events/record.ts";
import { readDeploymentRouting } from "../projects/repo.ts";
import { queuedSubscriptions, usageOfProject } from "../projects/usage.ts";
import { countReplayMatches, findReplayMatches, type ReplayFilter } from "../replays/match.ts";
import { addProject, addSubscription, eventOf, fillQueue, newEvent, nowMs } from "../test-rows.ts";
import { writeResealed } from "../vault/reseal.ts";
import { reportSubscriptionFailures, reportSubscriptionOverflows } from "./health.ts";
import { type SubscriptionChange, subscriptionsForProject } from "./repo.ts";
import { readEntityRouting, readProjectRouting } from "./routing.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(
  () => db.sql`truncate events, deliveries, delivery_tasks, account_references, subscriptions, projects cascade`,
);

const everything: EventMatchFilter = {
  fromUuid: firstUuidAt(0),
  toUuid: firstUuidAt(nowMs + 1),
  toolkitSlug: "",
  triggerSlug: "",
  subscriptionId: undefined,
  onlyUndelivered: false,
};

test("a project's routing is its active subscriptions, at a version that every change of them moves", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const read = async () => (await readProjectRouting(db, [projectId])).get(projectId)!;
  expect(await read()).toEqual({
    version: 1,
    quotas: {},
    subscriptions: [],
    subscribedTriggers: [],
    shards: undefined,
  });
  const id = await addSubscription(db, projectId);
  await addSubscription(db, other);
  expect(await read()).toEqual({
    version: 2,
    quotas: {},
    subscribedTriggers: [],
    shards: undefined,
    subscriptions: [
      {
        id,
        projectId,
        endpointUrl: "https://example.com/hook",
        toolkitSlug: "",
        triggerSlug: "",
        triggerSlugs: [],
        signingSecret: Buffer.from("sealed"),
        entityId: "",
        mcpId: "",
        cursor: "",
        expiresAt: null,
        formerSecret: null,
        formerUntil: null,
        settings: null,
        credentials: null,
        origin: "",
      },
    ],
  });
  const subscriptions = subscriptionsForProject(db, projectId);
  await subscriptions.update(id, {});
  expect((await read()).version).toBe(2);
  await subscriptions.update(id, { active: false });
  expect(await read()).toEqual({
    version: 3,
    quotas: {},
    subscriptions: [],
    subscribedTriggers: [],
    shards: undefined,
  });
  await subscriptions.update(id, { active: true, endpointUrl: "https://example.org/" });
  expect(await read()).toMatchObject({ version: 4, subscriptions: [{ endpointUrl: "https://example.org/" }] });
  expect(await subscriptions.delete(id)).toMatchObject({ id });
  expect(await subscriptions.delete(id)).toBeUndefined();
  expect(await read()).toEqual({
    version: 5,
    quotas: {},
    subscriptions: [],
    subscribedTriggers: [],
    shards: undefined,
  });
  expect((await readProjectRouting(db, [createId("prj", 0)])).size).toBe(0);
});

const shardsOf = async (projectId: ProjectId) => (await readProjectRouting(db, [projectId])).get(projectId)!.shards;

test("subscriptions with an entity are read by entity, at a version of their shard that every change of them moves", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  await addSubscription(db, projectId);
  const id = await addSubscription(db, projectId, "one");
  await addSubscription(db, other, "one");
  const read = async (entityId = "one") => (await readEntityRouting(db, [{ projectId, entityId }]))[0]!;
  const { shard, version, subscriptions: found } = await read();
  expect(found).toEqual([expect.objectContaining({ id, projectId, entityId: "one" })]);
  expect(version).toBe(1);
  expect(await shardsOf(projectId)).toEqual(new Map([[shard, 1]]));
  expect((await readProjectRouting(db, [projectId])).get(projectId)).toMatchObject({
    subscriptions: [{ entityId: "" }],
    version: 3,
  });
  const nobody = await read("nobody");
  expect(nobody).toEqual({ shard: nobody.shard, version: 0, subscriptions: [] });
  expect(nobody.shard).not.toBe(shard);

  const subscriptions = subscriptionsForProject(db, projectId);
  const changes: SubscriptionChange[] = [
    { endpointUrl: "https://example.org/" },
    { signingSecret: Buffer.from("other") },
    { formerSecret: Buffer.from("former"), formerUntil: nowMs },
    { toolkitSlug: "code_host" },
    { triggerSlug: "code_host.issue_opened" },
    { triggerSlugs: ["a.b"] },
    { settings: { description: "d" } },
    { credentials: Buffer.from("sealed") },
    { active: false },
  ];
  for (const [index, change] of changes.entries()) {
    await subscriptions.update(id, change);
    expect(await read()).toMatchObject({ version: index + 2, subscriptions: change.active === false ? [] : [change] });
  }
  // An agent's subscription has more columns that nodes cache.
  const ofAgents = ["mcp_id = 'm'", "cursor = 'c'", "expires_at = now()", "former_secret = null, former_until = null"];
  for (const set of ofAgents) await db.sql.unsafe(`update subscriptions set ${set} where id = '${uuidOfId(id)}'`);
  const last = changes.length + ofAgents.length + 1;
  await subscriptions.update(id, { filterFaults: 3 });
  expect(await read()).toMatchObject({ version: last });
  await subscriptions.delete(id);
  expect(await read()).toMatchObject({ version: last + 1, subscriptions: [] });
  const [row] = await db.sql`select subscriptions from routing_shards where project_id = ${uuidOfId(projectId)}`;
  expect(row).toEqual({ subscriptions: 0 });
});

test("only the first subscription with an entity moves the version of the project; each other change moves its shard alone", async () => {
  const projectId = await addProject(db);
  const versionOf = async () => (await readProjectRouting(db, [projectId])).get(projectId)!.version;
  const sum = async () =>
    [...((await shardsOf(projectId)) ?? new Map())].reduce((all, [, version]) => all + version, 0);
  const subscriptions = subscriptionsForProject(db, projectId);
  const id = await addSubscription(db, projectId, "one");
  expect([await versionOf(), await sum()]).toEqual([2, 1]);
  await subscriptions.update(id, { active: false });
  await subscriptions.update(id, { active: true });
  for (const entityId of ["two", "three", "four"]) await addSubscription(db, projectId, entityId);
  expect([await versionOf(), await sum()]).toEqual([2, 6]);
  const limits = { backoffMinMs: 1, backoffMaxMs: 1, failingMaxMs: 0, goneMaxMs: 0, goneMin: 1 };
  const failed = { subscriptionId: id, startedAtMs: nowMs, retryAfterMs: 0, goneCount: 0 };
  for (const atMs of [nowMs, nowMs + 10])
    await reportSubscriptionFailures(db, [{ ...failed, startedAtMs: atMs }], atMs, limits);
  expect(await subscriptions.find(id)).toMatchObject({ active: false, inactiveReason: "failing" });
  await subscriptions.update(id, { active: true });
  await fillQueue(db, projectId, id, { count: 2 });
  expect(await reportSubscriptionOverflows(db, [id], 1)).toEqual(new Set([id]));
  expect([await versionOf(), await sum()]).toEqual([2, 9]);
  await subscriptions.delete(id);
  expect([await versionOf(), await sum()]).toEqual([2, 10]);
  // A subscription to the events of the whole project moves the version of the project.
  const general = await addSubscription(db, projectId);
  for (const atMs of [nowMs, nowMs + 10])
    await reportSubscriptionFailures(db, [{ ...failed, subscriptionId: general, startedAtMs: atMs }], atMs, limits);
  expect([await versionOf(), await sum()]).toEqual([4, 10]);
});

test("values that are sealed again move no version", async () => {
  const projectId = await addProject(db);
  const ids = [await addSubscription(db, projectId, "one"), await addSubscription(db, projectId, "two")];
  const before = await shardsOf(projectId);
  const old = { sealed: Buffer.from("sealed"), context: "" };
  const rows = ids.map((id) => ({
    row: { key: [uuidOfId(id)], values: [old, undefined, undefined] },
    sealed: [Buffer.from("other"), undefined, undefined],
  }));
  expect(await withTransaction(db, (tx) => writeResealed(tx, "subscriptions", rows))).toBe(2);
  expect(await shardsOf(projectId)).toEqual(before);
  const [entity] = await readEntityRouting(db, [{ projectId, entityId: "one" }]);
  expect(entity?.subscriptions).toMatchObject([{ signingSecret: Buffer.from("other") }]);
  // The next transaction of the connection moves versions as usual.
  for (const id of ids) await subscriptionsForProject(db, projectId).update(id, { signingSecret: Buffer.from("new") });
  expect(await shardsOf(projectId)).not.toEqual(before);
});

test("every column that nodes cache moves the version of the shard, unless it never changes", async () => {
  const projectId = await addProject(db);
  await addSubscription(db, projectId, "one");
  const [entity] = await readEntityRouting(db, [{ projectId, entityId: "one" }]);
  const [trigger] = await db.sql<{ text: string }[]>`
    select pg_get_triggerdef(oid) as text from pg_trigger where tgname = 'subscriptions_shard_update'`;
  const neverChanged = ["id", "projectId", "entityId", "origin"];
  const cached = Object.keys(entity?.subscriptions[0] ?? {}).filter((name) => !neverChanged.includes(name));
  expect(cached.length).toBeGreaterThan(10);
  for (const name of cached) {
    const column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(trigger?.text).toMatch(new RegExp(`\\bold\\."?${column}\\b`));
  }
});

test("entities are divided evenly, and any text has a shard", async () => {
  const projectId = await addProject(db);
  const count = 1_600;
  const wanted = Array.from({ length: count }, (_, n) => ({ projectId, entityId: `customer-${n}` }));
  const counts = new Map<number, number>();
  for (const { shard } of await readEntityRouting(db, wanted)) counts.set(shard, (counts.get(shard) ?? 0) + 1);
  expect([...counts.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n));
  for (const each of counts.values()) expect(Math.abs(each - count / 16)).toBeLessThan(50);
  const odd = ["\\", "\\x00", "ü", "'", "{}", '"', "🧾"].map((entityId) => ({ projectId, entityId }));
  expect(await readEntityRouting(db, odd)).toHaveLength(odd.length);
});

test("pending deliveries of subscriptions with an entity count, and no other project's", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const counts = async (id: ProjectId) => {
    const backlog = await readPendingBacklog(db, id, nowMs);
    return [
      await usageOfProject(db, id).countDeliveries(),
      backlog.map(({ count }) => count).toSorted((a, b) => a - b),
    ];
  };
  await fillQueue(db, projectId, await addSubscription(db, projectId), { count: 2 });
  expect(await counts(projectId)).toEqual([2, [2]]);
  for (const [index, entityId] of ["a", "b", "c"].entries()) {
    await addSubscription(db, projectId, entityId);
    await fillQueue(db, projectId, await addSubscription(db, projectId, entityId), { count: index + 3 });
  }
  await fillQueue(db, other, await addSubscription(db, other, "a"), { count: 7 });
  await db.sql`update delivery_tasks set epoch = 0 where ctid = any(array(select ctid from delivery_tasks limit 9))`;
  expect(await counts(projectId)).toEqual([14, [2, 3, 4, 5]]);
  expect(await counts(other)).toEqual([7, [7]]);
  expect(await usageOfProject(db, projectId).countDeliveries(10)).toBe(10);
});

test("the search for queues of entities goes through the smaller of the project's subscriptions and the queue", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const theirs = Array.from({ length: 40 }, () => 0);
  for (const index of theirs.keys())
    await fillQueue(db, other, await addSubscription(db, other, `e${index}`), { count: 1 });
  const own = [await addSubscription(db, projectId, "ada"), await addSubscription(db, projectId, "bob")];
  for (const index of theirs.keys())
    await fillQueue(db, other, await addSubscription(db, other, `f${index}`), { count: 1 });
  await fillQueue(db, projectId, own[1]!, { count: 3 });
  expect(await usageOfProject(db, projectId).countDeliveries()).toBe(3);
  expect(await usageOfProject(db, other).countDeliveries()).toBe(80);
  const [walked] = await db.sql.unsafe<{ steps: number; found: number }[]>(
    `${queuedSubscriptions(`'${uuidOfId(projectId)}'::uuid`)} select (select count(*)::int4 from met) as steps, (select count(*)::int4 from queued) as found`,
  );
  expect(walked?.found).toBe(1);
  expect(walked?.steps).toBeLessThanOrEqual(3 * (own.length + 1));
});

test("a subscription is its project's own", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const id = await addSubscription(db, projectId);
  const stranger = subscriptionsForProject(db, other);
  expect(await stranger.find(id)).toBeUndefined();
  expect(await stranger.update(id, { active: false })).toBeUndefined();
  expect(await stranger.delete(id)).toBeUndefined();
  expect(await stranger.list({ after: undefined, limit: 10 })).toEqual([]);
  expect(await subscriptionsForProject(db, projectId).find(id)).toMatchObject({ active: true });
});

test("an account reference belongs to one account of the deployment, and changes of it move the routing version", async () => {
  const projectId = await addProject(db);
  const start = (await readDeploymentRouting(db)).version;
  const accountId = createId("acc", 0);
  const reference = (text: string, account = accountId) => {
    return { toolkitSlug: "watcher", reference: text, projectId, accountId: account, entityId: "e" };
  };
  await putAccountReferences(db, [reference("a"), reference("b")]);
  const taken = putAccountReferences(db, [reference("c"), reference("b", createId("acc", 0))]);
  expect(isUniqueViolation(await taken.catch((error: unknown) => error), "account_references_key")).toBe(true);
  expect((await readDeploymentRouting(db)).version).toBe(start + 1);
  const wanted = ["a", "c", "\ud800", "ü'{}\"\\"].map((text) => ({ toolkitSlug: "watcher", reference: text }));
  expect(await findAccountReferences(db, wanted)).toEqual([reference("a")]);
  await releaseAccountReferences(db, projectId, [accountId]);
  expect(await findAccountReferences(db, wanted)).toEqual([]);
  const { version, projects } = await readDeploymentRouting(db);
  expect([version, projects]).toEqual([start + 2, [projectId]]);
});

async function filled() {
  const projectId: ProjectId = await addProject(db);
  const subscription = await addSubscription(db, projectId);
  const tasks = await fillQueue(db, projectId, subscription, { count: 4, fromMs: nowMs - 10_000 });
  await db.sql`delete from delivery_tasks`;
  await db.sql`update deliveries set state = 'dead_letter'`;
  return { projectId, subscription, events: tasks.map(({ id }) => eventOf(id)) };
}

test("matches are events with the active subscriptions that want them, the oldest first", async () => {
  const { projectId, subscription, events } = await filled();
  await addSubscription(db, await addProject(db));
  const inactive = await addSubscription(db, projectId);
  await subscriptionsForProject(db, projectId).update(inactive, { active: false });
  const find = async (filter: Partial<EventMatchFilter> = {}, limit = 10) =>
    (await findEventMatches(db, projectId, { ...everything, ...filter }, limit)).pairs;
  const all = events.map((eventId) => ({ eventId, subscriptionId: subscription }));
  expect(await find()).toEqual(all);
  expect(await find({}, 2)).toEqual(all.slice(0, 2));
  expect(await find({ toolkitSlug: "payments" })).toEqual([]);
  expect(await find({ triggerSlug: "code_host.issue_opened", subscriptionId: subscription })).toEqual(all);
  expect(await find({ subscriptionId: inactive })).toEqual([]);
  expect(await find({ fromUuid: firstUuidAt(nowMs - 8_000), toUuid: firstUuidAt(nowMs - 7_000) })).toEqual([all[1]]);
  expect(await countEventMatches(db, projectId, everything)).toEqual({ count: 4, hasFilters: false });
});

test("events match subscriptions of their entity, and a replay to one subscription or to all delivers the same", async () => {
  const { projectId, subscription, events } = await filled();
  const [ada, adas, bob] = [
    await addSubscription(db, projectId, "ada"),
    await addSubscription(db, projectId, "ada"),
    await addSubscription(db, projectId, "bob"),
  ];
  const inactive = await addSubscription(db, projectId, "ada");
  await subscriptionsForProject(db, projectId).update(inactive, { active: false });
  const other = await addSubscription(db, projectId, "ada");
  await subscriptionsForProject(db, projectId).update(other, { toolkitSlug: "payments" });
  await addSubscription(db, await addProject(db), "ada");
  for (const [index, entityId] of ["ada", "bob", "eve", ""].entries())
    await db.sql`update events set entity_id = ${entityId} where id = ${uuidOfId(events[index]!)}`;
  const wanted = [[subscription, ada, adas], [subscription, bob], [subscription], [subscription]];
  const all = wanted.flatMap((own, index) => own.map((id) => ({ eventId: events[index]!, subscriptionId: id })));
  const sorted = (pairs: readonly EventMatch[]) => pairs.map((pair) => JSON.stringify(pair)).toSorted();
  const replay = (subscriptionId: SubscriptionId | null): ReplayFilter => ({
    ...{ projectId, subscriptionId, toolkitSlug: "", triggerSlug: "", onlyUndelivered: false },
    ...{ until: nowMs + 1, createdAt: Date.now() },
  });
  const start = { eventId: idOfUuid("evt", firstUuidAt(0)), subscriptionId: idOfUuid("sub", firstUuidAt(0)) };
  for (const id of [undefined, subscription, ada, bob, inactive, other]) {
    const expected = sorted(all.filter(({ subscriptionId }) => id === undefined || id === subscriptionId));
    const filter = { ...everything, subscriptionId: id };
    expect(sorted((await findEventMatches(db, projectId, filter, 20)).pairs)).toEqual(expected);
    expect((await countEventMatches(db, projectId, filter)).count).toBe(expected.length);
    const found = await findReplayMatches(db, replay(id ?? null), start, { limit: 20, events: 20 });
    expect(sorted(found.pairs)).toEqual(expected);
    const { counts } = await countReplayMatches(db, replay(id ?? null), start.eventId);
    expect([...counts.values()].reduce((sum, one) => sum + one, 0)).toBe(expected.length);
  }
});

test("operational events match only subscriptions to their toolkit, and not the one that they are about", async () => {
  const projectId = await addProject(db);
  await addSubscription(db, projectId);
  const [own, other] = [await addSubscription(db, projectId), await addSubscription(db, projectId)];
  for (const id of [own, other]) await db.sql`update subscriptions set toolkit_slug = 'svc' where id = ${uuidOfId(id)}`;
  const event = newEvent(projectId, [], {
    ...{ toolkitSlug: "svc", triggerSlug: "svc.subscription_failing", dedupeKey: occurrenceOf(own, 1) },
  });
  await recordEvents(db, [event], undefined, undefined);
  const { pairs } = await findEventMatches(db, projectId, everything, 10);
  expect(pairs).toEqual([{ eventId: event.id, subscriptionId: other }]);
});

test("onlyUndelivered leaves out pairs that are delivered or pending", async () => {
  const { projectId, subscription, events } = await filled();
  const another = await addSubscription(db, projectId);
  const states = ["delivered", "pending", "dead_letter", "dead_letter"];
  for (const [index, state] of states.entries())
    await db.sql`update deliveries set state = ${state} where id = (select id from deliveries order by id offset ${index} limit 1)`;
  const filter = { ...everything, onlyUndelivered: true };
  const { pairs: found } = await findEventMatches(db, projectId, filter, 10);
  expect(found.filter(({ subscriptionId }) => subscriptionId === subscription).map(({ eventId }) => eventId)).toEqual(
    events.slice(2),
  );
  expect(found.filter(({ subscriptionId }) => subscriptionId === another)).toHaveLength(4);
  expect((await countEventMatches(db, projectId, filter)).count).toBe(6);
});
