import { createId, type ProjectId, type SubscriptionId } from "@svc/core";
import { putAccountReferences } from "@svc/db/account-references/repo";
import type { Executor } from "@svc/db/connect";
import { releaseAccountReferences } from "@svc/db/connections/references";
import { subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { afterAll, expect, test } from "vitest";
import { createRouting, type RoutedPost } from "./routing.ts";
import { createTestCluster, type TestCluster } from "./test-node.ts";

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

async function addSubscription({ db }: TestCluster, projectId: ProjectId): Promise<SubscriptionId> {
  const id = createId("sub", 0);
  const signingSecret = Buffer.alloc(1);
  await subscriptionsForProject(db, projectId).create({
    id,
    endpointUrl: "https://example.com/",
    toolkitSlug: "watcher",
    triggerSlug: "",
    createdAt: 0,
    signingSecret,
  });
  return id;
}
