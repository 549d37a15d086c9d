import { createId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { putAccountReferences } from "@svc/db/account-references/repo";
import type { Executor } from "@svc/db/connect";
import { releaseAccountReferences } from "@svc/db/connections/references";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { afterAll, expect, test } from "vitest";
import { createRouting, type ReceivingProject, type RoutedPost, type Routing } from "./routing.ts";
import { createTestCluster, createTestNode, type TestCluster, type TriggerNode } from "./test-node.ts";

afterAll(dropTestDatabases);

const post: RoutedPost = {
  toolkitSlug: "watcher",
  triggerSlug: "watcher.changed",
  audience: "accounts",
  account: "ch-1",
};

const reference = (projectId: ProjectId) => ({
  toolkitSlug: "watcher",
  reference: "ch-1",
  projectId,
  accountId: createId("acc", 0),
  entityId: "e",
});

/** Returns a connection that sends every statement at once, but holds back the answers to the statements named `name` until `release`. */
function holdingBack(db: Executor, name: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let noteAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    noteAsked = resolve;
  });
  const sql = new Proxy(db.sql, {
    get(target, property) {
      if (property !== "unsafe") return Reflect.get(target, property) as unknown;
      return (text: string, ...rest: [never, never]) => {
        const query = target.unsafe(text, ...rest);
        if (!text.startsWith(`/* ${name} */`)) return query;
        return {
          execute: async () => {
            const rows = await query.execute();
            noteAsked();
            await released;
            return rows;
          },
        };
      };
    },
  });
  return { executor: { sql, orm: db.orm } as Executor, asked, release };
}

test("a batch that reads references while another learns of newer ones rests on the version it began with", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  const routing = createRouting();
  await routing.prepare(cluster.db, []);
  const slow = holdingBack(cluster.db, "find_account_references");
  const early = routing.prepare(slow.executor, [post]);
  await slow.asked;
  await putAccountReferences(cluster.db, [reference(projectId)]);
  routing.forget([]);
  const late = await routing.prepare(cluster.db, [post]);
  slow.release();
  const view = await early;
  // The old view is consistent: no project receives the post, and because of its version, storing is refused.
  expect(view.receivers(post)).toEqual([]);
  expect(view.seen([]).version).toBe(late.seen([]).version - 1);
  expect(late.receivers(post)).toMatchObject([{ projectId, entityId: "e" }]);
  // The late answer has not changed the data that were read later.
  expect((await routing.prepare(cluster.db, [post])).receivers(post)).toMatchObject([{ projectId }]);
});

test("what another batch forgets while one is prepared does not show in it", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await putAccountReferences(cluster.db, [reference(projectId)]);
  const id = await addSubscription(cluster, projectId);
  const routing = createRouting();
  const view = await routing.prepare(cluster.db, [post]);
  routing.forget([projectId]);
  expect(view.receivers(post)).toMatchObject([{ projectId }]);
  expect(view.subscribers({ projectId, entityId: "" }, post, 0).map((subscription) => subscription.id)).toEqual([id]);
  expect(view.seen([projectId]).projects.get(projectId)).toBeGreaterThan(0);
});

test("references are kept over a new look at an unchanged deployment, and dropped with its version", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  const held = reference(projectId);
  await putAccountReferences(cluster.db, [held]);
  const routing = createRouting();
  await routing.prepare(cluster.db, [post]);
  routing.forget([]);
  // If a statement were sent here, it would never be answered. So no statement is sent.
  const silent = holdingBack(cluster.db, "find_account_references");
  expect((await routing.prepare(silent.executor, [post])).receivers(post)).toMatchObject([{ projectId }]);
  await releaseAccountReferences(cluster.db, projectId, [held.accountId]);
  routing.forget([]);
  expect((await routing.prepare(cluster.db, [post])).receivers(post)).toEqual([]);
});

test("a project that the store does not know has a version that never fits", async () => {
  await using cluster = await createTestCluster();
  const view = await createRouting().prepare(cluster.db, [post]);
  const unknown = createId("prj", 0);
  expect(view.subscribers({ projectId: unknown, entityId: "" }, post, 0)).toEqual([]);
  expect(view.seen([unknown]).projects.get(unknown)).toBe(0);
});

const published = (projectId: ProjectId, entityId: string) =>
  ({ toolkitSlug: "events", triggerSlug: "events.paid", to: { projectId, entityId } }) as const;

/** Returns the subscriptions of an event of an entity, as the view of a batch with this event alone says. */
async function routed(routing: Routing, db: Executor, to: ReceivingProject) {
  const event = published(to.projectId, to.entityId);
  const view = await routing.prepare(db, [event]);
  const ids = view.subscribers(to, event, 0).map(({ id }) => id);
  return { ids, seen: view.seen([to.projectId]) };
}

/** Returns a connection that counts the statements that read subscriptions of entities, and the entities that they read. */
function counting(db: Executor) {
  const reads: number[] = [];
  const sql = new Proxy(db.sql, {
    get(target, property) {
      if (property !== "unsafe") return Reflect.get(target, property) as unknown;
      return (text: string, parameters: [string, string], ...rest: never[]) => {
        if (text.startsWith("/* read_entity_routing */")) reads.push(parameters[0].split(",").length);
        return target.unsafe(text, parameters, ...rest);
      };
    },
  });
  return { executor: { sql, orm: db.orm } as Executor, reads };
}

test("an event goes to subscriptions of its entity and of all entities, and to no other's", async () => {
  await using cluster = await createTestCluster();
  const [projectId, other] = [await cluster.project(), await cluster.project()];
  const all = await addSubscription(cluster, projectId);
  const [ada, bob] = [
    await addSubscription(cluster, projectId, "ada"),
    await addSubscription(cluster, projectId, "bob"),
  ];
  await addSubscription(cluster, other, "ada");
  const wrong = await addSubscription(cluster, projectId, "ada");
  await subscriptionsForProject(cluster.db, projectId).update(wrong, {
    toolkitSlug: "events",
    triggerSlug: "events.sent",
  });
  const routing = createRouting();
  const read = async (entityId: string) => (await routed(routing, cluster.db, { projectId, entityId })).ids;
  expect(await read("ada")).toEqual([all, ada]);
  expect(await read("bob")).toEqual([all, bob]);
  expect(await read("eve")).toEqual([all]);
  expect(await read("")).toEqual([all]);
  expect(await read("a")).toEqual([all]);
});

test("entities are read once, and again only when a subscription of their shard has changed", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  const [plain] = [await cluster.project()];
  const { executor, reads } = counting(cluster.db);
  const routing = createRouting();
  const read = async (entityId: string) => (await routed(routing, executor, { projectId, entityId })).ids;
  expect(await routed(routing, executor, { projectId: plain, entityId: "ada" })).toMatchObject({ ids: [] });
  expect((await routed(routing, executor, { projectId, entityId: "ada" })).seen).not.toHaveProperty("shards");
  expect(reads).toEqual([]);

  const names = Array.from({ length: 64 }, (_, n) => `customer-${n}`);
  const ids = new Map<string, SubscriptionId>();
  for (const name of names) ids.set(name, await addSubscription(cluster, projectId, name));
  const batch = async () => {
    const posts = names.map((name) => published(projectId, name));
    const view = await routing.prepare(executor, posts);
    for (const post of posts)
      expect(view.subscribers(post.to, post, 0)).toMatchObject([{ id: ids.get(post.to.entityId) }]);
    return view.seen([projectId]).shards?.length;
  };
  routing.forget([projectId]);
  expect(await batch()).toBe(16);
  expect(reads.splice(0)).toEqual([64]);
  expect(await batch()).toBe(16);
  routing.forget([projectId]);
  expect(await batch()).toBe(16);
  expect(reads).toEqual([]);

  ids.set("customer-1", await replaceSubscription(cluster, projectId, ids.get("customer-1")!, "customer-1"));
  routing.forget([projectId]);
  expect(await batch()).toBe(16);
  const [changed = 0, ...others] = reads.splice(0);
  expect(others).toEqual([]);
  expect(changed).toBeGreaterThanOrEqual(1);
  expect(changed).toBeLessThan(20);
  expect(await read("customer-1")).toEqual([ids.get("customer-1")]);
  expect(reads).toEqual([]);
});

test("the least recently named entities are forgotten beyond the maximum, also if few have many subscriptions", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await addSubscription(cluster, projectId, "heavy");
  await addSubscription(cluster, projectId, "heavy");
  const { executor, reads } = counting(cluster.db);
  const routing = createRouting(3);
  const name = async (entityId: string) => {
    await routed(routing, executor, { projectId, entityId });
    return reads.splice(0).length;
  };
  expect([await name("a"), await name("b"), await name("c")]).toEqual([1, 1, 1]);
  expect([await name("a"), await name("b"), await name("c")]).toEqual([0, 0, 0]);
  expect(await name("d")).toBe(1);
  expect([await name("b"), await name("c"), await name("d"), await name("a")]).toEqual([0, 0, 0, 1]);
  expect(await name("heavy")).toBe(1);
  expect([await name("heavy"), await name("a"), await name("d")]).toEqual([0, 0, 1]);
});

test("what two batches learn of one entity while it changes is stored at its own version, and the newer is kept", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  const first = await addSubscription(cluster, projectId, "ada");
  const routing = createRouting();
  const slow = holdingBack(cluster.db, "read_entity_routing");
  const early = routed(routing, slow.executor, { projectId, entityId: "ada" });
  await slow.asked;
  const second = await addSubscription(cluster, projectId, "ada");
  routing.forget([projectId]);
  const late = await routed(routing, cluster.db, { projectId, entityId: "ada" });
  slow.release();
  expect((await early).ids).toEqual([first]);
  expect((await early).seen.shards).toMatchObject([{ version: 1 }]);
  expect(late.ids).toEqual([first, second]);
  expect(late.seen.shards).toMatchObject([{ version: 2 }]);
  expect((await routed(routing, cluster.db, { projectId, entityId: "ada" })).ids).toEqual([first, second]);
});

test("subscriptions of entities that change on one node while another stores their events lose and add no delivery", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using first = createTestNode(cluster);
  await using second = createTestNode(cluster);
  await first.client(projectId).putEventType({ name: "paid" });
  const publish = (node: TriggerNode, entityId: string) =>
    node.client(projectId).publishEvent({ type: "paid", payloadJson: "{}", entityId });
  const subscribe = async (entityId: string) => {
    const { subscription } = await first
      .client(projectId)
      .createSubscription({ endpointUrl: "https://example.com/", toolkitSlug: "events", entityId });
    return subscription!.id;
  };
  const countOf = async (subscription: string, eventIds: readonly string[]) => {
    const deliveries = await first.client(projectId).listDeliveries({ subscriptionId: subscription, pageSize: 200 });
    return deliveries.deliveries.filter(({ eventId }) => eventIds.includes(eventId)).length;
  };
  await subscribe("somebody");
  for (let round = 0; round < 12; round++) {
    const entityId = `customer-${round}`;
    const publishAll = (node: TriggerNode) => Promise.all([1, 2, 3].map(() => publish(node, entityId)));
    await publishAll(second);
    const noise = Array.from({ length: 20 }, (_, n) => publish(second, `other-${n}`));
    const early = publishAll(second);
    const id = await subscribe(entityId);
    const late = await publishAll(second);
    const lateIds = late.map(({ eventId }) => eventId);
    expect(await countOf(id, lateIds)).toBe(3);
    await Promise.all([...noise, early]);

    const running = publishAll(second);
    await first.client(projectId).updateSubscription({ id, active: false });
    const over = await publishAll(second);
    expect(
      await countOf(
        id,
        over.map(({ eventId }) => eventId),
      ),
    ).toBe(0);
    await running;
  }
});

test("after a change of an entity's subscription, another node reads this shard again, and not the routing of the project", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  await client.putEventType({ name: "paid" });
  const publish = async () => {
    await client.publishEvent({ type: "paid", payloadJson: "{}", entityId: "ada" });
    return cluster.count("deliveries");
  };
  // The node has read the project before it has the first subscription with an entity.
  expect(await publish()).toBe(0);
  const id = await addSubscription(cluster, projectId, "ada");
  expect([await publish(), await publish()]).toEqual([1, 2]);
  const texts: string[] = [];
  const statements = cluster.db.sql.unsafe;
  cluster.db.sql.unsafe = ((...sent: Parameters<typeof statements>) => {
    texts.push(sent[0]);
    return statements.apply(cluster.db.sql, sent);
  }) as typeof statements;
  const reads = async () => {
    texts.length = 0;
    await publish();
    const names = ["read_entity_routing", "read_project_routing", "routing_state", "record_narrowed_events"];
    return names.map(
      (name) =>
        texts.filter((text) => text.includes(name) && (name !== "routing_state" || !text.includes("record_"))).length,
    );
  };
  expect(await reads()).toEqual([0, 0, 0, 1]);
  await subscriptionsForProject(cluster.db, projectId).update(id, { endpointUrl: "https://example.org/" });
  expect(await reads()).toEqual([1, 0, 0, 2]);
  expect(await reads()).toEqual([0, 0, 0, 1]);
  cluster.db.sql.unsafe = statements;
});

test("a change that a node of an earlier version makes is seen by the version of the shard alone", async () => {
  await using cluster = await createTestCluster();
  const projectId = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(projectId);
  await client.putEventType({ name: "paid" });
  const id = await addSubscription(cluster, projectId, "ada");
  const publish = async () => {
    await client.publishEvent({ type: "paid", payloadJson: "{}", entityId: "ada" });
    return cluster.count("deliveries");
  };
  expect([await publish(), await publish()]).toEqual([1, 2]);
  // Neither changes the routing version of the project.
  await cluster.db.sql`update subscriptions set active = false where id = ${uuidOfId(id)}`;
  expect(await publish()).toBe(2);
  await cluster.db.sql`update subscriptions set active = true where id = ${uuidOfId(id)}`;
  expect(await publish()).toBe(3);
  await cluster.db
    .sql`insert into subscriptions (id, project_id, endpoint_url, toolkit_slug, trigger_slug, entity_id, signing_secret, created_at)
    values (gen_random_uuid(), ${uuidOfId(projectId)}, 'https://example.com/', '', '', 'ada', '', now())`;
  expect(await publish()).toBe(5);
  await cluster.db.sql`delete from subscriptions where project_id = ${uuidOfId(projectId)}`;
  expect(await publish()).toBe(5);
});

async function replaceSubscription(cluster: TestCluster, projectId: ProjectId, id: SubscriptionId, entityId: string) {
  await subscriptionsForProject(cluster.db, projectId).delete(id);
  return addSubscription(cluster, projectId, entityId);
}

async function addSubscription({ db }: TestCluster, projectId: ProjectId, entityId = ""): Promise<SubscriptionId> {
  const id = createId("sub", 0);
  const signingSecret = Buffer.alloc(1);
  await subscriptionsForProject(db, projectId).create({
    id,
    endpointUrl: "https://example.com/",
    entityId,
    toolkitSlug: "",
    triggerSlug: "",
    createdAt: 0,
    signingSecret,
  });
  return id;
}
