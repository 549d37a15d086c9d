import type { JsonObject } from "@svc/core";
import type { AskContinuation, StoredAccessClass } from "../schema/words.ts";
import { asWritten, documentType, plainDocument } from "./document.ts";
import { type PackedFields, packedDocument } from "./packed.ts";

/** How an ask was settled; part of receipts. */
export type DecisionDocument = {
  readonly continuation: AskContinuation;
  /** Empty for the clock. */
  readonly principalId: string;
  /** Empty for the clock. */
  readonly keyId: string;
  readonly surface: string;
  readonly note: string;
  /** JSON text; empty for none. */
  readonly overridesJson: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** The link that the answer came by; missing for none. */
  readonly linkId?: string;
};

/** `job_asks.decision`: a decision with who caused it, which is what the job's next entries are caused by. */
export type AskDecisionDocument = DecisionDocument & { readonly chain: readonly string[] };

/** How `job_asks.decision` is stored. */
export const askDecisionDocument = documentType<AskDecisionDocument>("job_asks.decision", [asWritten]);

/** `jobs.estimate`: the bounds of a program, in the words of the message Estimate. */
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

/** The fields of an estimate as they are packed. */
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

/** The same of a version of a standing program: `standing_versions.estimate`. */
export const standingEstimateDocument = packedDocument<EstimateDocument>(
  "standing_versions.estimate",
  [asWritten],
  estimateFields,
);

/** How `jobs.params` is stored: the program's own names. */
export const paramsDocument = plainDocument("jobs.params");

/** How `jobs.step_args` is stored: for each step that an answer changed, by its id, arguments by the tool's names. */
export const stepArgsDocument = plainDocument<Readonly<Record<string, JsonObject>>>("jobs.step_args");

/** `jobs.saga`. `cause` says, while it compensates, how the job ends afterwards. */
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
