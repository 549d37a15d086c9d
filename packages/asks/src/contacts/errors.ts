import { type Fault, fault, formatValue } from "@svc/core";

/** A contact's name for programs and answers is out of its form. */
export function principalIdInvalid(principalId: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "PRINCIPAL_ID_INVALID",
    field: "contact.principalId",
    message: `contact.principalId ${formatValue(principalId)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send your own name of the person, 1 to 200 characters.",
  });
}

/** A contact's name for people is out of its form. */
export function contactNameInvalid(name: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CONTACT_NAME_INVALID",
    field: "contact.name",
    message: `contact.name ${formatValue(name)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send what people call them, 1 to 200 characters.",
  });
}

/** The project sees no tool of that slug. */
export function reachToolNotFound(toolSlug: string): Fault {
  return fault({
    code: "not_found",
    reason: "TOOL_NOT_FOUND",
    field: "contact.reach.toolSlug",
    message: `contact.reach.toolSlug ${formatValue(toolSlug)} is not a tool of the catalog`,
    help: "Send a catalog-wide slug of the form <toolkit>.<tool>; SearchTools finds them by what you want to do.",
  });
}

/** The tool cannot tell anybody anything, or would do harm. */
export function reachToolUnsuitable(toolSlug: string, why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "REACH_TOOL_UNSUITABLE",
    field: "contact.reach.toolSlug",
    message: `contact.reach.toolSlug ${formatValue(toolSlug)} ${why}`,
    help: "Name a callable tool that is not destructive, such as one that sends a message.",
  });
}

/** Whose account is to be used is out of its form. */
export function reachEntityInvalid(entityId: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ENTITY_ID_INVALID",
    field: "contact.reach.entityId",
    message: `contact.reach.entityId ${formatValue(entityId)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send the entity whose account sends the message, 1 to 200 characters.",
  });
}

/** The arguments could not be sent. */
export function reachArgsInvalid(why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "REACH_ARGS_INVALID",
    field: "contact.reach.argsJson",
    message: `contact.reach.argsJson ${why}`,
    help: "Send an object of the tool's arguments, in whose texts {question}, {jobId} and {requestId} may stand.",
  });
}

/** A project is never without an approver. */
export function lastApprover(principalId: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "LAST_APPROVER",
    message: `the contact ${formatValue(principalId)} is the project's only approver`,
    help: "Mark another contact as approver first.",
  });
}

/** The project has as many contacts as it may. */
export function contactsTooMany(max: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "CONTACTS_TOO_MANY",
    message: `the project has ${max} contacts already, as many as it may`,
    help: "Delete contacts that are not asked any more.",
  });
}

/** The project has no such contact. */
export function contactNotFound(principalId: string): Fault {
  return fault({
    code: "not_found",
    reason: "CONTACT_NOT_FOUND",
    field: "principalId",
    message: `there is no contact ${formatValue(principalId)} in this project`,
    help: "ListContacts lists them.",
  });
}

/** Somebody waits for the contact's answer. */
export function contactAsked(principalId: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "CONTACT_ASKED",
    field: "principalId",
    message: `a pending ask has reached the contact ${formatValue(principalId)}`,
    help: "Answer the ask (ListAsks shows it), or cancel its job, first.",
  });
}
