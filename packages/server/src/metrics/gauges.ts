import type { Clock } from "@svc/core";
import type { DeploymentHealth } from "@svc/db/activity/health";
import { Counter, Gauge } from "prom-client";
import type { ProjectFigures } from "../admission/project-metrics.ts";
import type { BodyStats } from "../body/body-budget.ts";
import type { ConnectionStats } from "../listen/connections.ts";
import type { Registers } from "./exemplars.ts";

/** The objects from which the gauges (metrics of a current value) are read at each scrape. */
export type MetricsSources = {
  clock: Clock;
  /** Returns the number of pending deliveries of the whole deployment. Called at most every 5 seconds. */
  countBacklog: () => Promise<number>;
  /**
   * Returns the number of deliveries of the whole deployment that wait because their subscription limits how fast it receives deliveries.
   * Called at most every 5 seconds.
   */
  countPaced: () => Promise<number>;
  /** Returns the number of open sessions of the portal of the whole deployment. Called at most every 5 seconds. */
  countPortalSessions: () => Promise<number>;
  /** Returns the number of toolkits of the whole deployment whose changes wait for an approver. Called at most every 5 seconds. */
  countChangesWaiting: () => Promise<number>;
  /** Returns counts and ages of the whole deployment. Called at most every 5 seconds. */
  readHealth: () => Promise<DeploymentHealth>;
  /** True if a toolkit with this slug is shared by all projects. */
  isShared: (toolkitSlug: string) => boolean;
  /** True if this process makes spans. */
  isTraced: boolean;
  /** Returns the number of sessions with MCP servers that this node keeps. */
  upstreamSessions: () => number;
  dispatcher: () => { held: number; inFlight: number };
  connections: () => ConnectionStats;
  bodies: () => BodyStats;
  /** Returns for each project how long its work has occupied the event loop of this node, in milliseconds. */
  spentMs: () => ReadonlyMap<string, number>;
  /** `bytes`: memory that steps of jobs use for their rows. `waiting`: number of steps that wait for memory. */
  memory: () => { readonly bytes: number; readonly waiting: number };
  /** Returns the numbers of calls, webhook posts and refusals of each project on this node since its start. */
  projects: () => Iterable<ProjectFigures>;
};

/** Maximum number of projects whose metrics are shown under their own id. The metrics of all other projects are added up under one name. */
const projectsMax = 20;

/** Registers the gauges of a node: deliveries, and projects' time on the event loop. */
export function registerGauges(registry: Registers[number], sources: MetricsSources): void {
  const { clock, countBacklog, countPaced, dispatcher, spentMs } = sources;
  const registers = [registry];
  registerMemory(registers, sources);
  registerHealth(registers, sources);
  const backlog = atMostEvery(5_000, clock, countBacklog);
  new Gauge({
    name: "svc_delivery_backlog",
    help: "Pending deliveries of the deployment, exact up to 100,000; NaN while the database is unavailable.",
    // Every process reports the number of deliveries of the whole deployment. So the number for the service is the maximum of these numbers
    // and not their sum.
    aggregator: "max",
    registers,
    async collect() {
      this.set(await backlog().catch(() => Number.NaN));
    },
  });
  const paced = atMostEvery(5_000, clock, countPaced);
  new Gauge({
    name: "svc_delivery_paced_waiting",
    help: "Due deliveries of the deployment that wait for the pace of their subscription, up to 100,000; NaN while the database is unavailable.",
    aggregator: "max",
    registers,
    async collect() {
      this.set(await paced().catch(() => Number.NaN));
    },
  });
  const portalSessions = atMostEvery(5_000, clock, sources.countPortalSessions);
  new Gauge({
    name: "svc_portal_sessions",
    help: "Open sessions of the portal of the deployment, at most 10,000; NaN while the database is unavailable.",
    aggregator: "max",
    registers,
    async collect() {
      this.set(await portalSessions().catch(() => Number.NaN));
    },
  });
  const changesWaiting = atMostEvery(5_000, clock, sources.countChangesWaiting);
  new Gauge({
    name: "svc_toolkit_changes_waiting",
    help: "Imported toolkits of the deployment whose changes wait for an approver, at most 10,000; NaN while the database is unavailable.",
    aggregator: "max",
    registers,
    async collect() {
      this.set(await changesWaiting().catch(() => Number.NaN));
    },
  });
  new Gauge({
    name: "svc_upstream_sessions",
    help: "Sessions with MCP servers that this node keeps.",
    registers,
    collect() {
      this.set(sources.upstreamSessions());
    },
  });
  new Gauge({ name: "svc_processes", help: "Number of processes that these figures sum up.", registers }).set(1);
  new Gauge({
    name: "svc_project_loop_seconds",
    help: "Seconds of the event loop that the metered work of a project took since the start: the 20 projects with the most, the rest as `other`.",
    labelNames: ["project"],
    registers,
    collect() {
      this.reset();
      const all = [...spentMs()].sort(([, a], [, b]) => b - a);
      for (const [projectId, ms] of all.slice(0, projectsMax)) this.inc({ project: projectId || "other" }, ms / 1000);
      for (const [, ms] of all.slice(projectsMax)) this.inc({ project: "other" }, ms / 1000);
    },
  });
  new Gauge({
    name: "svc_delivery_held",
    help: "Deliveries that this node has leased.",
    registers,
    collect() {
      this.set(dispatcher().held);
    },
  });
  new Gauge({
    name: "svc_delivery_in_flight",
    help: "Attempts that this node is making now.",
    registers,
    collect() {
      this.set(dispatcher().inFlight);
    },
  });
}

/** Registers the health of the deployment. Every process reports the same numbers, so the number for the service is their maximum. */
function registerHealth(registers: Registers, { clock, readHealth }: MetricsSources): void {
  const health = atMostEvery(5_000, clock, readHealth);
  const unknown = () => undefined;
  new Gauge({
    name: "svc_queue_oldest_seconds",
    help: "Age of the oldest due work of the deployment that no node has taken, by queue: deliveries, jobs, schedules. Without failing endpoints.",
    labelNames: ["queue"],
    aggregator: "max",
    registers,
    async collect() {
      const now = await health().catch(unknown);
      this.set({ queue: "deliveries" }, now?.deliveriesSeconds ?? Number.NaN);
      this.set({ queue: "jobs" }, now?.jobsSeconds ?? Number.NaN);
      this.set({ queue: "schedules" }, now?.schedulesSeconds ?? Number.NaN);
    },
  });
  new Gauge({
    name: "svc_accounts",
    help: "Connected accounts of the deployment by state: active, or expired, which must be connected again; at most 10,000 each.",
    labelNames: ["state"],
    aggregator: "max",
    registers,
    async collect() {
      const now = await health().catch(unknown);
      this.set({ state: "active" }, now?.activeAccounts ?? Number.NaN);
      this.set({ state: "expired" }, now?.expiredAccounts ?? Number.NaN);
    },
  });
  new Gauge({
    name: "svc_endpoints_unhealthy",
    help: "Endpoints of the deployment that fail now, or that svc deactivated after long failures (given_up); at most 10,000 each.",
    labelNames: ["state"],
    aggregator: "max",
    registers,
    async collect() {
      const now = await health().catch(unknown);
      this.set({ state: "failing" }, now?.failingEndpoints ?? Number.NaN);
      this.set({ state: "given_up" }, now?.givenUpEndpoints ?? Number.NaN);
    },
  });
}

/**
 * Registers the memory that steps of jobs use for sets of rows (for example to sort them). Also registers the number of steps that wait for
 * such memory.
 */
function registerMemory(registers: Registers, { memory }: MetricsSources): void {
  new Gauge({
    name: "svc_set_memory_bytes",
    help: "Bytes that steps of jobs hold or reserve for sets that they sort, group, join or make distinct.",
    registers,
    collect() {
      this.set(memory().bytes);
    },
  });
  new Gauge({
    name: "svc_set_memory_waiting",
    help: "Steps of jobs that wait for others to release the memory of their sets.",
    registers,
    collect() {
      this.set(memory().waiting);
    },
  });
}

/**
 * Registers the numbers of open connections and of request bodies in memory. Also registers how many connections were closed, and how many
 * bodies were refused, because there was no room.
 */
export function registerHttp(registers: Registers, { connections, bodies }: MetricsSources): void {
  new Gauge({
    name: "svc_http_connections",
    help: "Open connections by what they have sent: no request yet, requests without a valid key, a valid key.",
    labelNames: ["standing"],
    registers,
    collect() {
      const { halfOpen, keyless, keyed } = connections().open;
      this.set({ standing: "half_open" }, halfOpen);
      this.set({ standing: "keyless" }, keyless);
      this.set({ standing: "keyed" }, keyed);
    },
  });
  new Counter({
    name: "svc_http_connections_shed_total",
    help: "Connections closed, or not accepted, because there were too many.",
    registers,
    collect() {
      this.reset();
      this.inc(connections().shed);
    },
  });
  new Gauge({
    name: "svc_http_body_bytes",
    help: "Bytes of bodies that this node has read and not released.",
    registers,
    collect() {
      this.set(bodies().bytes);
    },
  });
  new Counter({
    name: "svc_http_bodies_refused_total",
    help: "Bodies refused because their toolkit, project or address had used its share of memory.",
    labelNames: ["share"],
    registers,
    collect() {
      this.reset();
      for (const [share, count] of Object.entries(bodies().refused)) this.inc({ share }, count);
    },
  });
}

function atMostEvery<Value>(ms: number, clock: Clock, read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (value === undefined || clock.now() - readAt >= ms) {
      readAt = clock.now();
      value = read();
    }
    return value;
  };
}
