import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { readRetryAfter } from "@svc/core/time";
import { type ClientClock, machineClock } from "./clock.ts";

const triesMax = 3;
const firstWaitMs = 200;
const retryAfterMsMax = 20_000;
const readCall = /^(?:Get|List|Search|Describe)[A-Z]/;

/**
 * Returns an interceptor that repeats a read (Get*, List*, Search*, Describe*) that failed with `unavailable`, up to 3 tries within the
 * call's timeout. It waits for the answer's Retry-After, else 200 ms, doubled each time, both with jitter. A Retry-After above 20 s ends
 * the call at once. Writes are never repeated: a lost answer does not show whether the write happened.
 */
export function createReadRetry(clock: ClientClock = machineClock): Interceptor {
  return (next) => async (req) => {
    if (req.stream || !readCall.test(req.method.name)) return next(req);
    for (let attempt = 1; ; attempt++) {
      try {
        return await next(req);
      } catch (reason) {
        const err = ConnectError.from(reason);
        const waitMs = retryAfterMs(err, clock) ?? backoffMs(attempt, clock);
        if (err.code !== Code.Unavailable || attempt === triesMax || waitMs > retryAfterMsMax) throw err;
        await clock.wait(waitMs, req.signal);
      }
    }
  };
}

/** Half of the wait is fixed and half is random, so that callers that failed together do not retry together. */
function backoffMs(attempt: number, clock: ClientClock): number {
  const fullMs = firstWaitMs * 2 ** (attempt - 1);
  return fullMs / 2 + clock.random() * (fullMs / 2);
}

/** Returns the wait of Retry-After in milliseconds, given in seconds or as an HTTP date; undefined if it is absent or neither. */
function retryAfterMs(err: ConnectError, clock: ClientClock): number | undefined {
  return readRetryAfter(err.metadata.get("retry-after"), clock.now(), Number.POSITIVE_INFINITY);
}
