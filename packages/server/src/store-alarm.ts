import { type Clock, OverloadedError } from "@svc/core";
import { isUnavailable } from "@svc/db/driver";
import type { Logger } from "./logger.ts";

/** Whether an error means that the store is away, late (StoreLateError), or so slow that no more may wait for it. */
export function isStoreAway(error: unknown): boolean {
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
