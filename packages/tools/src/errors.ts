import { Code, type ConnectError } from "@connectrpc/connect";
import { nearest } from "@svc/catalog";
import { fault, formatValue } from "@svc/core";

/** The project sees no tool of that slug. `slugs`: those it does see. */
export function toolNotFound(field: string, slug: string, slugs: Iterable<string>): ConnectError {
  const meant = nearest(slug, slugs);
  return fault({
    code: Code.NotFound,
    reason: "TOOL_NOT_FOUND",
    field,
    message: `${field} ${formatValue(slug)} is not a tool of the catalog`,
    help: `${meant === undefined ? "" : `Did you mean ${meant}? `}Send a catalog-wide slug of the form <toolkit>.<tool>; SearchTools finds them by what you want to do.`,
  });
}

/** `argumentsJson` is not the JSON text of an object. */
export function argumentsMalformed(why: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "ARGUMENTS_MALFORMED",
    field: "argumentsJson",
    message: `argumentsJson ${why}; it must be the JSON text of an object`,
    help: 'Send text such as {"calendar_id": "primary"}.',
  });
}

/** An entity's name is out of its form. */
export function entityIdInvalid(entityId: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "ENTITY_ID_INVALID",
    field: "entityId",
    message: `entityId ${formatValue(entityId)} is longer than 200 characters or holds control characters`,
    help: "Send the name that the account was connected under.",
  });
}

/** `fields` or `maxBytes` is out of its documented form. */
export function callOptionInvalid(field: "fields" | "maxBytes", message: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "CALL_OPTION_INVALID",
    field,
    message: `${field} ${message}`,
    help: "fields takes up to 100 dotted paths such as items.id; maxBytes is 0 or at least 256.",
  });
}

/** An idempotency key is out of its form. */
export function idempotencyKeyInvalid(key: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "IDEMPOTENCY_KEY_INVALID",
    field: "idempotencyKey",
    message: `idempotencyKey ${formatValue(key)} is longer than 200 characters or holds control characters`,
    help: "Send up to 200 printable characters, such as a UUID.",
  });
}

/** An idempotency key was used for something else. */
export function idempotencyKeyReused(key: string): ConnectError {
  return fault({
    code: Code.AlreadyExists,
    reason: "IDEMPOTENCY_KEY_REUSED",
    field: "idempotencyKey",
    message: `idempotencyKey ${formatValue(key)} was used with another tool, account or other arguments`,
    help: "Use a new key for every call that differs.",
  });
}

/** The first call of an idempotency key still runs. */
export function callInProgress(key: string): ConnectError {
  return fault({
    code: Code.FailedPrecondition,
    reason: "CALL_IN_PROGRESS",
    field: "idempotencyKey",
    message: `the call of idempotencyKey ${formatValue(key)} still runs`,
    help: "Send the same request again in a few seconds.",
  });
}

/** `outcome` of a list is none there is. */
export function outcomeInvalid(outcome: string, known: readonly string[]): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "OUTCOME_INVALID",
    field: "outcome",
    message: `outcome ${formatValue(outcome)} is not an outcome`,
    help: `Send one of ${known.join(", ")}.`,
  });
}

/** The project has no such call, or not any more. */
export function toolCallNotFound(id: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "TOOL_CALL_NOT_FOUND",
    field: "id",
    message: `id ${formatValue(id)} is not a call of this project`,
    help: "ListToolCalls lists the calls that are kept.",
  });
}

/** A search without words, or with too many. */
export function queryInvalid(query: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "QUERY_INVALID",
    field: "query",
    message: `query has ${query.length} characters; it must have 1 to 1,000`,
    help: "Say in plain words what you want to do.",
  });
}

/** More results than may be asked for, or fewer than none. */
export function limitInvalid(limit: number): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "LIMIT_INVALID",
    field: "limit",
    message: `limit ${limit} is not between 0 and 50`,
    help: "Send at most 50; 0 means 8.",
  });
}

/** No class of that name. */
export function accessClassInvalid(accessClass: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "ACCESS_CLASS_INVALID",
    field: "accessClass",
    message: `accessClass ${formatValue(accessClass)} is not a class`,
    help: "Send read, write or destructive, or leave it empty.",
  });
}
