import type { ConfirmRule, JsonObject } from "@svc/core";
import type { RowCounts } from "./calls.ts";
import { asWritten, documentList, documentType } from "./document.ts";

/**
 * An entry of `job_asks.escalation`: a person to ask, and for how long before the next person is asked. Entries are in the order of the
 * escalation. 0 seconds: the question stays with this person.
 */
type EscalationHopDocument = { readonly principalId: string; readonly timeoutSeconds: number };

/**
 * Reads and writes the JSON of the column `job_asks.escalation`: the contacts whom svc asks one after the other, and how long it waits for
 * each.
 */
export const escalationDocument = documentList(documentType<EscalationHopDocument>("job_asks.escalation", [asWritten]));

/** Reads and writes the JSON of the column `job_asks.counts`: for a question about rows of a job, the number of these rows by result. */
export const askCountsDocument = documentType<RowCounts>("job_asks.counts", [asWritten]);

/** Reads and writes the JSON of the column `project_policies.confirm`: which calls of a project a person must confirm. */
export const projectConfirmDocument = documentType<ConfirmRule>("project_policies.confirm", [asWritten]);

/**
 * Content of the column `contacts.reach`: the tool call that sends a question to a contact. `toolSlug`: the tool. `entityId`: the entity
 * (customer or user) whose account sends it. `args`: the arguments, in which placeholders such as `{question}` are replaced.
 */
export type ContactChannelDocument = {
  readonly toolSlug: string;
  readonly entityId: string;
  readonly args: JsonObject;
};

/** Reads and writes the JSON of the column `contacts.reach`: how svc sends questions to a contact (a person who answers questions). */
export const contactChannelDocument = documentType<ContactChannelDocument>("contacts.reach", [asWritten]);
