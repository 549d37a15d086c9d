import type { JsonObject } from "@svc/core";
import type { AskContinuation, StoredAccessClass } from "../schema/words.ts";
import { asWritten, documentType, plainDocument } from "./document.ts";
import { type PackedFields, packedDocument } from "./packed.ts";

/** The decision of an ask; part of receipts. */
export type DecisionDocument = {
  readonly continuation: AskContinuation;
  /** Empty for the deadline. */
  readonly principalId: string;
  /** Empty for the deadline. */
  readonly keyId: string;
  readonly surface: string;
  readonly note: string;
  /** JSON text; empty for none. */
  readonly overridesJson: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The link used for the answer; absent for none. */
  readonly linkId?: string;
};

/** `job_asks.decision`: a decision with its principal chain, which also applies to the job's next entries. */
export type AskDecisionDocument = DecisionDocument & { readonly chain: readonly string[] };

/** How `job_asks.decision` is stored. */
export const askDecisionDocument = documentType<AskDecisionDocument>("job_asks.decision", [asWritten]);

/** `jobs.estimate`: upper and lower limits of a program, in the words of the message Estimate. */
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

/** Fields of an estimate in packing order. */
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

/** How `jobs.estimate` is stored. */
export const estimateDocument = packedDocument<EstimateDocument>("jobs.estimate", [asWritten], estimateFields);

/** The same for a version of a standing program: `standing_versions.estimate`. */
export const standingEstimateDocument = packedDocument<EstimateDocument>(
  "standing_versions.estimate",
  [asWritten],
  estimateFields,
);

/** How `jobs.params` is stored: by the program's own names. */
export const paramsDocument = plainDocument("jobs.params");

/** How `jobs.step_args` is stored: arguments by the tool's names, for each step id that an answer changed. */
export const stepArgsDocument = plainDocument<Readonly<Record<string, JsonObject>>>("jobs.step_args");

/** `jobs.saga`. While it compensates, `cause` is the job's final result. */
export type SagaDocument = {
  readonly state: "none" | "armed" | "compensating" | "compensated" | "stuck";
  readonly entries: number;
  readonly done: number;
  readonly failed: number;
  readonly cause?: "failed" | "aborted" | "cancelled";
};

/** How `jobs.saga` is stored. */
export const sagaDocument = packedDocument<SagaDocument>("jobs.saga", [asWritten], {
  state: true,
  entries: true,
  done: true,
  failed: true,
  cause: true,
});
