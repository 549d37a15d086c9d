import type { JsonObject } from "@svc/core";
import type { AskContinuation, StoredAccessClass } from "../schema/words.ts";
import { asWritten, documentType, plainDocument } from "./document.ts";
import { type PackedFields, packedDocument } from "./packed.ts";

/**
 * The decision about an ask (a question to a person). It is stored with the ask, and is a part of the job's receipt (the summary of a
 * finished job).
 */
export type DecisionDocument = {
  readonly continuation: AskContinuation;
  /** Id of the person who answered the question. Empty if the time for an answer expired and the default was applied. */
  readonly principalId: string;
  /** Id of the API key with which the person answered. Empty if the deadline decided. */
  readonly keyId: string;
  readonly surface: string;
  readonly note: string;
  /**
   * The overrides (changes to the job's params and call arguments) that the answer contains, as JSON text. Empty if the answer changes
   * nothing.
   */
  readonly overridesJson: string;
  /** Time at which the question was decided, in epoch milliseconds. */
  readonly at: number;
  /** Id of the console link through which the person answered the question. Absent if the answer came in another way. */
  readonly linkId?: string;
};

/**
 * Content of the column `job_asks.decision`: a person's decision, and `chain`, the keys and programs that caused it. The log entries of the
 * job that follow from the decision have the same `chain`.
 */
export type AskDecisionDocument = DecisionDocument & { readonly chain: readonly string[] };

/** Reads and writes the JSON of the column `job_asks.decision`, which is the answer to a question to a person. */
export const askDecisionDocument = documentType<AskDecisionDocument>("job_asks.decision", [asWritten]);

/**
 * Content of `jobs.estimate`: the lowest and highest numbers of calls, rows and questions that a run of the program can make. Also the
 * toolkits, entities and access classes that the program uses. Fields have the names of the message Estimate.
 */
export type EstimateDocument = {
  readonly callsMin: number;
  readonly callsMax: number;
  readonly writesMax: number;
  readonly destructiveMax: number;
  readonly rowsMax: number;
  readonly asksMax: number;
  readonly accessClasses: readonly StoredAccessClass[];
  readonly toolkits: readonly string[];
  readonly entities: readonly string[];
  readonly notCompensable: readonly string[];
};

/**
 * The fields of EstimateDocument, in the order in which their values are stored. The values are packed into one text without field names,
 * to save space.
 */
export const estimateFields: PackedFields<EstimateDocument> = {
  callsMin: true,
  callsMax: true,
  writesMax: true,
  destructiveMax: true,
  rowsMax: true,
  asksMax: true,
  accessClasses: true,
  toolkits: true,
  entities: true,
  notCompensable: true,
};

/** Reads and writes the JSON of the column `jobs.estimate`: the lowest and highest numbers of calls, rows and questions of a job. */
export const estimateDocument = packedDocument<EstimateDocument>("jobs.estimate", [asWritten], estimateFields);

/**
 * Document type of the column `standing_versions.estimate`: the lowest and highest numbers of calls, rows and questions of a run of this
 * version of a standing program (a schedule).
 */
export const standingEstimateDocument = packedDocument<EstimateDocument>(
  "standing_versions.estimate",
  [asWritten],
  estimateFields,
);

/**
 * Document type of the column `jobs.params`: the parameters of a job. The program chooses the names of its parameters, so this type fixes
 * no names.
 */
export const paramsDocument = plainDocument("jobs.params");

/**
 * Reads and writes the JSON of the column `jobs.step_args`. It contains arguments of tool calls that people changed when they answered
 * questions. The arguments are stored by the id of the step that uses them, under the tool's own argument names.
 */
export const stepArgsDocument = plainDocument<Readonly<Record<string, JsonObject>>>("jobs.step_args");

/**
 * Content of `jobs.saga`: how far svc has undone a job's calls. `entries`: number of undo entries. `done`: how many were undone. `failed`:
 * how many could not be undone. `cause`: why svc undoes the calls; the job ends with this result.
 */
export type SagaDocument = {
  readonly state: "none" | "armed" | "compensating" | "compensated" | "stuck";
  readonly entries: number;
  readonly done: number;
  readonly failed: number;
  readonly cause?: "failed" | "aborted" | "cancelled";
};

/** Reads and writes the JSON of the column `jobs.saga`: how far svc has undone a job's calls. */
export const sagaDocument = packedDocument<SagaDocument>("jobs.saga", [asWritten], {
  state: true,
  entries: true,
  done: true,
  failed: true,
  cause: true,
});
