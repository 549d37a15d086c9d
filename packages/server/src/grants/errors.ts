import { type Fault, fault, formatValue } from "@svc/core";

/** The project has no grant of this id. */
export function grantNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "GRANT_NOT_FOUND",
    field: "id",
    message: `the project has no grant ${formatValue(id)}`,
    help: "ListGrants returns those that it has.",
  });
}

/** A member changes a grant that another key gave. */
export function grantNotYours(id: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "GRANT_NOT_YOURS",
    field: "id",
    message: `the grant ${id} was given with another key`,
    help: "Send the key that it was given with, or one with the role approver.",
  });
}

/** What has ended cannot be narrowed. */
export function grantEnded(id: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "GRANT_ENDED",
    field: "id",
    message: `the grant ${id} has ended, by itself or with the key it was given with`,
    help: "The agent asks a person for another one.",
  });
}

/** A change has a person confirm less than before. */
export function grantConfirmsLess(person: string, present: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "GRANT_WIDENED",
    field: "confirm.person",
    message: `confirm.person ${formatValue(person)} is less than ${formatValue(present)}, which the grant has`,
    help: "Name as many calls as before, or more; for less, the agent asks a person again.",
  });
}

/** A change names what the grant may not use, or what nothing is called. */
export function grantWidened(field: string, value: string, present: readonly string[]): Fault {
  const isToolkit = field.startsWith("toolkitSlugs");
  const none = isToolkit ? "no slug of a toolkit, or one of more than 100" : "none that the grant has: it has none";
  return fault({
    code: "invalid_argument",
    reason: "GRANT_WIDENED",
    field,
    message: `${field} ${formatValue(value)} is ${present.length === 0 ? none : `none of ${present.join(", ")}, which the grant has`}`,
    help: "Name what the grant keeps; to widen it, the agent asks a person again.",
  });
}
