import type { AskContinuation } from "../schema/words.ts";
import { asWritten, documentType } from "./document.ts";

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
