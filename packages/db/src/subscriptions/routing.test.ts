import { createId, firstUuidAt, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import { findAccountReferences, putAccountReferences } from "../account-references/repo.ts";
import { releaseAccountReferences } from "../connections/references.ts";
import { isUniqueViolation } from "../driver.ts";
import { countEventMatches, type EventMatchFilter, findEventMatches } from "../events/follow.ts";
import { occurrenceOf } from "../events/operational.ts";
import { recordEvents } from "../events/record.ts";
import { readDeploymentRouting } from "../projects/repo.ts";
import { addProject, addSubscription, eventOf, fillQueue, newEvent, nowMs } from "../test-rows.ts";
import { subscriptionsForProject } from "./repo.ts";
import { readProjectRouting } from "./routing.ts";

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
  expect(await read()).toEqual({ version: 1, quotas: {}, subscriptions: [], subscribedTriggers: [] });
  const id = await addSubscription(db, projectId);
  await addSubscription(db, other);
  expect(await read()).toEqual({
    version: 2,
    quotas: {},
    subscribedTriggers: [],
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
      },
    ],
  });
  const subscriptions = subscriptionsForProject(db, projectId);
  await subscriptions.update(id, {});
  expect((await read()).version).toBe(2);
  await subscriptions.update(id, { active: false });
  expect(await read()).toEqual({ version: 3, quotas: {}, subscriptions: [], subscribedTriggers: [] });
  await subscriptions.update(id, { active: true, endpointUrl: "https://example.org/" });
  expect(await read()).toMatchObject({ version: 4, subscriptions: [{ endpointUrl: "https://example.org/" }] });
  expect(await subscriptions.delete(id)).toMatchObject({ id });
  expect(await subscriptions.delete(id)).toBeUndefined();
  expect(await read()).toEqual({ version: 5, quotas: {}, subscriptions: [], subscribedTriggers: [] });
  expect((await readProjectRouting(db, [createId("prj", 0)])).size).toBe(0);
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
