import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { registerProjects } from "../admission/project-metrics.ts";
import { registerEmbeddings } from "./embeddings.ts";
import {
  callSeconds,
  registerEngines,
  registerEvents,
  registerJobs,
  registerLoop,
  registerReplays,
  registerStanding,
} from "./engines.ts";
import { type MetricsSources, registerGauges, registerHttp } from "./gauges.ts";
import { registerToolkits } from "./toolkits.ts";
import type { Metrics } from "./types.ts";

const deliverySeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400];

/** Creates the metrics of one node in a separate registry, including those of the process and the event loop. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  registerGauges(registry, sources);
  registerHttp(registers, sources);
  registerProjects(registers, sources.projects);
  const posts = new Counter({
    name: "svc_ingest_posts_total",
    help: "Inbound posts by toolkit and result.",
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
    help: "Time from a call's arrival to the end of its answer.",
    labelNames: ["method"],
    buckets: callSeconds,
    registers,
  });
  const attempts = new Counter({
    name: "svc_delivery_attempts_total",
    help: "Attempts by the resulting state of the delivery.",
    labelNames: ["state"],
    registers,
  });
  // An alert sees the first increase of a counter only if the counter was 0 before.
  attempts.inc({ state: "dead_letter" }, 0);
  const latency = new Histogram({
    name: "svc_delivery_latency_seconds",
    help: "Time from the receipt of an event to its delivery, including retries and replays.",
    buckets: deliverySeconds,
    registers,
  });
  const attemptDurations = new Histogram({
    name: "svc_delivery_attempt_duration_seconds",
    help: "Duration of attempts, with any result.",
    buckets: callSeconds,
    registers,
  });
  const lost = new Counter({
    name: "svc_delivery_leases_lost_total",
    help: "Attempts whose lease had expired before they were recorded.",
    registers,
  });
  const faults = new Counter({
    name: "svc_delivery_faults_total",
    help: "Failed statements of the delivery engine, which svc tries again.",
    labelNames: ["statement"],
    registers,
  });
  const authenticated = new Counter({
    name: "svc_endpoint_auth_total",
    help: "Requests for access tokens of endpoints by outcome: token, failed; and tokens that an endpoint refused: refused.",
    labelNames: ["outcome"],
    registers,
  });
  const engines = registerEngines(registers);
  const postsOf = children((toolkit: string, outcome: string) => posts.labels(toolkit, outcome));
  const callsOf = children((method: string, code: string) => calls.labels(method, code));
  const durationsOf = children((method: string) => durations.labels(method));
  const attemptsOf = children((state: string) => attempts.labels(state));
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
    posted: (toolkitSlug, outcome) => postsOf(toolkitSlug, outcome).inc(),
    called(call, durationMs) {
      callsOf(call.method, call.code).inc();
      durationsOf(call.method).observe(durationMs / 1000);
    },
    attempted({ state, durationMs, sinceReceivedMs }) {
      attemptsOf(state).inc();
      attemptDurations.observe(durationMs / 1000);
      if (state === "delivered") latency.observe(Math.max(0, sinceReceivedMs) / 1000);
    },
    ...engines,
    ...registerJobs(registers),
    ...registerStanding(registers),
    ...registerReplays(registers),
    ...registerEvents(registers),
    ...registerLoop(registers),
    ...registerEmbeddings(registers),
    ...registerToolkits(registers),
    leasesLost: (count) => lost.inc(count),
    endpointAuthenticated: (outcome) => authenticated.inc({ outcome }),
    engineFailed: (what) => faults.inc({ statement: what }),
  };
}

/**
 * Returns a function that does the same as `create`, but calls it only once for each combination of labels. `create` searches the metrics
 * library for the counter with these labels, which takes longer than counting.
 */
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
