import postgres from "postgres";
import { callRequest } from "../call-request.ts";
import type { BenchCase, BenchContext, CaseReport } from "../case.ts";
import { processCpuMs } from "../cpu.ts";
import { columnsOf } from "../growth/columns.ts";
import { Histogram, type LatencySummary } from "../histogram.ts";
import { readMemoryMb } from "../jobs/memory.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { raiseQuotas } from "../quotas.ts";
import { latencyCells, latencyColumns } from "../report.ts";
import { benchAdminToken, callServer } from "../server.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";
import { withNodes } from "./nodes.ts";

const entitiesMax = 100_000;
const batchSize = 100;
const changesMax = 200;
const ratePerSecond = 200;
/** Idle time in milliseconds before a process's memory is read. */
const idleMs = 3_000;
const [type, otherType] = ["order.changed", "order.never"];
const publishPath = "TriggersService/PublishEvents";

/** The two nodes of the measurement. Subscriptions change on `first`; events are published on `second`. */
type Setting = {
  readonly ctx: BenchContext;
  readonly first: System;
  readonly second: System;
  readonly databaseUrl: string;
  /** Key of a project without subscriptions. */
  readonly otherKey: string;
};

/** Result of the case. Times in milliseconds, memory in MB. */
type Result = {
  readonly latencies: readonly { readonly name: string; readonly latency: LatencySummary }[];
  /** Additional time at the median, and additional processor time of the node, of a call that follows a change on the other node. */
  readonly changeMs: number;
  readonly changeCpuMs: number;
  readonly ratio: number;
  readonly memory: number;
};

/** Subscriptions with an entity: the cost of many, for the other nodes and for other projects. */
export const entities: BenchCase = {
  name: "entities",
  about: "100,000 subscriptions with an entity in one project: what a change costs another node, and another project",
  run: (ctx) => {
    const environment = { SVC_WEBHOOK_AUDIENCE: "accounts" };
    const options = { subscriptions: [], counts: "events", nodeOptions: [], environment } as const;
    return withNodes(ctx, 2, options, async ([first, second], databaseUrl) => {
      if (first === undefined || second === undefined) throw new Error("two nodes were started");
      return report(await measure({ ctx, first, second, databaseUrl, otherKey: await setUp(first) }));
    });
  },
};

/** Creates the event types, and a second project. Returns the key of the second project. */
async function setUp(first: System): Promise<string> {
  await raiseQuotas(first, { calls: 1_000_000, posts: 1_000_000 });
  for (const name of [type, otherType]) await callServer(first.port, "TriggersService/PutEventType", { name });
  const admin = (call: string, message: object) =>
    callServer(first.port, `AdminService/${call}`, message, benchAdminToken) as Promise<never>;
  const { project }: { project: { id: string } } = await admin("CreateProject", { name: "other" });
  await raiseQuotas(first, { calls: 1_000_000, posts: 1_000_000 });
  const asked = { projectId: project.id, role: "ROLE_APPROVER", name: "bench" };
  const { key }: { key: string } = await admin("CreateApiKey", asked);
  await callServer(first.port, "TriggersService/PutEventType", { name: type }, key);
  return key;
}

async function measure(setting: Setting): Promise<Result> {
  const { ctx, second, otherKey } = setting;
  ctx.progress("the other project, before");
  await publishForAll(setting, otherKey);
  const before = await publishSteadily(setting);
  const memoryBefore = await readIdleMemory(second);
  ctx.progress(`making ${entitiesMax} subscriptions`);
  await subscribeAll(setting);
  await publishForAll(setting);
  const memory = (await readIdleMemory(second)) - memoryBefore;
  ctx.progress("the other project, beside them");
  const beside = await publishSteadily(setting);
  ctx.progress("changes on the other node");
  const { changed, calm } = await publishAfterChanges(setting);
  return {
    latencies: [
      { name: "another project: PublishEvent, before", latency: before },
      { name: "another project: PublishEvent, beside 100,000 subscriptions", latency: beside },
      { name: `PublishEvents of ${batchSize} entities, no change before`, latency: calm.latency },
      { name: `PublishEvents of ${batchSize} entities, after a change on another node`, latency: changed.latency },
    ],
    changeMs: changed.latency.p50 - calm.latency.p50,
    changeCpuMs: changed.cpuMs - calm.cpuMs,
    ...{ ratio: beside.p99 / before.p99, memory },
  };
}

/** Returns the latency of single events of the other project at a fixed rate. */
async function publishSteadily({ ctx, second, otherKey }: Setting): Promise<LatencySummary> {
  const { connections, seconds = 20 } = ctx.settings;
  const request = callRequest("svc.v1.TriggersService/PublishEvent", { type, payloadJson: "{}" }, otherKey);
  const load = { port: second.port, post: { request }, connections, ratePerSecond, seconds };
  const { latency, refused, firstRefusal } = await ctx.load.ask("run", load);
  if (refused > 0) throw new Error(`${refused} calls failed: ${firstRefusal}`);
  return latency;
}

/** Publishes one event of each entity, so that the node reads the subscriptions of all. */
async function publishForAll({ second }: Setting, key?: string): Promise<void> {
  const eachMax = 1_000;
  for (let from = 0; from < entitiesMax; from += eachMax)
    await callServer(second.port, publishPath, { events: eventsOf(from, eachMax) }, key);
}

function eventsOf(from: number, count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    type,
    payloadJson: "{}",
    entityId: entityOf((from + n) % entitiesMax),
  }));
}

function entityOf(number: number): string {
  return `customer-${number}`;
}

/** Creates one subscription by a call, and copies of it for all other entities. They are to another type, so they receive nothing. */
async function subscribeAll({ ctx, first, databaseUrl }: Setting): Promise<void> {
  const endpointUrl = `http://127.0.0.1:${await ctx.sink.ask("port", null)}/hook`;
  const slugs = { toolkitSlug: "events", triggerSlug: otherType };
  await callServer(first.port, "TriggersService/CreateSubscription", { endpointUrl, ...slugs, entityId: entityOf(0) });
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const columns = (await columnsOf(sql, "subscriptions")).map((column) => `"${column}"`);
    const own: Readonly<Record<string, string>> = {
      '"id"': "gen_random_uuid()",
      '"entity_id"': "'customer-' || number",
    };
    const eachMax = 5_000;
    for (let from = 1; from < entitiesMax; from += eachMax)
      await sql.unsafe(
        `insert into subscriptions (${columns.join(", ")})
         select ${columns.map((column) => own[column] ?? `s.${column}`).join(", ")}
         from (select * from subscriptions where entity_id = '${entityOf(0)}') s, generate_series($1::int4, $2::int4) as number`,
        [from, Math.min(from + eachMax, entitiesMax) - 1],
      );
    await sql`analyze`;
  } finally {
    await sql.end();
  }
}

/** Publishes events of several entities on one node, each time directly after `before`. Times in milliseconds. */
async function publishEach({ second }: Setting, froms: readonly number[], before: (index: number) => Promise<unknown>) {
  const latency = new Histogram();
  const cpuBefore = processCpuMs(second.pid) ?? Number.NaN;
  for (const [index, from] of froms.entries()) {
    await before(index);
    const startedAt = monotonicMicros();
    await callServer(second.port, publishPath, { events: eventsOf(from, batchSize) });
    latency.record(monotonicMicros() - startedAt);
  }
  const cpuMs = ((processCpuMs(second.pid) ?? Number.NaN) - cpuBefore) / froms.length;
  return { latency: latency.summary(), cpuMs };
}

/** Publishes events of entities of which a subscription has just changed on the other node, and then the same without changes. */
async function publishAfterChanges(setting: Setting) {
  const { port } = setting.first;
  const list = await callServer(port, "TriggersService/ListSubscriptions", { pageSize: changesMax });
  const { subscriptions } = list as { subscriptions: readonly { id: string; entityId: string }[] };
  const froms = subscriptions.map(({ entityId }) => Number(entityId.slice(entityOf(0).length - 1)));
  const change = (index: number) => {
    const message = { id: subscriptions[index]?.id, endpointUrl: `http://127.0.0.1:9/${index}` };
    return callServer(port, "TriggersService/UpdateSubscription", message);
  };
  const changed = await publishEach(setting, froms, change);
  const calm = await publishEach(setting, froms, async () => {});
  return { changed, calm };
}

async function readIdleMemory({ pid }: System): Promise<number> {
  await delay(idleMs);
  return readMemoryMb(pid);
}

function report({ latencies, changeMs, changeCpuMs, ratio, memory }: Result): CaseReport {
  return {
    columns: ["call", "calls", ...latencyColumns],
    rows: latencies.map(({ name, latency }) => [name, String(latency.count), ...latencyCells(latency)]),
    figures: [
      { name: "a change, on another node", value: spreadOf([changeMs]), unit: "ms", aim: { below: 5 } },
      { name: "its processor time there", value: spreadOf([changeCpuMs]), unit: "ms", aim: { below: 5 } },
      { name: "another project, p99 beside / before", value: spreadOf([ratio]), unit: "", aim: { below: 1.2 } },
      { name: "memory of a node that knows all entities", value: spreadOf([memory]), unit: "MB", aim: { below: 200 } },
    ],
    notes: [
      `two nodes; changes are made on one, events are published on the other, which knows the subscriptions of all ${entitiesMax.toLocaleString("en-US")} entities`,
      "a change: additional time of the call that follows it, at the median, compared with the same calls without changes",
      `the other project publishes ${ratePerSecond} events a second, each timed from the moment it was due`,
      "memory: growth of the resident memory over the same node that had published as many events of the other project",
    ],
  };
}
