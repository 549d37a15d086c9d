import { createId, systemClock } from "@svc/core";
import type { AskObservation, CallObservation, RenewalObservation } from "@svc/node";
import { expect, test } from "vitest";
import { createLogger } from "./logger.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { createNodeObserver } from "./observer.ts";

const projectId = createId("prj", 1);
const call: CallObservation = {
  callId: createId("call", 1),
  projectId,
  keyId: createId("key", 1),
  jobId: undefined,
  stepId: undefined,
  toolSlug: "desk.read_ticket",
  accessClass: "read",
  accountId: createId("acc", 1),
  outcome: "ok",
  providerStatus: 200,
  retryable: false,
  warnings: 0,
  sandbox: false,
  durationMs: 30,
  providerMs: 20,
};
const renewal: RenewalObservation = {
  accountId: createId("acc", 1),
  projectId,
  toolkitSlug: "desk",
  scheme: "oauth2",
  outcome: "renewed",
  error: "",
  sandbox: false,
  durationMs: 200,
};
const ask: AskObservation = {
  askId: createId("ask", 1),
  jobId: createId("job", 1),
  projectId,
  stepId: "gate",
  kind: "judge",
  state: "answered",
  continuation: "proceed",
  surface: "api",
  keyId: createId("key", 1),
  hops: 1,
  refusedAnswers: 0,
  waitMs: 90_000,
};

async function setUp(level: "info" | "debug") {
  const lines: Record<string, unknown>[] = [];
  const logger = await createLogger({ level, destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const metrics = createMetrics({
    clock: systemClock,
    countBacklog: async () => 0,
    countPaced: async () => 0,
    countPortalSessions: async () => 0,
    countChangesWaiting: async () => 2,
    readHealth: async () => ({
      ...{ activeAccounts: 3, expiredAccounts: 1, failingEndpoints: 2, givenUpEndpoints: 0 },
      ...{ deliveriesSeconds: 7, jobsSeconds: 0, schedulesSeconds: 0 },
    }),
    isShared: (slug) => slug !== "own",
    isTraced: false,
    upstreamSessions: () => 3,
    projects: () => [],
    dispatcher: () => ({ held: 0, inFlight: 0 }),
    connections: () => ({ open: { halfOpen: 0, keyless: 0, keyed: 0 }, shed: 0 }),
    bodies: () => ({ bytes: 0, refused: { toolkit: 0, project: 0, administrator: 0, keyless: 0, lookup: 0 } }),
    spentMs: () => new Map(),
    memory: () => ({ bytes: 0, waiting: 0 }),
  });
  return { lines, metrics, observer: createNodeObserver(logger, metrics) };
}

test("a call, a renewal and a settled ask are one line each, with everything that is known of them", async () => {
  const { lines, observer } = await setUp("debug");
  observer.calls.ended(call, "");
  observer.renewals.renewed(renewal);
  observer.asks.settled(ask);
  const { jobId: _, stepId: __, ...known } = call;
  expect(lines).toMatchObject([
    { level: "debug", msg: "tool called", ...known },
    { level: "debug", msg: "token renewed", ...renewal },
    { level: "info", msg: "ask settled", ...ask },
  ]);
});

test("successes are below level info, failures are at it", async () => {
  const { lines, observer } = await setUp("info");
  const { calls, renewals } = observer;
  calls.ended(call, "");
  renewals.renewed(renewal);
  calls.ended({ ...call, outcome: "timeout" }, "");
  renewals.renewed({ ...renewal, outcome: "ended", error: "invalid_grant" });
  expect(lines.map(({ outcome }) => outcome)).toEqual(["timeout", "ended"]);
});

test("each has its family of metrics, under labels from closed sets", async () => {
  const { metrics, observer } = await setUp("info");
  observer.calls.ended(call, "");
  observer.renewals.renewed(renewal);
  observer.asks.settled(ask);
  observer.embeddings.called({ what: "search", outcome: "ok", durationMs: 40 });
  observer.embeddings.called({ what: "tools", outcome: "refused", durationMs: 20 });
  observer.embeddings.searched("crowded");
  observer.sourceRead?.({ purpose: "import", kind: "openapi", outcome: "ok" });
  observer.sourceRead?.({ purpose: "refresh", kind: "mcp", outcome: "changed" });
  observer.upstreamAsked?.({ era: "2026-07-28", method: "tools/call", outcome: "timeout" });
  observer.toolsSearched?.("high");
  const text = await metrics.text();
  for (const line of [
    'svc_tool_calls_total{class="read",outcome="ok"} 1',
    'svc_tool_call_duration_seconds_sum{class="read"} 0.03',
    'svc_token_renewals_total{outcome="renewed"} 1',
    "svc_token_renewal_duration_seconds_sum 0.2",
    'svc_asks_settled_total{kind="judge",state="answered"} 1',
    "svc_ask_wait_seconds_sum 90",
    'svc_toolkit_imports_total{kind="openapi",outcome="ok"} 1',
    'svc_toolkit_refreshes_total{kind="mcp",outcome="changed"} 1',
    "svc_toolkit_changes_waiting 2",
    'svc_upstream_requests_total{era="2026-07-28",method="tools/call",outcome="timeout"} 1',
    "svc_upstream_sessions 3",
    'svc_searches_total{confidence="high"} 1',
    'svc_embeddings_calls_total{what="search",outcome="ok"} 1',
    'svc_embeddings_calls_total{what="tools",outcome="refused"} 1',
    'svc_embeddings_call_duration_seconds_sum{what="search"} 0.04',
    'svc_embeddings_searches_total{outcome="crowded"} 1',
  ]) {
    expect(text).toContain(line);
  }
});

test.each([
  ["poisoned", "warn", "a job was parked: it crashed or stalled its nodes"],
  ["administrator", "info", "a job was parked by an administrator"],
] as const)("a job parked as %s is one line and counted by its reason", async (reason, level, msg) => {
  const { lines, metrics, observer } = await setUp("info");
  const why = reason === "poisoned" ? "JOB_POISONED: 3 nodes" : "";
  const parked = { jobId: createId("job", 1), projectId, reason, stepId: "one", status: "running", why } as const;
  observer.jobs.parked(parked);
  expect(lines).toEqual([expect.objectContaining({ ...parked, level, msg })]);
  expect(await metrics.text()).toContain(`svc_jobs_parked_total{reason="${reason}"} 1`);
});

test.each([
  ["parked", "info", "a driver found its job parked and stopped driving it", 0],
  ["taken-over", "warn", "the lease of a job was lost; another node continues the job", 1],
] as const)("a lease lost as its job was %s is told as that", async (cause, level, msg, count) => {
  const { lines, metrics, observer } = await setUp("info");
  const jobId = createId("job", 1);
  observer.jobs.leaseLost(jobId, cause);
  expect(lines).toEqual([expect.objectContaining({ jobId, level, msg })]);
  expect(await metrics.text()).toContain(`svc_job_leases_lost_total ${count}`);
});
