import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { internalFault, storeUnavailable } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { isStoreAway, type StoreAlarm } from "../store-alarm.ts";
import { type Call, callContext } from "./call.ts";

/** Turns whatever a call threw into what its caller may read. */
export type CallErrorMapper = (error: unknown, call: Call | undefined, signal?: AbortSignal) => ConnectError;

/**
 * A ConnectError passes. A call that ended with its signal (timeout, shutdown) gets the signal's reason, a store that is
 * away `unavailable`; anything else is logged with its stack, here and only here, and answered as `internal`.
 */
export function createCallErrorMapper(logger: Logger, onStoreAway: StoreAlarm): CallErrorMapper {
  return (error, call, signal) => {
    if (error instanceof ConnectError) return error;
    if (signal?.aborted && signal.reason instanceof ConnectError) return signal.reason;
    if (isStoreAway(error)) {
      onStoreAway(error);
      return storeUnavailable();
    }
    logger.error({ err: error, requestId: call?.requestId, method: call?.method }, "call failed");
    return internalFault(call?.requestId ?? "unknown");
  };
}

/** The outermost interceptor: no error leaves a call unmapped, and a call ends with its signal (timeout, shutdown). */
export function createErrorInterceptor(mapError: CallErrorMapper): Interceptor {
  return (next) => async (req) => {
    const call = req.contextValues.get(callContext);
    try {
      const res = await withSignal(next(req), req.signal);
      return res.stream
        ? { ...res, message: mapStream(res.message, (error) => mapError(error, call, req.signal)) }
        : res;
    } catch (error) {
      throw mapError(error, call, req.signal);
    }
  };
}

async function* mapStream<Message>(
  messages: AsyncIterable<Message>,
  mapError: (error: unknown) => ConnectError,
): AsyncGenerator<Message> {
  try {
    yield* messages;
  } catch (error) {
    throw mapError(error);
  }
}

/** Settles with the call, or rejects with the signal's reason, whichever comes first. */
function withSignal<Result>(result: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}
