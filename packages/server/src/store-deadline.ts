import { type Clock, OverloadedError } from "@svc/core";
import { isUnavailable } from "@svc/db/driver";
import type { Logger } from "./logger.ts";

/**
 * Error for a database that did not answer in time. Because of its `code`, it counts as an error of an unavailable database
 * (`isUnavailable`).
 */
export class StoreLateError extends Error {
  override readonly name = "StoreLateError";
  readonly code = "ETIMEDOUT";

  constructor(ms: number) {
    super(`the database did not answer within ${ms} ms`);
  }
}

/** Maximum time in milliseconds that a request without its own timeout waits for the database. */
export const storeDeadlineMs = 15_000;

/**
 * Settles like `pending`, or rejects with StoreLateError after `ms` milliseconds. The database may still finish the work of `pending`
 * later.
 */
export function withinDeadline<Result>(pending: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StoreLateError(ms)), ms);
    pending.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** True if an error means that the database is unavailable, answered too late (StoreLateError), or has too many waiting requests. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof OverloadedError || isUnavailable(error);
}

/** Called with each error that means an unavailable database. */
export type StoreAlarm = (error: unknown) => void;

const everyMs = 5_000;

/**
 * Creates the function that logs a warning when the database is unavailable. It logs at most one warning in 5 seconds, with the error,
 * however many requests fail.
 */
export function createStoreAlarm(logger: Logger, clock: Clock): StoreAlarm {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (err) => {
    const nowMs = clock.now();
    if (nowMs - warnedAt < everyMs) return;
    warnedAt = nowMs;
    logger.warn({ err }, "the database is unavailable; svc answers requests with unavailable");
  };
}
