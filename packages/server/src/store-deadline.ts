import { type Clock, OverloadedError } from "@svc/core";
import { isUnavailable } from "@svc/db/driver";
import type { Logger } from "./logger.ts";

/** The store did not answer in time. Its `code` makes it one of the errors of a store that is away (`isUnavailable`). */
export class StoreLateError extends Error {
  override readonly name = "StoreLateError";
  readonly code = "ETIMEDOUT";

  constructor(ms: number) {
    super(`the store did not answer within ${ms} ms`);
  }
}

/** How long a request waits for the store where nobody set a timeout, milliseconds. */
export const storeDeadlineMs = 15_000;

/**
 * Settles with `pending`, or rejects with StoreLateError after `ms` milliseconds. What was asked is not called off: a store
 * that hangs cannot hear it, and may do it once it goes on.
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

/** Whether an error means that the store is away, late (StoreLateError), or so slow that no more may wait for it. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof OverloadedError || isUnavailable(error);
}

/** Told of each error of a store that is away. */
export type StoreAlarm = (error: unknown) => void;

const everyMs = 5_000;

/** Makes the alarm: one warning in 5 seconds, with the error, however many requests find the store away. */
export function createStoreAlarm(logger: Logger, clock: Clock): StoreAlarm {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (err) => {
    const nowMs = clock.now();
    if (nowMs - warnedAt < everyMs) return;
    warnedAt = nowMs;
    logger.warn({ err }, "the store cannot be reached; requests are answered unavailable");
  };
}
