import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { readRetryAfter } from "@svc/core/time";
import { type ClientClock, machineClock } from "./clock.ts";

const triesMax = 3;
const firstWaitMs = 200;
const retryAfterMsMax = 20_000;
const readCall = /^(?:Get|List|Poll|Search|Describe)[A-Z]/;

/**
 * Returns an interceptor that retries a read (Get*, List*, Poll*, Search*, Describe*) after `unavailable`, with up to 3 tries within the
 * call's timeout. The pause is the answer's Retry-After; without this header, it is 200 ms, doubled after each try. A random part (jitter)
 * is added. If Retry-After is above 20 s, the call fails at once. Writes are never retried, because a lost answer does not show if the write
 * happened.
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

/**
 * Returns the pause before the next try, in milliseconds. Half of the pause is fixed and half is random, so that callers that failed
 * together do not retry together.
 */
function backoffMs(attempt: number, clock: ClientClock): number {
  const fullMs = firstWaitMs * 2 ** (attempt - 1);
  return fullMs / 2 + clock.random() * (fullMs / 2);
}

/**
 * Returns the pause that the header Retry-After asks for, in milliseconds. The header has seconds or an HTTP date. Returns undefined if the
 * header is missing or has neither.
 */
function retryAfterMs(err: ConnectError, clock: ClientClock): number | undefined {
  return readRetryAfter(err.metadata.get("retry-after"), clock.now(), Number.POSITIVE_INFINITY);
}
