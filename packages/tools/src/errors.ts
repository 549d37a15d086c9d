import { call, defineFaults, type FaultText, field, formatValue, text, wait } from "@svc/core";

/** Errors of tool calls, call limits, hooks (endpoints that check tool calls) and searches. */
export const toolFaults = defineFaults({
  /** The project sees no tool with that slug. `meant`: slug of the most similar tool that the project sees. */
  TOOL_NOT_FOUND: {
    code: "not_found",
    field: (path: string) => path,
    says: (path: string, slug: string) => text`${field(path)} ${formatValue(slug)} is not a tool of the catalog`,
    help: (_path: string, _slug: string, meant: string | undefined) =>
      text`${meant === undefined ? "" : `Did you mean ${meant}? `}Send a catalog-wide slug of the form <toolkit>.<tool>; ${call("SearchTools")} finds them by what you want to do.`,
  },
  /** `argumentsJson` is not the JSON text of an object. */
  ARGUMENTS_MALFORMED: {
    code: "invalid_argument",
    field: "argumentsJson",
    says: (why: string) => text`${field("argumentsJson")} ${why}; it must be the JSON text of an object`,
    help: 'Send text such as {"calendar_id": "primary"}.',
  },
  ENTITY_ID_INVALID: {
    code: "invalid_argument",
    field: "entityId",
    says: (entityId: string) =>
      text`${field("entityId")} ${formatValue(entityId)} is longer than 200 characters or holds control characters`,
    help: "Send the name that the account was connected under.",
  },
  /** `fields` or `maxBytes` does not have its documented form. */
  CALL_OPTION_INVALID: {
    code: "invalid_argument",
    field: (path: "fields" | "maxBytes") => path,
    says: (path: "fields" | "maxBytes", message: string) => text`${field(path)} ${message}`,
    help: text`fields takes up to 100 dotted paths such as items.id; ${field("maxBytes")} is 0 or at least 256.`,
  },
  IDEMPOTENCY_KEY_INVALID: {
    code: "invalid_argument",
    field: "idempotencyKey",
    says: (key: string) =>
      text`${field("idempotencyKey")} ${formatValue(key)} is longer than 200 characters or holds control characters`,
    help: "Send up to 200 printable characters, such as a UUID.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    code: "already_exists",
    field: "idempotencyKey",
    says: (key: string) =>
      text`${field("idempotencyKey")} ${formatValue(key)} was used with another tool, account or other arguments`,
    help: "Use a new key for every call that differs.",
  },
  CALL_IN_PROGRESS: {
    code: "failed_precondition",
    field: "idempotencyKey",
    says: (key: string) => text`the call of ${field("idempotencyKey")} ${formatValue(key)} still runs`,
    help: "Send the same request again in a few seconds.",
  },
  CALL_LIMIT: {
    code: "resource_exhausted",
    says: (limit: string) =>
      `${limit.startsWith("@") ? `the rate of toolkit ${limit.slice(1)}` : `call limit ${formatValue(limit)}`} has no room for another call now; nothing was sent`,
    help: text`Send the same request again ${wait}, or make the calls in a job, which waits for its turn.`,
    retryAfterMs: (_limit: string, retryAfterMs: number) => retryAfterMs,
  },
  CALL_LIMIT_PAUSED: {
    code: "resource_exhausted",
    says: (limit: string) => `call limit ${formatValue(limit)} is paused; nothing was sent`,
    help: "Wait until the limit is put again without paused.",
    retryAfterMs: (_limit: string, retryAfterMs: number) => retryAfterMs,
  },
  CALL_LIMIT_NAME_INVALID: {
    code: "invalid_argument",
    field: "limit.name",
    says: (name: string) =>
      text`${field("limit.name")} ${formatValue(name)} is not a name: a lower-case letter, then letters, digits, - and _, 60 in all`,
    help: "Send a name such as calendar-writes.",
  },
  CALL_LIMIT_TOOLKIT_NOT_FOUND: {
    code: "not_found",
    reason: "TOOLKIT_NOT_FOUND",
    field: "limit.toolkitSlug",
    says: (slug: string) => text`${field("limit.toolkitSlug")} ${formatValue(slug)} is not a toolkit of the catalog`,
    help: (_slug: string, meant: string | undefined) =>
      `${meant === undefined ? "" : `Did you mean ${meant}? `}Leave it empty for calls of every toolkit.`,
  },
  KEY_EXPRESSION_INVALID: {
    code: "invalid_argument",
    field: "limit.keyExpression",
    says: (why: string) => text`${field("limit.keyExpression")} ${why}`,
    help: "Send CEL over toolSlug, entityId, accountId and accessClass, such as accountId, or leave it empty to count all calls together.",
  },
  CALL_LIMIT_BOUND_INVALID: {
    code: "invalid_argument",
    field: (path: "concurrency" | "rate" | "rate.max" | "rate.per") => `limit.${path}`,
    says: (path: "concurrency" | "rate" | "rate.max" | "rate.per", why: FaultText) =>
      text`${field(`limit.${path}`)} ${why}`,
    help: "Send concurrency from 1 to 10,000, rate {max from 1 to 100,000, per from 1s to 1 day}, or both; paused needs neither.",
  },
  CALL_LIMITS_TOO_MANY: {
    code: "resource_exhausted",
    says: (most: number) => `the project has ${most} call limits already`,
    help: "Delete limits that are no longer used.",
  },
  CALL_LIMIT_NOT_FOUND: {
    code: "not_found",
    field: "name",
    says: (name: string) => `name ${formatValue(name)} is not a call limit of this project`,
    help: text`${call("ListCallLimits")} lists them.`,
  },
  HOOK_PHASE_INVALID: {
    code: "invalid_argument",
    field: "phase",
    says: (phase: string) => `phase ${formatValue(phase)} is neither before nor after`,
    help: "Send before, to be asked before calls are sent, or after, to be asked about their results.",
  },
  HOOK_TOOLKIT_NOT_FOUND: {
    code: "not_found",
    reason: "TOOLKIT_NOT_FOUND",
    field: (index: number) => `toolkitSlugs[${index}]`,
    says: (index: number, slug: string) =>
      `toolkitSlugs[${index}] ${formatValue(slug)} is not a toolkit of the catalog`,
    help: (_index: number, _slug: string, meant: string | undefined) =>
      `${meant === undefined ? "" : `Did you mean ${meant}? `}Leave the list empty for calls of every toolkit.`,
  },
  HOOKS_TOO_MANY: {
    code: "resource_exhausted",
    says: (most: number) => `the project has ${most} hooks already`,
    help: "Delete hooks that are no longer needed: calls wait for each hook.",
  },
  HOOK_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `id ${formatValue(id)} is not a hook of this project`,
    help: text`${call("ListHooks")} lists them.`,
  },
  /** The filter `outcome` of a request that lists tool calls is not the name of an outcome. */
  OUTCOME_INVALID: {
    code: "invalid_argument",
    field: "outcome",
    says: (outcome: string) => `outcome ${formatValue(outcome)} is not an outcome`,
    help: (_outcome: string, known: readonly string[]) => `Send one of ${known.join(", ")}.`,
  },
  TOOL_CALL_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `id ${formatValue(id)} is not a call of this project`,
    help: text`${call("ListToolCalls")} lists the calls that are kept.`,
  },
  QUERY_INVALID: {
    code: "invalid_argument",
    field: "query",
    says: (query: string) => `query has ${query.length} characters; it must have 1 to 1,000`,
    help: "Say in plain words what you want to do.",
  },
  LIMIT_INVALID: {
    code: "invalid_argument",
    field: "limit",
    says: (limit: number) => `limit ${limit} is not between 0 and 50`,
    help: "Send at most 50; 0 means 8.",
  },
  ACCESS_CLASS_INVALID: {
    code: "invalid_argument",
    field: "accessClass",
    says: (accessClass: string) => text`${field("accessClass")} ${formatValue(accessClass)} is not a class`,
    help: "Send read, write or destructive, or leave it empty.",
  },
  /**
   * The arguments of a meta-tool (one of four tools through which an agent reaches every tool) do not match its input schema. `example` is
   * a correct call.
   */
  META_ARGUMENTS_INVALID: {
    code: "invalid_argument",
    says: (_tool: string, faults: readonly string[]) => faults.join("; "),
    help: (tool: string, _faults: readonly string[], example: string) =>
      `Call it as ${example}. The input schema of ${tool} says what it takes.`,
  },
  /** read_tool was called with a tool that can change something. */
  TOOL_NOT_READ: {
    code: "invalid_argument",
    field: "slug",
    says: (slug: string, accessClass: string) =>
      `slug ${slug} is a tool of class ${accessClass}; read_tool calls only tools of class read, and nothing was sent`,
    help: "Call it with call_tool.",
  },
});
