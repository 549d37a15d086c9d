import type { ConfirmRule, JsonObject } from "@svc/core";
import type { RowCounts } from "./calls.ts";
import { asWritten, documentList, documentType } from "./document.ts";

/** An entry of `job_asks.escalation`, in the order in which people are asked. 0 seconds: the question stays with this person. */
type EscalationHopDocument = { readonly principalId: string; readonly timeoutSeconds: number };

/** How `job_asks.escalation` is stored. */
export const escalationDocument = documentList(documentType<EscalationHopDocument>("job_asks.escalation", [asWritten]));

/** How `job_asks.counts` is stored: numbers of the question's rows. */
export const askCountsDocument = documentType<RowCounts>("job_asks.counts", [asWritten]);

/** How `project_policies.confirm` is stored. */
export const projectConfirmDocument = documentType<ConfirmRule>("project_policies.confirm", [asWritten]);

/** `contacts.reach`: the contact channel, as tool, entity and argument template. */
export type ContactChannelDocument = {
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: JsonObject;
};

/** How `contacts.reach` is stored. */
export const contactChannelDocument = documentType<ContactChannelDocument>("contacts.reach", [asWritten]);
