import { type ConfirmRule, confirmScopes, formatValue, noConfirmRule, type ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { contactsForProject } from "@svc/db/contacts/repo";
import type { ConfirmPolicy } from "@svc/gen/admin";
import { adminFaults } from "./errors.ts";

/** What a person confirms by a request. Undefined, for what stays as it is, when it was not sent. Throws CONFIRM_INVALID. */
export async function readConfirmPolicy(
  db: Executor,
  projectId: ProjectId,
  sent: ConfirmPolicy | undefined,
): Promise<ConfirmRule | undefined> {
  if (sent === undefined) return undefined;
  const { person: text, contact, elicitation } = sent;
  const person = text === "" ? "never" : confirmScopes.find((known) => known === text);
  if (person === undefined) throw adminFaults.CONFIRM_INVALID("confirm.person", `${formatValue(text)} is not known`);
  if (person === "never") return noConfirmRule;
  if ((await contactsForProject(db, projectId).find(contact)) !== undefined)
    return { person, contact, ...(elicitation && { elicitation }) };
  throw adminFaults.CONFIRM_INVALID("confirm.contact", `${formatValue(contact)} is no contact of the project`);
}
