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
