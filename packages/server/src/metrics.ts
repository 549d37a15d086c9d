import type { Clock } from "@svc/core";
import type { AttemptObservation } from "@svc/delivery";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Call } from "./calls/call.ts";
import type { PostOutcome } from "./http/webhooks.ts";

/** What `/metrics` shows. Labels have few values: toolkits, methods, and outcomes, codes and states from closed sets. */
export type Metrics = {
  readonly contentType: string;
  /** Prometheus' text format. */
  text(): Promise<string>;
  /** A post was answered; `toolkitSlug` is that of a toolkit, or empty. */
  posted(toolkitSlug: string, outcome: PostOutcome): void;
  called(call: Call, durationMs: number): void;
  attempted(attempt: AttemptObservation): void;
  leasesLost(count: number): void;
  /** The delivery engine could not claim, settle, release, expire or note health. */
  engineFailed(what: string): void;
};

/** What the gauges read when they are scraped. */
export type MetricsSources = {
  clock: Clock;
  /** Pending deliveries of the whole deployment. Asked at most every 5 seconds. */
  countBacklog: () => Promise<number>;
  dispatcher: () => { held: number; inFlight: number };
};

const deliverySeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400];
const callSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Makes the metrics of one node in a registry of its own; process and event loop metrics are among them. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  registerGauges(registry, sources);
  const posts = new Counter({
    name: "svc_ingest_posts_total",
    help: "Inbound posts by toolkit and what became of them.",
    labelNames: ["toolkit", "outcome"],
    registers,
  });
  const calls = new Counter({
    name: "svc_rpc_calls_total",
    help: "Calls by method and code.",
    labelNames: ["method", "code"],
    registers,
  });
  const durations = new Histogram({
    name: "svc_rpc_duration_seconds",
    help: "From a call's arrival to the end of its answer.",
    labelNames: ["method"],
    buckets: callSeconds,
    registers,
  });
  const attempts = new Counter({
    name: "svc_delivery_attempts_total",
    help: "Attempts by the state they left the delivery in.",
    labelNames: ["state"],
    registers,
  });
  const latency = new Histogram({
    name: "svc_delivery_latency_seconds",
    help: "From the receipt of an event to its delivery, retries and replays included.",
    buckets: deliverySeconds,
    registers,
  });
  const attemptDurations = new Histogram({
    name: "svc_delivery_attempt_duration_seconds",
    help: "How long attempts take, whatever comes of them.",
    buckets: callSeconds,
    registers,
  });
  const lost = new Counter({
    name: "svc_delivery_leases_lost_total",
    help: "Attempts made on a lease that had run out when they were to be recorded.",
    registers,
  });
  const faults = new Counter({
    name: "svc_delivery_faults_total",
    help: "Statements of the delivery engine that failed and are tried again.",
    labelNames: ["statement"],
    registers,
  });
  const postsOf = children((toolkit: string, outcome: string) => posts.labels(toolkit, outcome));
  const callsOf = children((method: string, code: string) => calls.labels(method, code));
  const durationsOf = children((method: string) => durations.labels(method));
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    posted: (toolkitSlug, outcome) => postsOf(toolkitSlug, outcome).inc(),
    called(call, durationMs) {
      callsOf(call.method, call.code).inc();
      durationsOf(call.method).observe(durationMs / 1000);
    },
    attempted({ state, durationMs, sinceReceivedMs }) {
      attempts.inc({ state });
      attemptDurations.observe(durationMs / 1000);
      if (state === "delivered") latency.observe(Math.max(0, sinceReceivedMs) / 1000);
    },
    leasesLost: (count) => lost.inc(count),
    engineFailed: (what) => faults.inc({ statement: what }),
  };
}

function registerGauges(registry: Registry, { clock, countBacklog, dispatcher }: MetricsSources): void {
  const registers = [registry];
  const backlog = atMostEvery(5_000, clock, countBacklog);
  new Gauge({
    name: "svc_delivery_backlog",
    help: "Pending deliveries of the deployment, exact up to 100,000; NaN while the store does not answer.",
    registers,
    async collect() {
      this.set(await backlog().catch(() => Number.NaN));
    },
  });
  new Gauge({
    name: "svc_delivery_held",
    help: "Deliveries this node holds a lease of.",
    registers,
    collect() {
      this.set(dispatcher().held);
    },
  });
  new Gauge({
    name: "svc_delivery_in_flight",
    help: "Attempts this node has under way.",
    registers,
    collect() {
      this.set(dispatcher().inFlight);
    },
  });
}

/** Looking a child up costs more than counting on it: each is looked up once. */
function children<Labels extends string[], Child>(create: (...labels: Labels) => Child): (...labels: Labels) => Child {
  const known = new Map<string, Child>();
  return (...labels) => {
    const key = labels.length === 1 ? (labels[0] ?? "") : labels.join(" ");
    let child = known.get(key);
    if (child === undefined) {
      child = create(...labels);
      known.set(key, child);
    }
    return child;
  };
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
