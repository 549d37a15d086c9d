import type { Binding, JobBinding } from "@svc/core";
import { asWritten, documentList, documentType } from "./document.ts";
import { type PackedFields, packedDocument } from "./packed.ts";

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

/** What one node has of a pace; times in epoch milliseconds. */
export type PaceShare = {
  /** Calls under way, until `heldUntil`: a node that ends without a word gives its places back then. */
  readonly held: number;
  readonly heldUntil: number;
  /** Calls that wait there, since `waitsSince`, as it said at `saidAt`. */
  readonly wanted: number;
  readonly waitsSince: number;
  readonly saidAt: number;
};

/** Calls that began lately: how many in each of the latest stretches of `widthMs`, the newest of which is number `latest`, first. */
export type PaceWindow = { readonly widthMs: number; readonly latest: number; readonly counts: readonly number[] };

/** `call_paces.pace`: the calls that one key of a limit counts together, over all nodes. */
export type PaceDocument = {
  /** By node id. */
  readonly shares: Readonly<Record<string, PaceShare>>;
  readonly window?: PaceWindow | undefined;
};

/** How `jobs.binding` is stored: what whoever began it was bound to, and the account of a call that a person was asked about. */
export const jobBindingDocument = documentType<JobBinding>("jobs.binding", [asWritten]);

/** How `standing_programs.binding` is stored. */
export const standingBindingDocument = documentType<Binding>("standing_programs.binding", [asWritten]);

/** How many rows a step took, by how they ended. */
export type RowCounts = {
  readonly in: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
};

/** Tool calls by class; of all of them, repetitions and those whose outcome is unknown. Undo calls are not among them. */
export type CallCounts = {
  readonly read: number;
  readonly write: number;
  readonly destructive: number;
  readonly retried: number;
  readonly unknown: number;
};

/** The fields of counts as they are packed. */
export const rowCountFields: PackedFields<RowCounts> = {
  in: true,
  ok: true,
  failed: true,
  skipped: true,
  unknown: true,
};

/** The fields of counts as they are packed. */
export const callCountFields: PackedFields<CallCounts> = {
  read: true,
  write: true,
  destructive: true,
  retried: true,
  unknown: true,
};
