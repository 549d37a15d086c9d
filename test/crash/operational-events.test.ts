import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createId, createSealer, parseVaultKeys, systemClock } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import { JobsService } from "@svc/gen/jobs";
import { TriggersService } from "@svc/gen/triggers";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, type TestNode } from "@svc/testing/node";
import { startTestReceiver } from "@svc/testing/receiver";
import { vaultKey } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// A node dies between a fact and its operational event, and another one directly after their commit. The fact and its event are then stored
// together, and the event arrives once.

const vault = vaultKey();
const lock = 7_700_077;
let database: TestDatabase;
let node: TestNode;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  database = await createTestDatabase();
  node = createTestNode(database.db, { clock: systemClock, sealer: createSealer(parseVaultKeys(vault)) });
  await database.db.sql.unsafe(`
    create function wait_here() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${lock}); return new; end $$;
    create trigger wait_here before insert on events for each row when (new.toolkit_slug = 'svc') execute function wait_here()`);
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await node[Symbol.asyncDispose]();
  await database.drop();
});

const fixture = fileURLToPath(new URL("operational-events.fixture.ts", import.meta.url));

async function startNode(deliveries: object): Promise<ChildProcess> {
  const given = JSON.stringify({ databaseUrl: database.url, vaultKey: vault, deliveries });
  const child = fork(await bundled(fixture), [given], {
    execArgv: [],
    env: { ...compileCache, PATH: process.env["PATH"] },
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Adds a project, with clients and a function that returns the triggers of its stored operational events. */
async function newProject() {
  const nowMs = systemClock.now();
  const { id: projectId } = await createProject(database.db, `events-${nowMs}`, nowMs);
  const keyId = createId("key", nowMs);
  const key = { id: keyId, projectId, role: "approver", name: "", hint: "", createdAt: nowMs } as const;
  const open = { expiresAt: null, revokedAt: null, lastUsedAt: null };
  await createApiKey(database.db, { ...key, ...open, digest: Buffer.from(keyId) });
  const caller = { projectId, keyId, role: "approver" } as const;
  const triggers = node.client(TriggersService, caller);
  const stored = async () => {
    const { events } = await triggers.listEvents({ toolkitSlug: "svc" });
    return events.map(({ triggerSlug }) => triggerSlug);
  };
  return { triggers, jobs: node.client(JobsService, caller), stored };
}

type Project = Awaited<ReturnType<typeof newProject>>;

const health = { backoffMinMs: 50, backoffMaxMs: 50, failingMaxMs: 3_600_000, goneMaxMs: 3_600_000, goneMin: 3 };

/** Queues a delivery to a dead endpoint. The returned function is true while the subscription is active and the delivery pending. */
async function failDelivery({ triggers }: Project, endpointUrl: string) {
  const { subscription } = await triggers.createSubscription({ endpointUrl });
  const subscriptionId = subscription?.id ?? "";
  await triggers.putEventType({ name: "try" });
  await triggers.publishEvent({ type: "try", payloadJson: "{}" });
  return async () => {
    const { subscription: found } = await triggers.getSubscription({ id: subscriptionId });
    const { deliveries } = await triggers.listDeliveries({ subscriptionId });
    return found?.active === true && deliveries.every(({ state }) => state === "pending");
  };
}

async function failJob({ jobs }: Project) {
  const steps = [{ id: "stop", fail: "It stops" }];
  const { job } = await jobs.submitJob({ programJson: JSON.stringify({ version: 1, title: "Stops", steps }) });
  return async () => (await jobs.getJob({ id: job?.id ?? "" })).job?.finishedAt === undefined;
}

test.each([
  ["svc.delivery_dead", { retryScheduleMs: [], health }, failDelivery],
  [
    "svc.subscription_disabled",
    { retryScheduleMs: Array(100).fill(50), health: { ...health, failingMaxMs: 100 } },
    failDelivery,
  ],
  ["svc.job_failed", { retryScheduleMs: [], health }, failJob],
] as const)("a kill -9 around the commit of %s leaves one event, which arrives", async (trigger, limits, fail) => {
  await using receiver = await startTestReceiver();
  await using dead = await startTestReceiver();
  dead.script({ status: 500 });
  const project = await newProject();
  await project.triggers.createSubscription({ endpointUrl: receiver.url, toolkitSlug: "svc" });
  const holder = openDatabase({ url: database.url, connectionsMax: 1 });
  await holder.sql`select pg_advisory_lock(${lock}::int8)`;
  const isOpen = await fail(project, dead.url);
  const doomed = await startNode(limits);
  const waiting = () => database.db.sql`
    select 1 from pg_stat_activity where application_name = 'svc-crash-events' and wait_event = 'advisory'`;
  await until(async () => (await waiting()).length > 0, "the node is between the fact and its event");
  await kill(doomed);
  await holder.close();
  await until(
    async () =>
      (await database.db.sql`select 1 from pg_stat_activity where application_name = 'svc-crash-events'`).length === 0,
    "the store has noticed the death",
  );
  expect(await isOpen()).toBe(true);
  expect(await project.stored()).toEqual([]);
  const second = await startNode(limits);
  await until(async () => (await project.stored()).length > 0, "the event is stored");
  await kill(second);
  expect(await isOpen()).toBe(false);
  const others = await Promise.all([startNode(limits), startNode(limits)]);
  await until(() => receiver.requests.length > 0, "the event arrives");
  const bodies = receiver.requests.map(
    ({ body }) => JSON.parse(body.toString()) as { id: string; triggerSlug: string },
  );
  expect(new Set(bodies.map(({ id }) => id)).size).toBe(1);
  expect(bodies[0]?.triggerSlug).toBe(trigger);
  expect(await project.stored()).toEqual([trigger]);
  for (const other of others) await kill(other);
});
