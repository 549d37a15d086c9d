import { type ConfirmRule, confirmScopes, formatValue, noConfirmRule, type PageScope, type ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { contactsForProject } from "@svc/db/contacts/repo";
import type { ConfirmPolicy } from "@svc/gen/admin";
import { adminFaults } from "./errors.ts";

const nameCharactersMax = 100;
// Control and format characters, including those that change the direction of text and can make a name look like another one.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Returns the name of a project or key, unchanged. Throws NAME_INVALID if the name is empty or too long, or contains invisible characters.
 */
export function requireName(name: string): string {
  if (name.trim() === "" || [...name].length > nameCharactersMax || invisible.test(name))
    throw adminFaults.NAME_INVALID(name, nameCharactersMax);
  return name;
}

/**
 * Returns the scope for which a page token of an administrator's list is valid: the call and its filters. The list covers all projects, so
 * the scope has no project.
 */
export function adminScope(call: string, filters: PageScope["filters"] = {}): PageScope {
  return { call, projectId: "", filters };
}

/**
 * Returns the confirmation policy that a request sets for a project. Returns undefined if the request contains none, so that the project's
 * policy stays unchanged. Throws CONFIRM_INVALID.
 */
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
  throw adminFaults.CONFIRM_INVALID("confirm.contact", `${formatValue(contact)} is not a contact of the project`);
}
