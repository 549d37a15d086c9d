import { asWritten, documentList, documentType } from "./document.ts";

/** An entry of `deliveries.attempt_log`: one try of one delivery, as it went. */
export type AttemptEntry = {
  /** From 1. */
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

/** How an entry of `deliveries.attempt_log` is stored. */
export const attemptDocument = documentType<AttemptEntry>("deliveries.attempt_log", [asWritten]);

/** How `deliveries.attempt_log` is stored. */
export const attemptLogDocument = documentList(attemptDocument);
