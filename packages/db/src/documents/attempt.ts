import { asWritten, documentList } from "./document.ts";
import { packedDocument } from "./packed.ts";

/** An entry of `deliveries.attempt_log`: one try of one delivery, as it went. */
export type AttemptEntry = {
  /** Position, from 1: among all attempts of the delivery when read, among those of the retry schedule as stored. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Where it was sent: the endpoint's address may have changed between two attempts. */
  readonly requestUrl: string;
  /** The address dialled; empty when none was. */
  readonly address: string;
  /** 0 when no answer came. */
  readonly statusCode: number;
  /** Empty when delivered. */
  readonly error: string;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The first 1,024 bytes of the answer, as UTF-8 text. */
  readonly responseBody: string;
};

/**
 * How an entry of `deliveries.attempt_log` is stored: packed, since every delivery has one, and where a settled row is not much larger
 * than the pending one, a page has room for all that were stored in it.
 */
export const attemptDocument = packedDocument<AttemptEntry>("deliveries.attempt_log", [asWritten], {
  number: true,
  startedAt: true,
  durationMs: true,
  requestUrl: true,
  address: true,
  statusCode: true,
  error: true,
  responseHeaders: true,
  responseBody: true,
});

/** How `deliveries.attempt_log` is stored. */
export const attemptLogDocument = documentList(attemptDocument);
