import type { Interceptor } from "@connectrpc/connect";
import { Fault, faultForCustomer, type ProjectId } from "@svc/core";
import { serverFaults } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { isStoreUnavailable, type StoreAlarm } from "../store-deadline.ts";
import { type Call, callContext } from "./call.ts";
import { createFaultInterceptor, createOutgoingError, type OutgoingError } from "./connect-error.ts";

/** Returns the fault that the caller receives for an error of a call. */
export type CallErrorMapper = (error: unknown, call: Call | undefined, signal?: AbortSignal) => Fault;

/**
 * Creates the function that converts errors of calls to faults. A Fault stays unchanged, except that a customer in the portal does not
 * receive the numbers of the project's quotas. If the call was ended by its signal (timeout,
 * shutdown), the result is the signal's reason. If the database is unavailable, the code is `unavailable`. Any other error becomes
 * `internal`; it is logged with its stack here and nowhere else.
 */
export function createCallErrorMapper(logger: Logger, onStoreUnavailable: StoreAlarm): CallErrorMapper {
  return (error, call, signal) => {
    if (error instanceof Fault) return faultForCaller(error, call);
    if (signal?.aborted && signal.reason instanceof Fault) return signal.reason;
    if (isStoreUnavailable(error)) {
      onStoreUnavailable(error);
      return serverFaults.STORE_UNAVAILABLE();
    }
    logger.error({ err: error, requestId: call?.requestId, method: call?.method }, "call failed");
    return serverFaults.INTERNAL(call?.requestId ?? "unknown");
  };
}

/** Returns the fault that the caller receives. A customer in the portal does not receive the numbers of the project's quotas. */
function faultForCaller(fault: Fault, call: Call | undefined): Fault {
  const isCustomer = call?.principal?.kind === "project" && call.principal.portal !== undefined;
  return isCustomer ? faultForCustomer(fault) : fault;
}

/**
 * Creates the function that changes each error of a call into the error that the client receives. `onFault`: called with each fault that a
 * project receives.
 */
export function createCallOutgoingError(
  mapError: CallErrorMapper,
  onFault: (projectId: ProjectId, fault: Fault) => void,
): OutgoingError {
  const outgoing = createOutgoingError(
    (error, { contextValues, signal }) => mapError(error, contextValues.get(callContext), signal),
    (fault, { contextValues }) => {
      const principal = contextValues.get(callContext)?.principal;
      if (principal?.kind === "project") onFault(principal.projectId, fault);
    },
  );
  return (error, req) =>
    outgoing(error instanceof Fault ? faultForCaller(error, req.contextValues.get(callContext)) : error, req);
}

/** Creates the outermost interceptor. It converts every error of a call, and ends a call when its signal aborts (timeout, shutdown). */
export function createErrorInterceptor(outgoing: OutgoingError): Interceptor {
  const intercept = createFaultInterceptor(outgoing);
  return (next) => intercept((req) => withSignal(next(req), req.signal));
}

/** Settles like `result`, or rejects with the signal's reason if the signal aborts first. */
function withSignal<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}
