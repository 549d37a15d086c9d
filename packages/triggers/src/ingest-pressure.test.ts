import { expect, test } from "vitest";
import { createTestCluster, createTestNode } from "./test-node.ts";
import { issuePost, signedCodePost } from "./test-posts.ts";

test("a token that is wrong is refused before a body is read", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  expect(node.ingest.admit("watcher", new URLSearchParams())).toMatchObject({ outcome: "unverified" });
  expect(node.ingest.admit("watcher", new URLSearchParams({ token: "nope" }))).toMatchObject({ outcome: "unverified" });
});

test("projects whose subscriptions change all the time stop no post", async () => {
  await using cluster = await createTestCluster();
  const projects = await Promise.all(Array.from({ length: 4 }, () => cluster.project()));
  await using node = createTestNode(cluster);
  await using other = createTestNode(cluster);
  const clients = projects.map((project) => other.client(project));
  const subscriptions = await Promise.all(
    clients.map(
      async (client) => (await client.createSubscription({ endpointUrl: "https://example.com/a" })).subscription!.id,
    ),
  );
  let isOver = false;
  const churning = clients.map(async (client, index) => {
    for (let turn = 0; !isOver; turn++) {
      await client.updateSubscription({ id: subscriptions[index]!, endpointUrl: `https://example.com/${turn}` });
    }
  });
  const outcomes = [];
  for (let number = 1; number <= 30; number++)
    outcomes.push(await node.ingest.accept(issuePost({ number, delivery: `d-${number}` })));
  isOver = true;
  await Promise.all(churning);
  expect(outcomes).toEqual(outcomes.map(() => ({ outcome: "accepted", events: 4 })));
  expect(await cluster.count("events")).toBe(120);
});

test("an update that routes nothing anew leaves the routing as it is", async () => {
  await using cluster = await createTestCluster();
  const project = await cluster.project();
  await using node = createTestNode(cluster);
  const client = node.client(project);
  const { subscription } = await client.createSubscription({ endpointUrl: "https://example.com/a" });
  const version = async () =>
    (await cluster.db.sql`select routing_version::int4 as version from projects`)[0]?.["version"];
  const before = await version();
  await client.updateSubscription({ id: subscription!.id, active: true, endpointUrl: "https://example.com/a" });
  expect(await version()).toBe(before);
  await client.updateSubscription({ id: subscription!.id, endpointUrl: "https://example.com/b" });
  expect(await version()).toBe(before + 1);
});

test("a body nested more deeply than can be written is kept in quarantine", async () => {
  await using cluster = await createTestCluster();
  await cluster.project();
  await using node = createTestNode(cluster);
  const nested = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  const body = Buffer.from(
    `{"action":"opened","issue":{"number":1,"title":"t","labels":${nested}},"repository":{"name":"r"}}`,
  );
  const outcome = await node.ingest.accept(signedCodePost(body, { "x-code-event": "issues" }));
  expect(outcome).toMatchObject({ outcome: "quarantined", reason: "invalid_payload" });
  expect(await cluster.count("quarantined_posts")).toBe(1);
});

test("a large post to many projects becomes an event of each, in one commit", async () => {
  await using cluster = await createTestCluster();
  for (let count = 0; count < 24; count++) await cluster.project();
  await using node = createTestNode(cluster);
  const title = "x".repeat(1_000_000);
  expect(await node.ingest.accept(issuePost({ title, delivery: "d-1" }))).toEqual({ outcome: "accepted", events: 24 });
  expect(await node.ingest.accept(issuePost({ title, delivery: "d-1" }))).toEqual({ outcome: "accepted", events: 24 });
  expect(await cluster.count("events")).toBe(24);
});
