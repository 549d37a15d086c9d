import { Counter, Histogram } from "prom-client";
import { children, hasExemplars, observing, type Registers } from "./exemplars.ts";
import type { MetricsSources } from "./gauges.ts";
import type { Metrics } from "./types.ts";

/** Upper limits of the histogram buckets, in seconds, for answers that callers wait for. */
export const callSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const jobSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1_800, 3_600, 14_400, 86_400, 604_800];
const askSeconds = [1, 10, 60, 300, 1_800, 3_600, 14_400, 28_800, 86_400, 259_200, 604_800];

/**
 * Registers the metrics of tool calls, of renewed credentials, and of answered questions to people: counts by outcome, and durations. A
 * toolkit of a project's own counts as `private`, because the project chose its name.
 */
export function registerEngines(
  registers: Registers,
  { isShared }: Pick<MetricsSources, "isShared">,
): Pick<Metrics, "toolCalled" | "renewed" | "askSettled"> {
  const toolCalls = new Counter({
    name: "svc_tool_calls_total",
    help: "Calls of tools by class and outcome.",
    labelNames: ["class", "outcome"],
    registers,
  });
  const toolkitCalls = new Counter({
    name: "svc_toolkit_calls_total",
    help: "Calls of tools by toolkit and outcome; private for the toolkits of projects.",
    labelNames: ["toolkit", "outcome"],
    registers,
  });
  const toolCallDurations = new Histogram({
    name: "svc_tool_call_duration_seconds",
    help: "Time from a call's request to its outcome, including the app's time.",
    labelNames: ["class"],
    buckets: callSeconds,
    registers,
    enableExemplars: hasExemplars(registers),
  });
  const observeTool = observing(toolCallDurations, registers, "class");
  const renewals = new Counter({
    name: "svc_token_renewals_total",
    help: "Renewals of tokens by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const renewalDurations = new Histogram({
    name: "svc_token_renewal_duration_seconds",
    help: "Time from the request to an app to the record of its answer.",
    buckets: callSeconds,
    registers,
  });
  const asks = new Counter({
    name: "svc_asks_settled_total",
    help: "Asks by kind and by what settled them, a person or the deadline.",
    labelNames: ["kind", "state"],
    registers,
  });
  const askWaits = new Histogram({
    name: "svc_ask_wait_seconds",
    help: "Time from a question to its settlement.",
    buckets: askSeconds,
    registers,
  });
  const callsOf = children((accessClass: string, outcome: string) => toolCalls.labels(accessClass, outcome));
  const toolkitCallsOf = children((toolkit: string, outcome: string) => toolkitCalls.labels(toolkit, outcome));
  return {
    toolCalled({ accessClass, toolSlug, outcome, durationMs }) {
      const [toolkit = ""] = toolSlug.split(".", 1);
      callsOf(accessClass, outcome).inc();
      toolkitCallsOf(isShared(toolkit) ? toolkit : "private", outcome).inc();
      observeTool(durationMs / 1000, accessClass);
    },
    renewed({ outcome, durationMs }) {
      renewals.inc({ outcome });
      renewalDurations.observe(durationMs / 1000);
    },
    askSettled({ kind, state, waitMs }) {
      asks.inc({ kind, state });
      askWaits.observe(waitMs / 1000);
    },
  };
}

/**
 * Registers the metrics of the job engine. They count ended jobs by final status, parked jobs, lost leases (time-limited claims of a node
 * to jobs), and failures of the engine itself.
 */
export function registerJobs(
  registers: Registers,
): Pick<Metrics, "jobEnded" | "jobParked" | "jobLeaseLost" | "jobEngineFailed"> {
  const ended = new Counter({
    name: "svc_jobs_ended_total",
    help: "Jobs by final status and by mode.",
    labelNames: ["status", "mode"],
    registers,
  });
  const durations = new Histogram({
    name: "svc_job_duration_seconds",
    help: "Time from a job's submission to its end, including waits for people.",
    buckets: jobSeconds,
    registers,
    enableExemplars: hasExemplars(registers),
  });
  const observeJob = observing(durations, registers);
  const parked = new Counter({
    name: "svc_jobs_parked_total",
    help: "Jobs that were parked from outside their programs, by reason.",
    labelNames: ["reason"],
    registers,
  });
  // An alert sees the first increase of a counter only if the counter was 0 before.
  parked.inc({ reason: "poisoned" }, 0);
  const lost = new Counter({
    name: "svc_job_leases_lost_total",
    help: "Leases of jobs that expired while their drivers ran.",
    registers,
  });
  const faults = new Counter({
    name: "svc_job_faults_total",
    help: "Failures of the job engine's work, which svc tries again.",
    labelNames: ["what"],
    registers,
  });
  return {
    jobEnded({ status, isSimulated, durationMs }) {
      ended.inc({ status, mode: isSimulated ? "simulate" : "live" });
      observeJob(durationMs / 1000);
    },
    jobParked: ({ reason }) => parked.inc({ reason }),
    jobLeaseLost: () => lost.inc(),
    jobEngineFailed: (what) => faults.inc({ what }),
  };
}

/** Registers the metrics of standing programs (programs that start jobs on a schedule or event). */
export function registerStanding(
  registers: Registers,
): Pick<Metrics, "standingDecided" | "standingPolled" | "standingPaused" | "standingRearmed" | "standingFailed"> {
  const lags = new Histogram({
    name: "svc_standing_lag_seconds",
    help: "Time from when a run of a standing program was due to its start.",
    buckets: callSeconds,
    registers,
  });
  const runs = new Counter({
    name: "svc_standing_runs_total",
    help: "Runs of standing programs by cause and by decision.",
    labelNames: ["kind", "state", "reason"],
    registers,
  });
  const polls = new Counter({
    name: "svc_standing_polls_total",
    help: "Polls of standing programs by result.",
    labelNames: ["outcome"],
    registers,
  });
  const paused = new Counter({
    name: "svc_standing_paused_total",
    help: "Standing programs that paused by themselves, by reason.",
    labelNames: ["reason"],
    registers,
  });
  const rearmed = new Counter({
    name: "svc_standing_rearmed_total",
    help: "Schedules without a next run that svc repaired; a bug of svc.",
    registers,
  });
  const faults = new Counter({
    name: "svc_standing_faults_total",
    help: "Failures of work for standing programs, which svc tries again.",
    labelNames: ["what"],
    registers,
  });
  return {
    standingDecided({ kind, state, reason, count, lagMs, backfillId }) {
      runs.inc({ kind, state, reason }, count);
      // Runs of a backfill are not measured. They were due long ago, so their delay is intended.
      if (state === "started" && backfillId === undefined) lags.observe(lagMs / 1000);
    },
    standingPolled: (outcome) => polls.inc({ outcome }),
    standingPaused: (reason) => paused.inc({ reason }),
    standingRearmed: (count) => rearmed.inc(count),
    standingFailed: (what) => faults.inc({ what }),
  };
}

/**
 * Registers the metrics of events that projects publish themselves, of the filters of subscriptions, and of polls with which callers fetch
 * events.
 */
export function registerEvents(
  registers: Registers,
): Pick<Metrics, "eventPublished" | "eventsPolled" | "eventFiltered"> {
  const published = new Counter({
    name: "svc_events_published_total",
    help: "Events that projects published, by outcome: stored, duplicate or refused.",
    labelNames: ["outcome"],
    registers,
  });
  const polls = new Counter({
    name: "svc_event_polls_total",
    help: "Polls of events by outcome: events, empty, truncated, or unheld, because the node held as many as it can.",
    labelNames: ["outcome"],
    registers,
  });
  const rows = new Histogram({
    name: "svc_event_poll_rows",
    help: "Events that svc scanned for a poll of events.",
    buckets: [1, 10, 100, 1_000, 10_000, 100_000],
    registers,
  });
  const filters = new Counter({
    name: "svc_event_filters_total",
    help: "Filters applied to an event, by outcome: match, no_match, fault (no value), or unevaluated (too large; delivered).",
    labelNames: ["outcome"],
    registers,
  });
  const filterSeconds = new Histogram({
    name: "svc_event_filter_seconds",
    help: "Processor time of all filters for one event, in seconds.",
    buckets: [0.00001, 0.0001, 0.001, 0.01, 0.1, 1],
    registers,
  });
  return {
    eventFiltered({ outcomes, seconds }) {
      for (const { outcome } of outcomes) filters.inc({ outcome });
      filterSeconds.observe(seconds);
    },
    eventPublished: (outcome) => published.inc({ outcome }),
    eventsPolled({ outcome, scanned }) {
      polls.inc({ outcome });
      rows.observe(scanned);
    },
  };
}

/** Registers the metrics of throttled replays (repeated deliveries that are spread over time). */
export function registerReplays(registers: Registers): Pick<Metrics, "replayStepped" | "replayFailed"> {
  const queued = new Counter({
    name: "svc_replay_queued_total",
    help: "Deliveries that throttled replays queued.",
    registers,
  });
  const faults = new Counter({
    name: "svc_replay_faults_total",
    help: "Failed steps of throttled replays, which svc tries again.",
    registers,
  });
  return { replayStepped: ({ count }) => queued.inc(count), replayFailed: () => faults.inc() };
}

/** Registers the metric for a blocked event loop, by cause: a job, a call, or unknown work. */
export function registerLoop(registers: Registers): Pick<Metrics, "heldLoop"> {
  const held = new Counter({
    name: "svc_event_loop_held_total",
    help: "Times that the event loop was blocked for 250 ms or longer, by cause.",
    labelNames: ["by"],
    registers,
  });
  for (const by of ["job", "call", "other"]) held.inc({ by }, 0);
  return {
    heldLoop: ({ jobId, callId }) =>
      held.inc({ by: jobId !== undefined ? "job" : callId !== undefined ? "call" : "other" }),
  };
}
