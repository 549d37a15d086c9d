import { Counter, collectDefaultMetrics, Histogram } from "prom-client";
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
import { children, createRegistry, hasExemplars, observing } from "./exemplars.ts";
import { type MetricsSources, registerGauges, registerHttp } from "./gauges.ts";
import { registerToolkits } from "./toolkits.ts";
import type { Metrics } from "./types.ts";

const deliverySeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400];

/** Creates the metrics of one node in a separate registry, including those of the process and the event loop. */
export function createMetrics(sources: MetricsSources): Metrics {
  const registry = createRegistry(sources.isTraced);
  const registers = [registry];
  const enableExemplars = hasExemplars(registers);
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
  const postDurations = new Histogram({
    name: "svc_ingest_post_duration_seconds",
    help: "Time from a post's arrival to its answer, which follows the commit of its event.",
    labelNames: ["toolkit"],
    buckets: callSeconds,
    registers,
    enableExemplars,
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
    enableExemplars,
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
    enableExemplars,
  });
  const attemptDurations = new Histogram({
    name: "svc_delivery_attempt_duration_seconds",
    help: "Duration of attempts, with any result.",
    buckets: callSeconds,
    registers,
    enableExemplars,
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
  const engines = registerEngines(registers, sources);
  const postsOf = children((toolkit: string, outcome: string) => posts.labels(toolkit, outcome));
  const callsOf = children((method: string, code: string) => calls.labels(method, code));
  const observePost = observing(postDurations, registers, "toolkit");
  const observeCall = observing(durations, registers, "method");
  const observeAttempt = observing(attemptDurations, registers);
  const observeDelivery = observing(latency, registers);
  const attemptsOf = children((state: string) => attempts.labels(state));
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
    posted(toolkitSlug, outcome, durationMs) {
      postsOf(toolkitSlug, outcome).inc();
      observePost(durationMs / 1000, toolkitSlug);
    },
    called(call, durationMs) {
      callsOf(call.method, call.code).inc();
      observeCall(durationMs / 1000, call.method);
    },
    attempted({ state, durationMs, sinceReceivedMs }) {
      attemptsOf(state).inc();
      observeAttempt(durationMs / 1000);
      if (state === "delivered") observeDelivery(Math.max(0, sinceReceivedMs) / 1000);
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
