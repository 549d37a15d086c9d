import type { ProjectId } from "@svc/core";
import { setProjectPolicy } from "@svc/db/projects/repo";
import { CatalogService } from "@svc/gen/catalog";
import { TriggersService } from "@svc/gen/triggers";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { createTestNode as createNode } from "@svc/testing/node";
import { deskDefinition } from "@svc/testing/private-webhook";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFilters, type Filters } from "../filters/filters.ts";
import { createTestCluster, sampleCatalog, type TestCluster } from "../test-node.ts";
import { warningSweep } from "./warnings.ts";

let cluster: TestCluster;
let filters: Filters;
beforeAll(async () => {
  cluster = await createTestCluster();
  filters = createFilters({ db: cluster.db, turns: { next: async () => {} } });
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await dropTestDatabases();
});

const dayMs = 86_400_000;

async function startProject() {
  const { db, clock, sealer } = cluster;
  const node = createNode(db, { clock, sealer, catalog: sampleCatalog(), engines: [] });
  const projectId = await cluster.project();
  const triggers = node.client(TriggersService, { projectId, role: "approver" });
  const subscribe = (toolkitSlug: string, filter = "") =>
    triggers.createSubscription({ endpointUrl: "https://hooks.example.com/own", toolkitSlug, match: { filter } });
  return { node, projectId, triggers, subscribe, publishToolkit: publishDesk };
  async function publishDesk() {
    await node
      .client(CatalogService, { projectId, role: "member" })
      .publishToolkit({ definitionJson: deskDefinition() });
  }
}

/** Runs one round of the sweep, and returns how often it found deliveries to send. */
async function round(): Promise<number> {
  await cluster.db.sql`delete from sweep_turns`;
  return turn();
}

/** Runs one round of the sweep as another node would, if its turn is due. Returns how often it found deliveries to send. */
async function turn(): Promise<number> {
  let due = 0;
  const sweep = warningSweep({ db: cluster.db, filters, onDue: () => due++ });
  for await (const _isFull of sweep.round(cluster.clock.now()));
  await filters.idle();
  return due;
}

async function warnings({ triggers }: Awaited<ReturnType<typeof startProject>>) {
  const { events } = await triggers.listEvents({ toolkitSlug: "svc" });
  return events.map(({ triggerSlug, payloadJson }) => ({ triggerSlug, payload: JSON.parse(payloadJson) as object }));
}

const limit = (projectId: ProjectId, subscriptions: number) =>
  setProjectPolicy(cluster.db, projectId, { planApproval: "never", redirectUrls: [], quotas: { subscriptions } });

test("a project is warned once a day that a quota is nearly used up", async () => {
  const project = await startProject();
  await using _node = project.node;
  await limit(project.projectId, 5);
  await project.subscribe("svc");
  for (let n = 0; n < 2; n++) await project.subscribe("code_host");
  expect(await round()).toBe(0);
  expect(await warnings(project)).toEqual([]);

  await project.subscribe("code_host");
  expect(await round()).toBe(1);
  const quota = {
    triggerSlug: "svc.quota_near",
    payload: { quota: "subscriptions", used: 4, limit: 5 },
  };
  expect(await warnings(project)).toEqual([quota]);
  expect(await round()).toBe(0);
  cluster.clock.advance(dayMs);
  expect(await round()).toBe(1);
  expect(await warnings(project)).toEqual([quota, quota]);
});

test("of several nodes, one checks in each ten minutes, and another continues if that node stops during its round", async () => {
  const project = await startProject();
  await using _node = project.node;
  await limit(project.projectId, 2);
  await project.subscribe("svc");
  await round();
  await project.subscribe("code_host");
  expect(await turn()).toBe(0);
  cluster.clock.advance(599_999);
  expect(await turn()).toBe(0);
  cluster.clock.advance(1);
  const stopped = warningSweep({ db: cluster.db, filters, onDue: () => {} }).round(cluster.clock.now());
  // A failure of the first statement of the round is as if the node stopped.
  const statements = cluster.db.sql.unsafe;
  cluster.db.sql.unsafe = ((...sent: Parameters<typeof statements>) => {
    if (sent[0].includes("find_operational_projects")) throw new Error("stopped");
    return statements.apply(cluster.db.sql, sent);
  }) as typeof statements;
  await expect(stopped[Symbol.asyncIterator]().next()).rejects.toThrow("stopped");
  cluster.db.sql.unsafe = statements;
  expect(await turn()).toBe(0);
  cluster.clock.advance(600_000);
  expect(await Promise.all([turn(), turn(), turn()])).toContain(1);
  expect(await warnings(project)).toHaveLength(1);
});

test("a project is warned of a webhook secret that ends without a successor, and of no other", async () => {
  const project = await startProject();
  await using _node = project.node;
  await project.publishToolkit();
  await project.subscribe("svc");
  const { triggers } = project;
  const put = () => triggers.putWebhookSecret({ toolkitSlug: "desk", value: "", overlap: { seconds: 2n * 86_400n } });
  const first = await put();
  const second = await put();
  await round();
  expect(await warnings(project)).toEqual([]);

  await triggers.deleteWebhookSecret({ id: second.secret?.id ?? "" });
  await round();
  await round();
  const [warning, ...others] = await warnings(project);
  expect(others).toEqual([]);
  const endsAt = new Date(cluster.clock.now() + 2 * dayMs).toISOString();
  expect(warning).toEqual({
    triggerSlug: "svc.secret_expiring",
    payload: { secretId: first.secret?.id, toolkitSlug: "desk", endsAt },
  });
});

test("a project without a receiver of operational events is not counted", async () => {
  const project = await startProject();
  await using _node = project.node;
  await limit(project.projectId, 2);
  await project.subscribe("code_host");
  const statements = cluster.db.sql.unsafe;
  let counted = 0;
  cluster.db.sql.unsafe = ((...sent: Parameters<typeof statements>) => {
    if (sent[0].includes("count_project_subscriptions")) counted++;
    return statements.apply(cluster.db.sql, sent);
  }) as typeof statements;
  await round();
  const others = counted;
  await project.subscribe("svc");
  counted = 0;
  await round();
  cluster.db.sql.unsafe = statements;
  expect(counted).toBe(others + 1);
  expect(await warnings(project)).toHaveLength(1);
});

test("subscriptions with an entity are warned of by a quota of their own", async () => {
  const project = await startProject();
  await using _node = project.node;
  const quotas = { subscriptions: 1_000, entitySubscriptions: 5 };
  await setProjectPolicy(cluster.db, project.projectId, { planApproval: "never", redirectUrls: [], quotas });
  await project.subscribe("svc");
  const endpointUrl = "https://hooks.example.com/own";
  for (let n = 0; n < 4; n++) await project.triggers.createSubscription({ endpointUrl, entityId: `customer-${n}` });
  await round();
  const payload = { quota: "entitySubscriptions", used: 4, limit: 5 };
  expect(await warnings(project)).toEqual([{ triggerSlug: "svc.quota_near", payload }]);
});

test("a warning reaches only the subscriptions whose filter accepts it, and a repeated warning counts no fault", async () => {
  const project = await startProject();
  await using _node = project.node;
  await limit(project.projectId, 3);
  const filters = ["event.payload.used > 2", "event.payload.used > 3", "event.payload.jobId != ''"];
  const created: string[] = [];
  for (const filter of filters) created.push((await project.subscribe("svc", filter)).subscription?.id ?? "");
  expect([await round(), await round()]).toEqual([1, 0]);
  const found = created.map(async (id) => {
    const { deliveries } = await project.triggers.listDeliveries({ subscriptionId: id });
    const { subscription } = await project.triggers.getSubscription({ id });
    return [deliveries.length, subscription?.health?.filterFaults];
  });
  expect(await Promise.all(found)).toEqual([
    [1, 0],
    [0, 0],
    [0, 1],
  ]);
});

test("a check that fails prevents neither other checks nor other projects, and is reported", async () => {
  const project = await startProject();
  await using _node = project.node;
  await limit(project.projectId, 1);
  await project.subscribe("svc");
  const statements = cluster.db.sql.unsafe;
  cluster.db.sql.unsafe = ((...sent: Parameters<typeof statements>) => {
    if (sent[0].includes("count_project_toolkits")) throw new Error("the statement took too long");
    return statements.apply(cluster.db.sql, sent);
  }) as typeof statements;
  await expect(round()).rejects.toThrow("took too long");
  cluster.db.sql.unsafe = statements;
  expect(await warnings(project)).toHaveLength(1);
});
