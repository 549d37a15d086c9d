import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { getPriority } from "node:os";
import { createTestDataDir } from "@svc/testing/data-dir";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import {
  adminToken,
  bootstrapKey,
  calendarSecret,
  call,
  freePort,
  postCalendar,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { startSubscriber } from "@svc/testing/subscriber";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { numbersOf } from "./crash/load.ts";

// A start of the service is three processes, and other tests may use the machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const ownVaultKey = vaultKey();
let database: TestDatabase;
let server: ServerProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  server = await startServerProcess({
    SVC_PROCESSES: "2",
    SVC_PROCESS_ROLES: "off",
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: ownVaultKey,
    SVC_TOOLKITS: fewToolkits,
    SVC_ADMIN_LISTEN: "127.0.0.1:0",
  });
  await announced(server);
});
afterAll(async () => {
  await server.end("SIGKILL");
  await database.drop();
});

const linesOf = ({ output }: ServerProcess) =>
  output()
    .trimEnd()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as { msg: string; pid?: number; adminUrl?: string; processes?: number; process?: number },
    );

/** Waits until the start is announced. All processes listen by then. */
async function announced(started: ServerProcess): Promise<void> {
  await until(() => started.output().includes("listens on"), 60_000, "the start is told");
}

/** Returns the number and the process id of each running process. The last announcement of a number counts. */
function processesOf(started: ServerProcess): Map<number, number> {
  const ready = linesOf(started).flatMap(({ msg, pid }) => {
    const [, number] = /^process (\d) of 2 is ready$/.exec(msg) ?? [];
    return number === undefined || pid === undefined ? [] : [[Number(number), pid] as const];
  });
  return new Map(ready);
}

async function metric(name: string): Promise<number> {
  const adminUrl = linesOf(server).find(({ adminUrl: url }) => url !== undefined)?.adminUrl;
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

/** Makes one request over a new connection. Returns its status, or the error of the connection. */
function askOnce(to = server): Promise<string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${bootstrapKey}`, "content-type": "application/json" };
    const sent = request(
      `${to.url}/svc.v1.IdentityService/GetIdentity`,
      { method: "POST", headers, agent: new Agent({ keepAlive: false }) },
      (answer) => {
        answer.resume();
        answer.on("end", () => resolve(String(answer.statusCode)));
        answer.on("error", () => resolve("reset"));
      },
    );
    sent.setTimeout(30_000, () => {
      resolve("hung");
      sent.destroy();
    });
    sent.on("error", ({ code = "" }: NodeJS.ErrnoException) => resolve(code));
    sent.end("{}");
  });
}

test("both processes answer on one port and their metrics are one sum, on the administrator's listener; each line of the log is whole", async () => {
  const before = await metric("svc_rpc_calls_total");
  const answers = await Promise.all(Array.from({ length: 40 }, () => askOnce()));
  expect(new Set(answers)).toEqual(new Set(["200"]));
  expect((await metric("svc_rpc_calls_total")) - before).toBe(40);
  expect(await metric("svc_processes")).toBe(2);
  const answering = () => new Set(linesOf(server).flatMap(({ msg, process = 0 }) => (msg === "call" ? [process] : [])));
  await until(() => answering().size === 2, 20_000, "both processes have answered");
  expect(answering()).toEqual(new Set([1, 2]));
  expect(linesOf(server).filter(({ processes }) => processes === 2)).toHaveLength(1);
});

test("no secret stands in the arguments of a process", () => {
  const password = new URL(database.url).password;
  for (const pid of [server.process.pid, ...processesOf(server).values()]) {
    const given = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    for (const secret of [ownVaultKey, bootstrapKey, adminToken, calendarSecret, password, database.url]) {
      if (secret !== "") expect(given).not.toContain(secret);
    }
  }
});

test("a process that is killed under load leaves no request without an answer or an end, and is started again; what was accepted is delivered, and no counter falls", async () => {
  const receiver = await startSubscriber();
  await call(server, "TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  const load = { isStopped: false, ends: new Map<string, number>(), accepted: new Set<number>(), next: 1 };
  const ask = async () => {
    while (!load.isStopped) {
      const end = await askOnce();
      load.ends.set(end, (load.ends.get(end) ?? 0) + 1);
    }
  };
  const post = async () => {
    while (!load.isStopped) {
      const number = load.next++;
      const status = await postCalendar(server, "killed", number).catch(() => 0);
      if (status === 202) load.accepted.add(number);
    }
  };
  const running = [...Array.from({ length: 12 }, ask), ...Array.from({ length: 2 }, post)];
  await until(() => load.accepted.size > 20, 30_000, "posts are accepted");
  const jobs = await Promise.all(Array.from({ length: 6 }, () => submitWait()));
  const counted = await metric("svc_ingest_posts_total");
  const [number, pid] = [...processesOf(server)][0] ?? [0, 0];
  process.kill(pid, "SIGKILL");
  const acceptedBefore = load.accepted.size;
  await until(() => load.accepted.size > acceptedBefore + 20, 30_000, "the other goes on");
  await until(() => processesOf(server).get(number) !== pid, 60_000, "the process is back");
  load.isStopped = true;
  await Promise.all(running);
  expect([...load.ends.keys()].filter((end) => !/^(?:200|reset|ECONNRESET|ECONNREFUSED|EPIPE)$/.test(end))).toEqual([]);
  expect(server.output()).toContain(`process ${number} ended (SIGKILL); it is started again in`);
  expect(await metric("svc_processes")).toBe(2);
  expect(await metric("svc_ingest_posts_total")).toBeGreaterThanOrEqual(counted);
  // The leases of the killed process would end only after 30 s.
  for (const table of ["delivery_tasks", "job_tasks"] as const) await endLeases(database.url, table);
  const arrived = () => numbersOf(receiver.received);
  await until(() => [...load.accepted].every((one) => arrived().has(one)), 60_000, "what was accepted is delivered");
  for (const id of jobs)
    await until(async () => (await statusOf(id)) === "JOB_STATUS_SUCCEEDED", 60_000, `job ${id} ends`);
  await receiver.close();
});

type JobAnswer = { job: { id: string; status: string } };

async function submitWait(to = server): Promise<string> {
  const programJson = JSON.stringify({ version: 1, title: "Wait", steps: [{ id: "pause", wait: "1s" }] });
  return (await call<JobAnswer>(to, "JobsService/SubmitJob", { programJson })).job.id;
}

async function statusOf(id: string, of = server): Promise<string> {
  return (await call<JobAnswer>(of, "JobsService/GetJob", { id })).job.status;
}

test("SIGTERM drains all: a delivery under way is finished, and the end is 0", async () => {
  const held = Promise.withResolvers<() => void>();
  const receiver = await startSubscriber();
  receiver.answer = (_received, res) => held.resolve(() => res.writeHead(204).end());
  const { subscription } = await call<{ subscription: { id: string } }>(server, "TriggersService/CreateSubscription", {
    endpointUrl: receiver.url,
  });
  await call(server, "TriggersService/SendTestEvent", { subscriptionId: subscription.id });
  const answer = await held.promise;
  server.process.kill("SIGTERM");
  await until(() => server.output().includes("stopping"), 60_000, "it stops");
  answer();
  expect(await server.exited).toBe(0);
  expect(linesOf(server).filter(({ msg, process }) => msg === "stopped" && process !== undefined)).toHaveLength(2);
  await receiver.close();
});

test("with roles, one process takes every request and the other runs jobs with rows, also if it is killed", async () => {
  const own = await createTestDatabase();
  const roles = await startServerProcess({
    SVC_PROCESSES: "2",
    SVC_PROCESS_ROLES: "on",
    SVC_DATABASE_URL: own.url,
    SVC_VAULT_KEY: ownVaultKey,
    SVC_TOOLKITS: fewToolkits,
  });
  await announced(roles);
  const ends = await Promise.all(Array.from({ length: 20 }, () => askOnce(roles)));
  expect(new Set(ends)).toEqual(new Set(["200"]));
  const answering = linesOf(roles).flatMap(({ msg, process = 0 }) => (msg === "call" ? [process] : []));
  expect(new Set(answering)).toEqual(new Set([1]));
  const rowsPid = processesOf(roles).get(2) ?? 0;
  const requestsPid = processesOf(roles).get(1) ?? 0;
  expect(getPriority(rowsPid)).toBeGreaterThan(getPriority(requestsPid));
  process.kill(rowsPid, "SIGKILL");
  // A `wait` step leaves a due task, which only the second process claims.
  const id = await submitWait(roles);
  await until(async () => (await statusOf(id, roles)) === "JOB_STATUS_SUCCEEDED", 60_000, `job ${id} ends`);
  expect(processesOf(roles).get(2)).not.toBe(rowsPid);
  roles.process.kill("SIGTERM");
  expect(await roles.exited).toBe(0);
  await own.drop();
});

test("over the embedded store the key is told of once, a port in use is refused in one line, and the processes end with their supervisor", async () => {
  const folder = await createTestDataDir();
  const variables = { SVC_PROCESSES: "2", SVC_SANDBOX: "off", SVC_TOOLKITS: fewToolkits, SVC_BOOTSTRAP_KEY: "" };
  const embedded = await startServerProcess({ ...variables, SVC_DATA_DIR: folder });
  await announced(embedded);
  await until(() => embedded.output().includes("first-key"), 20_000, "the key is told of");
  const key = readFileSync(`${folder}/first-key`, "utf8").trim();
  await call(embedded, "CatalogService/ListToolkits", {}, key);
  expect(embedded.output().split("kept in this file")).toHaveLength(2);
  expect(embedded.output()).not.toContain(key);
  const second = createTestDatabase();
  const refused = startServerProcess({
    ...variables,
    SVC_PORT: String(embedded.port),
    SVC_DATABASE_URL: (await second).url,
    SVC_VAULT_KEY: ownVaultKey,
  });
  await expect(refused).rejects.toThrow(
    /ended with 1:\n(?:\{"level":"info"[^\n]*\n)?\{"level":"fatal"[^\n]*"svc cannot start: SVC_HOST, SVC_PORT: cannot listen on [^\n]* \(EADDRINUSE\)[^\n]*\n$/,
  );
  await (await second).drop();
  const pids = [...processesOf(embedded).values()];
  await embedded.end("SIGKILL");
  await until(() => !pids.some(isRunning), 20_000, "the processes are gone");
});

test("nodes that are started one by one share a port, and a node that shares none is refused", async () => {
  const own = await createTestDatabase();
  const shared = { SVC_DATABASE_URL: own.url, SVC_VAULT_KEY: ownVaultKey, SVC_TOOLKITS: fewToolkits };
  const port = String(await freePort());
  const variables = { ...shared, SVC_PORT: port, SVC_REUSE_PORT: "on", SVC_ADMIN_LISTEN: "127.0.0.1:0" };
  const nodes = [await startServerProcess(variables), await startServerProcess(variables)];
  const [first, second] = nodes as [ServerProcess, ServerProcess];
  const answers = (node: ServerProcess) => linesOf(node).filter(({ msg }) => msg === "call").length;
  await until(async () => {
    expect(await askOnce(first)).toBe("200");
    return nodes.every((node) => answers(node) > 0);
  });
  expect(await first.end("SIGTERM")).toBe(0);
  for (let n = 0; n < 5; n++) expect(await askOnce(second)).toBe("200");
  await expect(startServerProcess({ ...variables, SVC_REUSE_PORT: "off" })).rejects.toThrow("EADDRINUSE");
  await second.end("SIGTERM");
  await own.drop();
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
