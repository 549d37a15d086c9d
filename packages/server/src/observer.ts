import type { Principal } from "@svc/core";
import type {
  AskObserver,
  CallObserver,
  DeliveryObserver,
  EmbeddingsObserver,
  EngineObserver,
  NodeObserver,
  RenewalObserver,
  ReplayObserver,
  StandingObserver,
} from "@svc/node";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics/types.ts";
import type { Call } from "./rpc/call.ts";

/** Returns the observer of a node's engines. It writes log lines and metrics for their events. */
export function createNodeObserver(logger: Logger, metrics: Metrics): NodeObserver {
  return {
    eventsPolled: metrics.eventsPolled,
    eventFiltered: metrics.eventFiltered,
    eventPublished: metrics.eventPublished,
    sourceRead: metrics.sourceRead,
    upstreamAsked: metrics.upstreamAsked,
    toolsSearched: metrics.toolsSearched,
    deliveries: createDeliveryObserver(logger, metrics),
    calls: createCallObserver(logger, metrics),
    renewals: createRenewalObserver(logger, metrics),
    jobs: createJobObserver(logger, metrics),
    asks: createAskObserver(logger, metrics),
    standing: createStandingObserver(logger, metrics),
    replays: createReplayObserver(logger, metrics),
    heldLoop(held) {
      metrics.heldLoop(held);
      logger.warn(held, "the event loop was blocked");
    },
    toolkitBroken(projectId, toolkit, err) {
      logger.warn({ err, projectId, toolkit }, "a private toolkit breaks the rules of this version and is left out");
    },
    embeddings: createEmbeddingsObserver(logger, metrics),
    callUnrecorded: (callId, err) => logger.error({ err, callId }, "an executed call could not be recorded"),
    renewalFailed: (err) => logger.warn({ err }, "renewing tokens failed; svc tries again"),
    sweepFailed: (what, err) => logger.warn({ err, what }, "retention failed; svc tries again"),
  };
}

/**
 * Returns an observer that writes log lines and metrics for delivery attempts, failed batches and lost leases (a node's time-limited rights
 * to send deliveries). The failure of an endpoint is not an error of svc, so its log level is info.
 */
function createDeliveryObserver(logger: Logger, metrics: Metrics): DeliveryObserver {
  return {
    attempted(attempt) {
      metrics.attempted(attempt);
      if (attempt.state === "delivered") logger.debug(attempt, "delivered");
      else
        logger.info(
          attempt,
          attempt.state === "pending" ? "delivery failed; svc tries again" : "delivery failed permanently",
        );
    },
    authenticated: metrics.endpointAuthenticated,
    leasesLost(count) {
      metrics.leasesLost(count);
      logger.warn({ count }, "leases were lost before their attempts were recorded");
    },
    failed(what, error) {
      metrics.engineFailed(what);
      logger.warn({ err: error, what }, "the delivery engine failed; svc tries again");
    },
  };
}

/**
 * Returns an observer that writes a log line and metrics for each tool call. A failure caused by an app or an argument is not an error of
 * svc, so its log level is info.
 */
function createCallObserver(logger: Logger, metrics: Metrics): CallObserver {
  return {
    ended(call) {
      metrics.toolCalled(call);
      if (call.outcome === "ok") logger.debug(call, "tool called");
      else logger.info(call, "tool call ended without a result");
    },
  };
}

/** Returns an observer that writes metrics for calls to an embeddings endpoint, and a warning while the endpoint is paused. */
function createEmbeddingsObserver(logger: Logger, metrics: Metrics): EmbeddingsObserver {
  return {
    called: metrics.embeddingsCalled,
    searched: metrics.searchedByMeaning,
    failed: (what, { message }) =>
      logger.warn(
        `the embeddings endpoint ${message}; ${what === "search" ? "tools are found by words alone" : "tools without a vector are found by words alone"} meanwhile`,
      ),
  };
}

/** Returns an observer that writes a log line and metrics for each renewal of a token. */
function createRenewalObserver(logger: Logger, metrics: Metrics): RenewalObserver {
  return {
    renewed(renewal) {
      metrics.renewed(renewal);
      if (renewal.outcome === "renewed") logger.debug(renewal, "token renewed");
      else logger.info(renewal, "token not renewed");
    },
  };
}

/** Returns an observer that writes a log line and metrics for each ended job, and warnings for problems of the engine. */
function createJobObserver(logger: Logger, metrics: Metrics): EngineObserver {
  return {
    ended(job) {
      metrics.jobEnded(job);
      logger.info(job, "job ended");
    },
    parked(job) {
      metrics.jobParked(job);
      if (job.reason === "poisoned") logger.warn(job, "a job was parked: it crashed or stalled its nodes");
      else logger.info(job, "a job was parked by an administrator");
    },
    leaseLost(jobId, cause) {
      if (cause === "parked") {
        logger.info({ jobId }, "a driver found its job parked and stopped driving it");
        return;
      }
      metrics.jobLeaseLost();
      logger.warn({ jobId }, "the lease of a job was lost; another node continues the job");
    },
    failed(what, err) {
      metrics.jobEngineFailed(what);
      logger.warn({ err, what }, "work of jobs failed; svc tries again");
    },
  };
}

/**
 * Returns an observer that writes a log line and metrics for each settled ask (a job's question to a person). The log level is info,
 * because people answer only a limited number of asks.
 */
function createAskObserver(logger: Logger, metrics: Metrics): AskObserver {
  return {
    settled(ask) {
      metrics.askSettled(ask);
      logger.info(ask, "ask settled");
    },
  };
}

/**
 * Returns an observer that writes log lines and metrics for decisions about standing programs (schedules). A run that the program's own
 * rules skip is not an error, so its log level is info.
 */
function createStandingObserver(logger: Logger, metrics: Metrics): StandingObserver {
  return {
    decided(run) {
      metrics.standingDecided(run);
      logger.info(run, "a run of a standing program was decided");
    },
    polled(poll) {
      metrics.standingPolled(poll.outcome);
      if (poll.outcome === "ok" && poll.found === 0) logger.debug(poll, "polled");
      else logger.info(poll, "polled");
    },
    paused(programId, reason) {
      metrics.standingPaused(reason);
      logger.warn({ programId, reason }, "a standing program paused");
    },
    rearmed(count) {
      metrics.standingRearmed(count);
      logger.error({ count }, "schedules without a next run were repaired");
    },
    failed(what, err) {
      metrics.standingFailed(what);
      logger.warn({ err, what }, "work of standing programs failed; svc tries again");
    },
  };
}

/**
 * Returns an observer that writes log lines and metrics for the steps of throttled replays. A normal step has the log level debug, because
 * there are up to ten a second.
 */
function createReplayObserver(logger: Logger, metrics: Metrics): ReplayObserver {
  return {
    stepped(step) {
      metrics.replayStepped(step);
      if (step.state === "running" && step.reason === "") logger.debug(step, "a replay queued deliveries");
      else if (step.state === "running") logger.info(step, "a replay waits");
      else logger.info(step, "a replay ended");
    },
    failed(err) {
      metrics.replayFailed();
      logger.warn({ err }, "a step of a replay failed; svc tries again");
    },
  };
}

/** Writes the only log line of a call. Health checks have the log level debug, because they come every few seconds. */
export function logCall(logger: Logger, call: Call, durationMs: number): void {
  const { requestId, method, code, principal, traceparent } = call;
  const level = method.startsWith("grpc.health.") ? "debug" : "info";
  if (!logger.isLevelEnabled(level)) return;
  const fields = { requestId, method, code, durationMs: Math.round(durationMs * 1000) / 1000, ...callerOf(principal) };
  logger[level](traceparent === undefined ? fields : { ...fields, traceparent }, "call");
}

function callerOf(principal: Principal | undefined): { projectId?: string; keyId?: string; admin?: true } {
  if (principal === undefined) return {};
  return principal.kind === "admin" ? { admin: true } : { projectId: principal.projectId, keyId: principal.keyId };
}
