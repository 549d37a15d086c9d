import type { RowCounts } from "./counts.ts";
import { asWritten, documentList, documentType } from "./document.ts";

/** An entry of `job_asks.escalation`: who is asked in turn. 0 seconds: the question stays there. */
export type EscalationHopDocument = { readonly principalId: string; readonly timeoutSeconds: number };

/** How `job_asks.escalation` is stored. */
export const escalationDocument = documentList(documentType<EscalationHopDocument>("job_asks.escalation", [asWritten]));

/** How `job_asks.counts` is stored: the rows that a question is about. */
export const askCountsDocument = documentType<RowCounts>("job_asks.counts", [asWritten]);
