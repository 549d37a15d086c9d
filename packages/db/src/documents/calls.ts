import type { Binding, JobBinding } from "@svc/core";
import { asWritten, documentList, documentType } from "./document.ts";
import { type PackedFields, packedDocument } from "./packed.ts";

/** An entry of `deliveries.attempt_log`: one attempt of one delivery. */
export type AttemptEntry = {
  /** Number from 1: among all attempts when read, among those of the retry schedule as stored. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The URL used: the endpoint's address may change between two attempts. */
  readonly requestUrl: string;
  /** The IP address; empty if no connection was attempted. */
  readonly address: string;
  /** 0 if no response arrived. */
  readonly statusCode: number;
  /** Empty if delivered. */
  readonly error: string;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The first 1,024 bytes of the response, as UTF-8 text. */
  readonly responseBody: string;
};

/**
 * How an entry of `deliveries.attempt_log` is stored: packed, because every delivery has one. A settled row is then not much larger than
 * the pending one, so a page has room for the updates of all its rows.
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

/** One node's share of a limiter key; times in epoch milliseconds. */
export type PaceShare = {
  /** Running calls, valid until `heldUntil`: a node that dies frees its slots then. */
  readonly held: number;
  readonly heldUntil: number;
  /** Calls waiting on the node since `waitsSince`, as it reported at `saidAt`. */
  readonly wanted: number;
  readonly waitsSince: number;
  readonly saidAt: number;
};

/**
 * Recently started calls: their number in each of the latest intervals of `widthMs`, newest first; `latest` is the number of the newest
 * interval.
 */
export type PaceWindow = { readonly widthMs: number; readonly latest: number; readonly counts: readonly number[] };

/** `call_paces.pace`: usage of one limiter key, over all nodes. */
export type PaceDocument = {
  /** By node id. */
  readonly shares: Readonly<Record<string, PaceShare>>;
  readonly window?: PaceWindow | undefined;
};

/** How `jobs.binding` is stored: the scope of the key that began the job, and the account of a call that a person confirms. */
export const jobBindingDocument = documentType<JobBinding>("jobs.binding", [asWritten]);

/** How `standing_programs.binding` is stored. */
export const standingBindingDocument = documentType<Binding>("standing_programs.binding", [asWritten]);

/** Rows of a step, by result. */
export type RowCounts = {
  readonly in: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
};

/** Tool calls by class, and among all of them the repeated ones and those with unknown outcome; without undo calls. */
export type CallCounts = {
  readonly read: number;
  readonly write: number;
  readonly destructive: number;
  readonly retried: number;
  readonly unknown: number;
};

/** Fields of the counts in packing order. */
export const rowCountFields: PackedFields<RowCounts> = {
  in: true,
  ok: true,
  failed: true,
  skipped: true,
  unknown: true,
};

/** Fields of the counts in packing order. */
export const callCountFields: PackedFields<CallCounts> = {
  read: true,
  write: true,
  destructive: true,
  retried: true,
  unknown: true,
};
