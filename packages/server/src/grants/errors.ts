import { call, defineFaults, field, formatValue, text } from "@svc/core";

/** Errors of calls about grants (people's permissions for agents) and agent keys. */
export const grantFaults = defineFaults({
  GRANT_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `the project has no grant ${formatValue(id)}`,
    help: text`${call("ListGrants")} returns the grants that it has.`,
  },
  GRANT_NOT_YOURS: {
    code: "permission_denied",
    field: "id",
    says: (id: string) => `the grant ${id} was given with another key`,
    help: "Send the key that it was given with, or one with the role approver.",
  },
  GRANT_ENDED: {
    code: "failed_precondition",
    field: "id",
    says: (id: string) => `the grant ${id} has ended, or the key that it was given with has`,
    help: "Let the agent ask a person for another grant.",
  },
  GRANT_CONFIRMS_LESS: {
    code: "invalid_argument",
    reason: "GRANT_WIDENED",
    field: "confirm.person",
    says: (person: string, present: string) =>
      text`${field("confirm.person")} ${formatValue(person)} is less than ${formatValue(present)}, which the grant has`,
    help: "Name at least the calls that the grant needs confirmed; for less, the agent asks a person again.",
  },
  GRANT_WIDENED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, value: string, present: readonly string[]) =>
      text`${field(path)} ${formatValue(value)} is ${present.length === 0 ? (path.startsWith("toolkitSlugs") ? "not a slug of a toolkit, or more than 100 slugs are given" : "not part of the grant, which has none") : `not one of ${present.join(", ")}, which the grant has`}`,
    help: "Name only a part of what the grant has; to get more, the agent asks a person again.",
  },
  LIFETIME_INVALID: {
    code: "invalid_argument",
    field: "lifetime",
    says: (lifetime: string) => `lifetime ${lifetime} is not between 1s and 24h`,
    help: "Send a second to 24 hours, or leave it unset for an hour.",
  },
  AGENT_KEY_UNSCOPED: {
    code: "invalid_argument",
    field: "entityId",
    says: text`${field("entityId")} and toolkitSlugs are empty: the key would reach the whole project`,
    help: "Name the one entity that the agent works for, or the toolkits that it may use.",
  },
  AGENT_KEY_WIDENED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, value: string, has: readonly string[]) =>
      text`${field(path)} ${formatValue(value)} is not one of ${has.join(", ")}, which this key may use`,
    help: "Name only what this key may use.",
  },
  AGENT_KEY_CONFIRMS_LESS: {
    code: "invalid_argument",
    reason: "AGENT_KEY_WIDENED",
    field: "confirm.person",
    says: (person: string, present: string) =>
      text`${field("confirm.person")} ${formatValue(person)} has a person confirm less than ${formatValue(present)}, which is the rule of this key`,
    help: "Name at least the calls that this key needs confirmed, and no elicitation that this key does not have.",
  },
  AGENT_KEYS_EXCEEDED: {
    code: "resource_exhausted",
    says: (max: number) => `${max} keys that this key made are valid, which is the maximum`,
    help: text`End those that no agent uses with ${call("RevokeAgentKey")}, or wait until one expires.`,
  },
  AGENT_KEY_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `this key made no key ${formatValue(id)}`,
    help: text`${call("ListAgentKeys")} returns the keys that it made; the administrator revokes other keys with ${call("RevokeApiKey")}.`,
  },
});
