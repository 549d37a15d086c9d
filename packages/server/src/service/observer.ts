import type { Principal } from "@svc/core";
import type { DeliveryObserver } from "@svc/delivery";
import type { Call } from "../calls/call.ts";
import type { Logger } from "../logger.ts";
import type { Metrics } from "../metrics.ts";

/** Log line and metrics of an attempt, a batch that failed, a lost lease. An endpoint's failure is no fault of ours: info. */
export function createDeliveryObserver(logger: Logger, metrics: Metrics): DeliveryObserver {
  return {
    attempted(attempt) {
      metrics.attempted(attempt);
      if (attempt.state === "delivered") logger.debug(attempt, "delivered");
      else
        logger.info(
          attempt,
          attempt.state === "pending" ? "delivery failed, will be tried again" : "delivery failed for good",
        );
    },
    leasesLost(count) {
      metrics.leasesLost(count);
      logger.warn({ count }, "leases were lost before their attempts were recorded");
    },
    failed(what, error) {
      metrics.engineFailed(what);
      logger.warn({ err: error, what }, "the delivery engine failed and goes on");
    },
  };
}

/** The one log line of a call. Health checks come every few seconds and stand at debug. */
export function logCall(logger: Logger, call: Call, durationMs: number): void {
  const { requestId, method, code, principal } = call;
  const level = method.startsWith("grpc.health.") ? "debug" : "info";
  if (!logger.isLevelEnabled(level)) return;
  logger[level](
    { requestId, method, code, durationMs: Math.round(durationMs * 1000) / 1000, ...callerOf(principal) },
    "call",
  );
}

function callerOf(principal: Principal | undefined): { projectId?: string; keyId?: string; admin?: true } {
  if (principal === undefined) return {};
  return principal.kind === "admin" ? { admin: true } : { projectId: principal.projectId, keyId: principal.keyId };
}
