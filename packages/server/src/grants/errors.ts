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

/** A key for an agent would be valid for no time, or for too long. */
export function lifetimeInvalid(lifetime: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "LIFETIME_INVALID",
    field: "lifetime",
    message: `lifetime ${lifetime} is not between 1s and 24h`,
    help: "Send a second to 24 hours, or leave it unset for an hour.",
  });
}

/** A key for an agent would reach the whole project. */
export function agentKeyUnscoped(): Fault {
  return fault({
    code: "invalid_argument",
    reason: "AGENT_KEY_UNSCOPED",
    field: "entityId",
    message: "entityId and toolkitSlugs are empty: the key would reach the whole project",
    help: "Name the one entity that the agent works for, or the toolkits that it may use.",
  });
}

/** A key for an agent would use what its maker may not. */
export function agentKeyWidened(field: string, value: string, has: readonly string[]): Fault {
  return fault({
    code: "invalid_argument",
    reason: "AGENT_KEY_WIDENED",
    field,
    message: `${field} ${formatValue(value)} is none of ${has.join(", ")}, which is what this key may use`,
    help: "Name what this key may use, or less.",
  });
}

/** A person would confirm less of an agent's calls than of those of the maker of its key. */
export function agentKeyConfirmsLess(person: string, present: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "AGENT_KEY_WIDENED",
    field: "confirm.person",
    message: `confirm.person ${formatValue(person)} has a person confirm less than ${formatValue(present)}, which is the rule of this key`,
    help: "Name as many calls as this key has confirmed, or more, and no elicitation that it has not.",
  });
}

/** A key has made as many keys as may be valid. */
export function agentKeysExceeded(max: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "AGENT_KEYS_EXCEEDED",
    message: `${max} keys that this key made are valid, which is as many as there may be`,
    help: "End those that no agent uses with RevokeAgentKey, or wait until one expires.",
  });
}

/** The caller's key made no key of this id. */
export function agentKeyNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "AGENT_KEY_NOT_FOUND",
    field: "id",
    message: `this key made no key ${formatValue(id)}`,
    help: "ListAgentKeys returns those that it made; the administrator ends any other with RevokeApiKey.",
  });
}
