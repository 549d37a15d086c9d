import { type Fault, fault, formatValue } from "@svc/core";

/** The project sees no tool of that slug. `meant`: the nearest of those that it does see. */
export function toolNotFound(field: string, slug: string, meant: string | undefined): Fault {
  return fault({
    code: "not_found",
    reason: "TOOL_NOT_FOUND",
    field,
    message: `${field} ${formatValue(slug)} is not a tool of the catalog`,
    help: `${meant === undefined ? "" : `Did you mean ${meant}? `}Send a catalog-wide slug of the form <toolkit>.<tool>; SearchTools finds them by what you want to do.`,
  });
}

/** `argumentsJson` is not the JSON text of an object. */
export function argumentsMalformed(why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ARGUMENTS_MALFORMED",
    field: "argumentsJson",
    message: `argumentsJson ${why}; it must be the JSON text of an object`,
    help: 'Send text such as {"calendar_id": "primary"}.',
  });
}

/** An entity's name is out of its form. */
export function entityIdInvalid(entityId: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ENTITY_ID_INVALID",
    field: "entityId",
    message: `entityId ${formatValue(entityId)} is longer than 200 characters or holds control characters`,
    help: "Send the name that the account was connected under.",
  });
}

/** `fields` or `maxBytes` is out of its documented form. */
export function callOptionInvalid(field: "fields" | "maxBytes", message: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CALL_OPTION_INVALID",
    field,
    message: `${field} ${message}`,
    help: "fields takes up to 100 dotted paths such as items.id; maxBytes is 0 or at least 256.",
  });
}

/** An idempotency key is out of its form. */
export function idempotencyKeyInvalid(key: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "IDEMPOTENCY_KEY_INVALID",
    field: "idempotencyKey",
    message: `idempotencyKey ${formatValue(key)} is longer than 200 characters or holds control characters`,
    help: "Send up to 200 printable characters, such as a UUID.",
  });
}

/** An idempotency key was used for something else. */
export function idempotencyKeyReused(key: string): Fault {
  return fault({
    code: "already_exists",
    reason: "IDEMPOTENCY_KEY_REUSED",
    field: "idempotencyKey",
    message: `idempotencyKey ${formatValue(key)} was used with another tool, account or other arguments`,
    help: "Use a new key for every call that differs.",
  });
}

/** The first call of an idempotency key still runs. */
export function callInProgress(key: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "CALL_IN_PROGRESS",
    field: "idempotencyKey",
    message: `the call of idempotencyKey ${formatValue(key)} still runs`,
    help: "Send the same request again in a few seconds.",
  });
}

/** A call limit of the project, or the rate of the toolkit's own definition, is full, and stayed so for as long as a call waits. */
export function callLimited(limit: string, retryAfterMs: number): Fault {
  const named = limit.startsWith("@") ? `the rate of toolkit ${limit.slice(1)}` : `call limit ${formatValue(limit)}`;
  return fault({
    code: "resource_exhausted",
    reason: "CALL_LIMIT",
    message: `${named} has no room for another call now; nothing was sent`,
    help: "Send the same request again after the time of Retry-After, or make the calls in a job, which waits for its turn.",
    retryAfterMs,
  });
}

/** A call limit that applies to a call is paused. */
export function callLimitPaused(limit: string, retryAfterMs: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "CALL_LIMIT_PAUSED",
    message: `call limit ${formatValue(limit)} is paused; nothing was sent`,
    help: "Wait until the limit is put again without paused.",
    retryAfterMs,
  });
}

/** A call limit's name is out of its form. */
export function callLimitNameInvalid(name: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CALL_LIMIT_NAME_INVALID",
    field: "limit.name",
    message: `limit.name ${formatValue(name)} is not a name: a lower-case letter, then letters, digits, - and _, 60 in all`,
    help: "Send a name such as calendar-writes.",
  });
}

/** A call limit names no toolkit that the project sees. */
export function callLimitToolkitNotFound(slug: string, meant: string | undefined): Fault {
  return fault({
    code: "not_found",
    reason: "TOOLKIT_NOT_FOUND",
    field: "limit.toolkitSlug",
    message: `limit.toolkitSlug ${formatValue(slug)} is not a toolkit of the catalog`,
    help: `${meant === undefined ? "" : `Did you mean ${meant}? `}Leave it empty for calls of every toolkit.`,
  });
}

/** A key expression that cannot be used. */
export function keyExpressionInvalid(why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "KEY_EXPRESSION_INVALID",
    field: "limit.keyExpression",
    message: `limit.keyExpression ${why}`,
    help: "Send CEL over toolSlug, entityId, accountId and accessClass, such as accountId, or leave it empty to count all calls together.",
  });
}

/** The bounds of a call limit are missing, or out of their form. */
export function callLimitBoundInvalid(field: "concurrency" | "rate" | "rate.max" | "rate.per", why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CALL_LIMIT_BOUND_INVALID",
    field: `limit.${field}`,
    message: `limit.${field} ${why}`,
    help: "Send concurrency from 1 to 10,000, rate {max from 1 to 100,000, per from 1s to 1 day}, or both; paused needs neither.",
  });
}

/** The project has as many call limits as it may. */
export function callLimitsTooMany(most: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "CALL_LIMITS_TOO_MANY",
    message: `the project has ${most} call limits already`,
    help: "Delete those that hold nothing any more.",
  });
}

/** The project has no call limit of that name. */
export function callLimitNotFound(name: string): Fault {
  return fault({
    code: "not_found",
    reason: "CALL_LIMIT_NOT_FOUND",
    field: "name",
    message: `name ${formatValue(name)} is not a call limit of this project`,
    help: "ListCallLimits lists them.",
  });
}

/** The phase of a hook is none there is. */
export function hookPhaseInvalid(phase: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "HOOK_PHASE_INVALID",
    field: "phase",
    message: `phase ${formatValue(phase)} is neither before nor after`,
    help: "Send before, to be asked before calls are sent, or after, to be asked about their results.",
  });
}

/** A hook names no toolkit that the project sees. */
export function hookToolkitNotFound(index: number, slug: string, meant: string | undefined): Fault {
  return fault({
    code: "not_found",
    reason: "TOOLKIT_NOT_FOUND",
    field: `toolkitSlugs[${index}]`,
    message: `toolkitSlugs[${index}] ${formatValue(slug)} is not a toolkit of the catalog`,
    help: `${meant === undefined ? "" : `Did you mean ${meant}? `}Leave the list empty for calls of every toolkit.`,
  });
}

/** The project has as many hooks as it may. */
export function hooksTooMany(most: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "HOOKS_TOO_MANY",
    message: `the project has ${most} hooks already`,
    help: "Delete those that are not asked any more: each is waited for by calls.",
  });
}

/** The project has no hook of that id. */
export function hookNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "HOOK_NOT_FOUND",
    field: "id",
    message: `id ${formatValue(id)} is not a hook of this project`,
    help: "ListHooks lists them.",
  });
}

/** `outcome` of a list is none there is. */
export function outcomeInvalid(outcome: string, known: readonly string[]): Fault {
  return fault({
    code: "invalid_argument",
    reason: "OUTCOME_INVALID",
    field: "outcome",
    message: `outcome ${formatValue(outcome)} is not an outcome`,
    help: `Send one of ${known.join(", ")}.`,
  });
}

/** The project has no such call, or not any more. */
export function toolCallNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "TOOL_CALL_NOT_FOUND",
    field: "id",
    message: `id ${formatValue(id)} is not a call of this project`,
    help: "ListToolCalls lists the calls that are kept.",
  });
}

/** A search without words, or with too many. */
export function queryInvalid(query: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "QUERY_INVALID",
    field: "query",
    message: `query has ${query.length} characters; it must have 1 to 1,000`,
    help: "Say in plain words what you want to do.",
  });
}

/** More results than may be asked for, or fewer than none. */
export function limitInvalid(limit: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "LIMIT_INVALID",
    field: "limit",
    message: `limit ${limit} is not between 0 and 50`,
    help: "Send at most 50; 0 means 8.",
  });
}

/** No class of that name. */
export function accessClassInvalid(accessClass: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ACCESS_CLASS_INVALID",
    field: "accessClass",
    message: `accessClass ${formatValue(accessClass)} is not a class`,
    help: "Send read, write or destructive, or leave it empty.",
  });
}
