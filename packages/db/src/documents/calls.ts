import type { Binding, JobBinding } from "@svc/core";
import { asWritten, documentList, documentType } from "./document.ts";
import { type PackedFields, packedDocument } from "./packed.ts";

/** One attempt of a delivery, as an entry of `deliveries.attempt_log`: its times, its request URL, and the endpoint's answer. */
export type AttemptEntry = {
  /** Number of the attempt, from 1. The stored number leaves out manual attempts. When svc reads the entry, it counts all attempts. */
  readonly number: number;
  /** Start of the attempt, in epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The URL that svc called. It is stored per attempt, because the endpoint's address may change between two attempts. */
  readonly requestUrl: string;
  /** IP address that svc connected to. Empty if svc attempted no connection. */
  readonly address: string;
  /** HTTP status of the response. 0 if no response arrived. */
  readonly statusCode: number;
  /** Error of the attempt to deliver an event. Empty if the event was delivered. */
  readonly error: string;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The first 1,024 bytes of the response, as UTF-8 text. */
  readonly responseBody: string;
};

/**
 * Reads and writes an entry of `deliveries.attempt_log`, in packed form (without field names), because every delivery has such entries. So
 * the row of a finished delivery is not much larger than the row of a pending one. A database page then has space for the updates of all
 * its rows.
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

/** Reads and writes the JSON of the column `deliveries.attempt_log`: all attempts of a delivery. */
export const attemptLogDocument = documentList(attemptDocument);

/** Calls of one node that count for a limiter key (counter of a call limit). Times are in epoch milliseconds. */
export type PaceShare = {
  /** Number of running calls that the node reported for a call limit. After `heldUntil`, these calls no longer count. */
  readonly held: number;
  readonly heldUntil: number;
  /** Number of calls that wait on the node. `waitsSince`: the start of their wait. `saidAt`: when the node last reported these values. */
  readonly wanted: number;
  readonly waitsSince: number;
  readonly saidAt: number;
};

/**
 * How many calls started recently. `counts`: the number of calls in each interval of `widthMs` milliseconds, newest interval first.
 * `latest`: sequence number of the newest interval.
 */
export type PaceWindow = { readonly widthMs: number; readonly latest: number; readonly counts: readonly number[] };

/** Content of `call_paces.pace`: how much all nodes together use one call limit (running, waiting and recent calls). */
export type PaceDocument = {
  /**
   * Running and waiting calls of each node that count for this limiter key (counter of a call limit). The key of each entry is the node's
   * id.
   */
  readonly shares: Readonly<Record<string, PaceShare>>;
  readonly window?: PaceWindow | undefined;
};

/**
 * Reads and writes the JSON of the column `jobs.binding`: the limits (scope) of the key that started the job. If a person confirmed the
 * job's call, it also names the only account that the job may use.
 */
export const jobBindingDocument = documentType<JobBinding>("jobs.binding", [asWritten]);

/**
 * Reads and writes the JSON of the column `standing_programs.binding`: the entity, toolkits and access classes to which a standing program
 * (a schedule) is limited.
 */
export const standingBindingDocument = documentType<Binding>("standing_programs.binding", [asWritten]);

/** Numbers of a step's rows, by result. */
export type RowCounts = {
  readonly in: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
};

/**
 * Numbers of tool calls, without undo calls. `read`, `write`, `destructive`: calls by access class. `retried`: how many of all these calls
 * were repeated. `unknown`: how many of them have an unknown outcome.
 */
export type CallCounts = {
  readonly read: number;
  readonly write: number;
  readonly destructive: number;
  readonly retried: number;
  readonly unknown: number;
};

/**
 * The fields of RowCounts, in the order in which their values are stored. The values are packed into one text without field names, to save
 * space.
 */
export const rowCountFields: PackedFields<RowCounts> = {
  in: true,
  ok: true,
  failed: true,
  skipped: true,
  unknown: true,
};

/**
 * The fields of CallCounts, in the order in which their values are stored. The values are packed into one text without field names, to save
 * space.
 */
export const callCountFields: PackedFields<CallCounts> = {
  read: true,
  write: true,
  destructive: true,
  retried: true,
  unknown: true,
};
