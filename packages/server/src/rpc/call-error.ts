import type { Interceptor } from "@connectrpc/connect";
import { Fault, type ProjectId } from "@svc/core";
import { serverFaults } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { isStoreUnavailable, type StoreAlarm } from "../store-deadline.ts";
import { type Call, callContext } from "./call.ts";
import { createFaultInterceptor, createOutgoingError, type OutgoingError } from "./connect-error.ts";

/** Converts any error of a call to a fault for its caller. */
export type CallErrorMapper = (error: unknown, call: Call | undefined, signal?: AbortSignal) => Fault;

/**
 * Creates the mapper. A fault is unchanged. A call that ended with its signal (timeout, shutdown) gets the signal's reason. An unavailable
 * database gives `unavailable`. Any other error is logged with its stack, only here, and answered as `internal`.
 */
export function createCallErrorMapper(logger: Logger, onStoreUnavailable: StoreAlarm): CallErrorMapper {
  return (error, call, signal) => {
    if (error instanceof Fault) return error;
    if (signal?.aborted && signal.reason instanceof Fault) return signal.reason;
    if (isStoreUnavailable(error)) {
      onStoreUnavailable(error);
      return serverFaults.STORE_UNAVAILABLE();
    }
    logger.error({ err: error, requestId: call?.requestId, method: call?.method }, "call failed");
    return serverFaults.INTERNAL(call?.requestId ?? "unknown");
  };
}

/** Creates the final mapping of a call's errors. `onFault`: called with faults returned to a project. */
export function createCallOutgoingError(
  mapError: CallErrorMapper,
  onFault: (projectId: ProjectId, fault: Fault) => void,
): OutgoingError {
  return createOutgoingError(
    (error, { contextValues, signal }) => mapError(error, contextValues.get(callContext), signal),
    (fault, { contextValues }) => {
      const principal = contextValues.get(callContext)?.principal;
      if (principal?.kind === "project") onFault(principal.projectId, fault);
    },
  );
}

/** Creates the outermost interceptor: it maps every error of a call, and ends a call with its signal (timeout, shutdown). */
export function createErrorInterceptor(outgoing: OutgoingError): Interceptor {
  const intercept = createFaultInterceptor(outgoing);
  return (next) => intercept((req) => withSignal(next(req), req.signal));
}

/** Settles with the call, or rejects with the signal's reason, whichever comes first. */
export function withSignal<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}
