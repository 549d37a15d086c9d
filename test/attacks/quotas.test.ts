import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { openDatabase } from "@svc/db/connect";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { readAnswer, type TestAnswer } from "@svc/testing/server";
import {
  adminToken,
  postCalendar,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownToolkit } from "./own-toolkit.ts";
import { type AttackProject, createAttackProject } from "./project.ts";
import { rounds } from "./rounds.ts";

// Tests that a project which exceeds a quota is refused with the reason of the quota, and no other project is. They use two nodes on one
// database.

let database: TestDatabase;
let nodes: readonly [ServerProcess, ServerProcess];
let bystander: AttackProject;
let projects = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  // The nodes send no deliveries, so that these stay pending.
  const variables = {
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_TOOLKITS: fewToolkits,
    SVC_ROLE: "api",
    SVC_SANDBOX: "off",
    SVC_WEBHOOK_AUDIENCE: "projects",
  };
  nodes = [await startServerProcess(variables), await startServerProcess(variables)];
  bystander = await createAttackProject(nodes[0], "bystander");
});
afterAll(async () => {
  for (const node of nodes ?? []) await node.end("SIGTERM");
  await database?.drop();
});

function newProject(quotas: Readonly<Record<string, number>>): Promise<AttackProject> {
  return createAttackProject(nodes[0], `project ${++projects}`, quotas);
}

async function post(node: { url: string }, method: string, body: object, key: string): Promise<TestAnswer> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  return readAnswer(
    await fetch(`${node.url}/svc.v1.${method}`, { method: "POST", headers, body: JSON.stringify(body) }),
  );
}

/** Makes the same call many times at the same time, on both nodes in turn. */
function postMany(count: number, method: string, body: (n: number) => object, key: string): Promise<TestAnswer[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => post(nodes[n % 2 === 0 ? 0 : 1], method, body(n), key)));
}

/** Makes a call on the first node whose body never arrives. */
async function openUnfinishedCall(key: string): Promise<Socket> {
  const socket = connect(nodes[0].port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(
    `POST /svc.v1.TriggersService/ListEvents HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n` +
      "content-type: application/json\r\ncontent-length: 2\r\n\r\n{",
  );
  return socket;
}

async function othersGoOn(): Promise<void> {
  for (const node of nodes)
    expect((await post(node, "TriggersService/ListEvents", {}, bystander.key)).status).toBe(200);
}

/** Checks that `taken` calls were accepted and all others were refused with the reason. Returns the number of refused calls. */
function expectTaken(answers: readonly TestAnswer[], taken: number, reason: string): number {
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map((answer) => `${answer.status} ${answer.code} ${answer.reason}`))).toEqual(
    new Set(refused.length === 0 ? [] : [`429 resource_exhausted ${reason}`]),
  );
  expect(answers.length - refused.length).toBe(taken);
  return refused.length;
}

describe("calls", () => {
  test("beyond their rate are refused with when to come again, and another project's are not", async () => {
    const { key } = await newProject({ calls: 20 });
    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => post(nodes[0], "TriggersService/ListEvents", {}, key)),
      );
      const refused = answers.filter(({ status }) => status === 429);
      // The calls of one second are accepted at once, and a few more on a slow machine.
      expect(refused.length).toBeGreaterThan(20);
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(round === 0 ? 20 : 0);
      expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(["QUOTA_CALLS"]));
      expect(refused[0]?.headers.get("retry-after")).toBe("1");
      await othersGoOn();
    }
    await until(async () => (await post(nodes[0], "TriggersService/ListEvents", {}, key)).status === 200);
  });

  test("over MCP count too", async () => {
    const { key } = await newProject({ calls: 2 });
    const ask = () =>
      fetch(`${nodes[0].url}/mcp`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          authorization: `Bearer ${key}`,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(await refused[0]?.json()).toMatchObject({
      details: [{ debug: { reason: "QUOTA_CALLS", help: expect.stringMatching(/ Retry after 1 s\.$/) } }],
    });
  });

  test("that are under way are bounded, also those whose bodies never come", async () => {
    const { key } = await newProject({ concurrentCalls: 5 });
    const sockets: Socket[] = [];
    const read = () => post(nodes[0], "TriggersService/ListEvents", {}, key);
    // One of these calls may have been refused while the read occupied the last free place. So calls are added until no place is left.
    await until(async () => {
      sockets.push(await openUnfinishedCall(key));
      return (await read()).reason === "QUOTA_CONCURRENT_CALLS";
    });
    expect(sockets.length).toBeGreaterThanOrEqual(5);
    await othersGoOn();
    for (const socket of sockets) socket.destroy();
    await until(async () => (await read()).status === 200);
  });

  test("are held to a quota that was set on another node within a second or two", async () => {
    const { key, projectId } = await newProject({});
    const read = () => post(nodes[1], "TriggersService/ListEvents", {}, key);
    for (let n = 0; n < 5; n++) expect((await read()).status).toBe(200);
    await post(nodes[0], "AdminService/SetProjectPolicy", { projectId, quotas: { calls: 1 } }, adminToken);
    await until(async () => (await read()).status === 429, 5_000, "the quota");
  });
});

describe("what is counted over all nodes", () => {
  const subscription = { endpointUrl: "http://127.0.0.1:9/" };

  test("subscriptions: of any number at once none passes the quota", async () => {
    for (let round = 0; round < rounds; round++) {
      const { key } = await newProject({ subscriptions: 7 });
      const answers = await postMany(30, "TriggersService/CreateSubscription", () => subscription, key);
      expectTaken(answers, 7, "QUOTA_SUBSCRIPTIONS");
      const { subscriptions } = (await post(nodes[1], "TriggersService/ListSubscriptions", {}, key)).json;
      expect(subscriptions).toHaveLength(7);
    }
    await othersGoOn();
  });

  test("subscriptions with an entity: of any number at once none passes the quota, and no entity has more than 50", async () => {
    for (let round = 0; round < rounds; round++) {
      const { key } = await newProject({ subscriptions: 1, entitySubscriptions: 55 });
      const ofEntity = (entityId: string) => () => ({ ...subscription, entityId });
      const ada = await postMany(60, "TriggersService/CreateSubscription", ofEntity("ada"), key);
      expectTaken(ada, 50, "QUOTA_ENTITY_SUBSCRIPTIONS");
      const others = await postMany(20, "TriggersService/CreateSubscription", (n) => ofEntity(`${n}`)(), key);
      expectTaken(others, 5, "QUOTA_ENTITY_SUBSCRIPTIONS");
      expectTaken(
        await postMany(5, "TriggersService/CreateSubscription", () => subscription, key),
        1,
        "QUOTA_SUBSCRIPTIONS",
      );
    }
    await othersGoOn();
  });

  const programJson = JSON.stringify({
    version: 1,
    title: "Wait",
    steps: [{ id: "pause", wait: "1h" }],
    result: {},
  });

  test("jobs: of any number at once none passes the quota, with and without idempotency keys", async () => {
    for (let round = 0; round < rounds; round++) {
      const { key, projectId } = await newProject({ jobs: 9 });
      const submission = (n: number) => ({ programJson, idempotencyKey: n % 3 === 0 ? `k${n}` : "" });
      const answers = await postMany(40, "JobsService/SubmitJob", submission, key);
      expectTaken(answers, 9, "QUOTA_JOBS");
      expect(answers.find(({ status }) => status === 429)?.headers.get("retry-after")).toBe("5");
      const { quotas } = (await post(nodes[1], "AdminService/GetProjectUsage", { projectId }, adminToken)).json;
      expect(quotas.find(({ name }: { name: string }) => name === "jobs")).toMatchObject({ used: 9, most: 9 });
    }
    await othersGoOn();
  });

  test("a simulated twin counts, and a job that ends makes room", async () => {
    const { key } = await newProject({ jobs: 2 });
    const submit = (more: object = {}) => post(nodes[0], "JobsService/SubmitJob", { programJson, ...more }, key);
    const first = await submit();
    expect((await submit({ simulateFirst: true })).reason).toBe("QUOTA_JOBS");
    expect((await submit()).status).toBe(200);
    expect((await submit()).reason).toBe("QUOTA_JOBS");
    const { id } = first.json.job;
    await post(nodes[1], "JobsService/CancelJob", { id }, key);
    // The node has the role `api` and runs no jobs. So the job is ended here, as a worker would do it.
    const db = openDatabase({ url: database.url, connectionsMax: 1 });
    await db.sql`update jobs set status = 'cancelled', finished_at = now() where project_id in
      (select project_id from jobs where cancel_requested_at is not null) and cancel_requested_at is not null`;
    await db.close();
    expect((await submit()).status).toBe(200);
  });

  test("private toolkits: of any number at once none passes the quota", async () => {
    const { key } = await newProject({ privateToolkits: 2 });
    const answers = await postMany(
      6,
      "CatalogService/PublishToolkit",
      (n) => ({ definitionJson: ownToolkit(`own_${n}`) }),
      key,
    );
    expectTaken(answers, 2, "QUOTA_PRIVATE_TOOLKITS");
    expect((await post(nodes[1], "CatalogService/ListToolkits", {}, bystander.key)).status).toBe(200);
  });

  test("pending deliveries: test events and replays are refused beyond", async () => {
    const { key } = await newProject({ pendingDeliveries: 5 });
    const made = await post(nodes[0], "TriggersService/CreateSubscription", subscription, key);
    const subscriptionId = made.json.subscription.id as string;
    const answers: TestAnswer[] = [];
    for (let n = 0; n < 8; n++) {
      answers.push(await post(nodes[n % 2 === 0 ? 0 : 1], "TriggersService/SendTestEvent", { subscriptionId }, key));
    }
    expectTaken(answers, 5, "QUOTA_PENDING_DELIVERIES");
    await othersGoOn();
  });
});

test("streams that are open are bounded, and closing one makes room", async () => {
  const { key } = await newProject({ openStreams: 3 });
  const programJson = JSON.stringify({ version: 1, title: "W", steps: [{ id: "w", wait: "1h" }], result: {} });
  const jobId = (await post(nodes[0], "JobsService/SubmitJob", { programJson }, key)).json.job.id as string;
  const message = JSON.stringify({ jobId });
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), Buffer.from(message)]);
  const open = async () => {
    const closing = new AbortController();
    const answer = await fetch(`${nodes[0].url}/svc.v1.JobsService/WatchJob`, {
      method: "POST",
      headers: { "content-type": "application/connect+json", authorization: `Bearer ${key}` },
      body: frame,
      signal: closing.signal,
    });
    const reader = answer.body?.getReader();
    const first = Buffer.from((await reader?.read())?.value ?? []).toString("latin1");
    return { close: () => closing.abort(), isRefused: first.includes("QUOTA_OPEN_STREAMS"), first };
  };
  const streams = [await open(), await open(), await open()];
  expect(streams.map(({ isRefused }) => isRefused)).toEqual([false, false, false]);
  expect((await open()).isRefused).toBe(true);
  for (const stream of streams) stream.close();
  await until(async () => {
    const stream = await open();
    stream.close();
    return !stream.isRefused;
  });
});

describe("posts", () => {
  const setQuotas = (projectId: string, quotas: object) =>
    post(nodes[0], "AdminService/SetProjectPolicy", { projectId, quotas }, adminToken);
  const everyProject = async () =>
    (
      (await post(nodes[0], "AdminService/ListProjects", { pageSize: 500 }, adminToken)).json.projects as {
        id: string;
      }[]
    ).map(({ id }) => id);
  const eventsOf = async (key: string, since: string) =>
    ((await post(nodes[1], "TriggersService/ListEvents", { since, pageSize: 500 }, key)).json.events as unknown[])
      .length;

  test("are refused only when every project that would receive them is over, and nothing that was accepted is lost", async () => {
    const over = await newProject({ posts: 1 });
    const since = new Date().toISOString();
    let message = 0;
    const send = (count: number) =>
      Promise.all(Array.from({ length: count }, () => postCalendar(nodes[0], "channel-quota", ++message)));
    // As long as the other project has room, the project that is over its quota also receives all posts, and they are charged to it.
    expect(new Set(await send(40))).toEqual(new Set([202]));
    expect([await eventsOf(over.key, since), await eventsOf(bystander.key, since)]).toEqual([40, 40]);
    const usage = await post(nodes[0], "AdminService/GetProjectUsage", { projectId: over.projectId }, adminToken);
    expect(usage.json.postsBeyond).toBeGreaterThan(0);
    const ids = await everyProject();
    for (const id of ids) await setQuotas(id, { posts: 1 });
    const statuses: number[] = [];
    for (let round = 0; round < 5 * rounds; round++) statuses.push(...(await send(20)));
    const accepted = statuses.filter((status) => status === 202).length;
    expect(new Set(statuses)).toEqual(new Set([202, 429]));
    expect(await eventsOf(bystander.key, since)).toBe(40 + accepted);
    expect(await eventsOf(over.key, since)).toBe(40 + accepted);
    for (const id of ids) await setQuotas(id, {});
    await until(async () => (await send(1))[0] === 202);
  });

  test("are refused while every project has as many deliveries pending, or bytes stored, as it may", async () => {
    const { key } = await newProject({});
    await post(nodes[0], "TriggersService/CreateSubscription", { endpointUrl: "http://127.0.0.1:9/" }, key);
    const ids = await everyProject();
    for (const quotas of [{ pendingDeliveries: 3 }, { storedBytes: 1 }]) {
      for (const id of ids) await setQuotas(id, quotas);
      let message = 0;
      const answer = () => postCalendar(nodes[0], `channel-${Object.keys(quotas)}`, ++message);
      if ("pendingDeliveries" in quotas) {
        // The other projects have no subscription, so they have room.
        for (let n = 0; n < 20; n++) expect(await answer()).toBe(202);
      } else {
        await until(async () => (await answer()) === 429, 20_000, "the quota of bytes");
      }
      for (const id of ids) await setQuotas(id, {});
      await until(async () => (await answer()) === 202);
    }
  });
});
