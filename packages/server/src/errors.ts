import { call, defineFaults, Fault, type FaultText, field, formatValue, type Role, text, wait } from "@svc/core";
import { AdminService } from "@svc/gen/admin";

type KeyRole = Role | "admin";
type MalformedRequest = { readonly message: FaultText; readonly field?: string; readonly help?: FaultText };

/** Errors of requests in general, of webhook posts and of statistics. */
export const serverFaults = defineFaults({
  API_KEY_MISSING: {
    code: "unauthenticated",
    says: "the request has no API key",
    help: "Send the header `Authorization: Bearer <key>`.",
  },
  /** The key is unknown, expired or revoked. The error does not say which, because the caller has no valid key. */
  API_KEY_INVALID: {
    code: "unauthenticated",
    says: (isMistyped: boolean) =>
      isMistyped ? "the API key is mistyped: its checksum does not fit" : "the API key is unknown, expired or revoked",
    help: text`Use a key of the project; an administrator issues one with ${call("CreateApiKey")}.`,
  },
  /**
   * The access token is unknown, expired or for another address, or its grant (a person's permission for an agent) has ended. The error
   * does not say which, because the caller has no valid token.
   */
  GRANT_INVALID: {
    code: "unauthenticated",
    says: "the access token is unknown, expired or for another address, or its grant has ended",
    help: "Exchange the refresh token for new tokens, or ask for another grant: WWW-Authenticate has the address.",
  },
  GRANT_CHANGED: {
    code: "failed_precondition",
    says: "the rights of this grant changed while the request waited",
    help: "Send the request again: svc checks it against the present rights of the grant.",
  },
  ROLE_REQUIRED: {
    code: "permission_denied",
    says: (method: string, required: KeyRole, present: KeyRole) =>
      text`${call(method)} needs ${neededKey(required, present)}; ${present === "admin" ? "the administrator token, which belongs to no project," : `a key with the role ${present}`} cannot call it`,
    help: (_method: string, required: KeyRole, present: KeyRole) =>
      text`Send ${field(required === "admin" ? "SVC_ADMIN_TOKEN" : neededKey(required, present))} as bearer.`,
  },
  DEVICE_CODE_INVALID: {
    code: "unauthenticated",
    says: "the code is unknown, used or expired",
    help: "Type the code that the program shows now, or start its sign-in again.",
  },
  PAYLOADS_HIDDEN: {
    code: "permission_denied",
    field: (path: string) => path,
    says: (path: string) => text`${field(path)} reads payloads, which a key with the role viewer does not see`,
    help: (path: string) => text`Leave ${field(path)} out, or use a key with the role reader.`,
  },
  /** An agent presented a key that may not call tools. */
  ROLE_NOT_FOR_AGENTS: {
    code: "permission_denied",
    reason: "ROLE_REQUIRED",
    says: (present: Role) => `MCP needs a key with the role member; a key with the role ${present} cannot use it`,
    help: "Use a key with the role member, or one that its holder made for an agent.",
  },
  ADMIN_DISABLED: {
    code: "permission_denied",
    says: "AdminService is off: this deployment has no administrator token",
    help: "Set SVC_ADMIN_TOKEN to at least 32 characters and start the service again.",
  },
  REQUEST_MALFORMED: {
    code: "invalid_argument",
    field: (given: MalformedRequest) => given.field ?? "",
    says: ({ message }: MalformedRequest) => message,
    help: ({ help = "" }: MalformedRequest) => help,
  },
  /** The query of a webhook post contains bytes that are not text. */
  QUERY_MALFORMED: {
    code: "invalid_argument",
    reason: "REQUEST_MALFORMED",
    says: "the query has percent-encoded bytes that are not UTF-8",
    help: "Encode each character of the query as UTF-8.",
  },
  /** A person entered no key on the page that asks for consent to an agent's access. */
  KEY_NEEDED: {
    code: "unauthenticated",
    reason: "API_KEY_MISSING",
    says: "no key was given",
    help: "Type a key of the project whose tools the agent needs; the administrator's token does not work here.",
  },
  ENUM_VALUE_UNKNOWN: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, value: number | string) => text`${field(path)} ${value} is not a value of its enum`,
    help: (_path: string, _value: number | string, names: readonly string[], near?: string) =>
      `${near === undefined ? "" : `Did you mean ${near}? `}Send one of ${names.join(", ")}.`,
  },
  ORIGIN_REFUSED: {
    code: "permission_denied",
    says: (origin: string) => `pages of the origin ${formatValue(origin)} may not use this service`,
    help: "Use a page of this machine, of SVC_PUBLIC_URL or of SVC_HOSTS; a client that is not a page sends no Origin header.",
  },
  HOST_REFUSED: {
    code: "permission_denied",
    says: (host: string) => `the host ${formatValue(host)} is not this service`,
    help: "Use a loopback address, or set SVC_PUBLIC_URL or SVC_HOSTS to the names that callers use.",
  },
  /** A path does not support the HTTP method. The HTTP status is 405. */
  METHOD_NOT_ALLOWED: {
    code: "unimplemented",
    says: (method: string) => `the HTTP method ${formatValue(method)} is not allowed here`,
    help: (_method: string, allowed: string) => `Send ${allowed}.`,
  },
  /** A call does not support the content type. The HTTP status is 415. */
  CONTENT_TYPE_UNSUPPORTED: {
    code: "invalid_argument",
    says: (contentType: string) =>
      contentType === ""
        ? "the request has no content type"
        : `the content type ${formatValue(contentType)} is not accepted`,
    help: (_contentType: string, accepted: string) => `Send ${accepted}.`,
  },
  /**
   * svc serves nothing at this path. The HTTP status is 404. If the path belongs to a call of AdminService, the help text names the address
   * that serves these calls, if it is a different one.
   */
  CALL_UNKNOWN: {
    code: "unimplemented",
    says: (path: string) => `nothing is served under ${formatValue(path)}`,
    help: (path: string) =>
      `Calls are POST /svc.v1.<Service>/<Call>, inbound posts POST /webhooks/<toolkit slug>.${path.startsWith(`/${AdminService.typeName}/`) ? adminElsewhere : ""}`,
  },
  BODY_TOO_LARGE: {
    code: "resource_exhausted",
    says: (bytesMax: number) => `the body is larger than ${bytesMax} bytes`,
    help: "Send less; SVC_MAX_BODY_BYTES limits requests with a key, and posts.",
  },
  COMPRESSION_UNSUPPORTED: {
    code: "unimplemented",
    says: (message: string) => message,
    help: "Send the body plain, or compressed with gzip.",
  },
  /** svc does not support the content encoding of a webhook post. The HTTP status is 415. */
  CONTENT_ENCODING_UNSUPPORTED: {
    code: "invalid_argument",
    says: (encoding: string) => `the content encoding ${formatValue(encoding)} is not supported`,
    help: (_encoding: string, read?: string) =>
      `Send the body plain, or compressed with ${read ?? "gzip, deflate or br"}.`,
  },
  DEADLINE_EXCEEDED: {
    code: "deadline_exceeded",
    says: "the timeout of the request passed before its answer was ready",
    help: "The effect may have happened: read before sending again, or allow more time.",
  },
  STORE_UNAVAILABLE: {
    code: "unavailable",
    says: "the database is unavailable",
    help: "Send the same request again in a moment.",
  },
  NODE_OVERLOADED: {
    code: "unavailable",
    says: "this node has no room for the body: it is reading too many from the same sender",
    help: text`Send the same request again ${wait}.`,
    retryAfterMs: 5_000,
  },
  ENDED_UNDER_WAY: {
    code: "deadline_exceeded",
    reason: "DEADLINE_EXCEEDED",
    says: "this node stopped before the answer was ready",
    help: "The effect may have happened: read before sending again, to another node or to this one when it is back.",
  },
  SHUTTING_DOWN: {
    code: "unavailable",
    says: "this node is stopping",
    help: "Send the same request again; another node answers it, or this one when it is back.",
  },
  /** An internal error of the server. The log contains the cause under the request id. */
  INTERNAL: {
    code: "internal",
    says: (requestId: string) => `the service failed to answer request ${requestId}`,
    help: "Report the request id; the log of the service has the details.",
  },
  WEBHOOK_UNKNOWN: {
    code: "not_found",
    says: (slug: string) => `no toolkit ${formatValue(slug)} takes inbound posts`,
    help: text`${call("ListIngestEndpoints")} returns the inbound paths of this deployment.`,
  },
  WEBHOOK_SECRET_UNSET: {
    code: "permission_denied",
    says: (secretEnv: string) =>
      secretEnv === ""
        ? "posts are refused: the webhook has no secret to verify them with"
        : `posts are refused: the variable ${secretEnv} holds no secret to verify them with`,
    help: (secretEnv: string) =>
      secretEnv === ""
        ? text`An approver of the project stores one with ${call("PutWebhookSecret")}.`
        : `Set ${secretEnv}, in the environment or in SVC_ENV_FILE.`,
  },
  /**
   * The definition of an app's toolkit needs a setting that the deployment does not have. The HTTP status is 503, so that the app sends its
   * webhook post again.
   */
  WEBHOOK_NOT_READY: {
    code: "unavailable",
    says: (fault: string, _isPrivate: boolean) => `posts are refused: ${fault}`,
    help: (_fault: string, isPrivate: boolean) =>
      isPrivate
        ? text`An approver of the project stores a secret with ${call("PutWebhookSecret")}; a missing variable is set by the operator.`
        : "Set the variable that the message names, in the environment or in SVC_ENV_FILE, and restart the service.",
  },
  WEBHOOK_UNVERIFIED: {
    code: "unauthenticated",
    says: "the post does not verify: its signature is missing, stale or wrong",
    help: "Check that provider and deployment hold the same secret, and that nothing between them changes the body.",
  },
  HEALTH_SERVICE_UNKNOWN: {
    code: "not_found",
    field: "service",
    says: (service: string) => `service ${formatValue(service)} is not on this node`,
    help: "Send the full name of a service, such as svc.v1.TriggersService, or leave it empty for the node.",
  },
  STEP_INVALID: {
    code: "invalid_argument",
    field: "stepSeconds",
    says: (stepSeconds: number, why: string) => `stepSeconds ${stepSeconds} ${why}`,
    help: "Send a multiple of 60, or of 3600 for times more than 47 hours ago, or 0.",
  },
  TRACE_ID_UNKNOWN: {
    code: "invalid_argument",
    field: "id",
    says: (id: string) => text`${field("id")} ${formatValue(id)} is not the id of a resource that can be traced`,
    help: "Send the id of an event, a delivery, a subscription, a run, a schedule, a job, an ask, a tool call or a connected account, as a call returned it.",
  },
  MAX_NODES_INVALID: {
    code: "invalid_argument",
    field: "maxNodes",
    says: (maxNodes: number, most: number) =>
      text`${field("maxNodes")} is ${String(maxNodes)}, and may be ${String(most)} at most`,
    help: (_maxNodes: number, most: number) => `Send a number up to ${most}, or 0 for 60.`,
  },
  SEARCH_LIMIT_INVALID: {
    code: "invalid_argument",
    field: "limit",
    says: (limit: number, most: number) => `limit is ${limit}, and may be ${most} at most`,
    help: (_limit: number, most: number) => `Send a number up to ${most}, or 0 for 20.`,
  },
  TRACE_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `the project has no ${formatValue(id)}, or this key has no access to it`,
    help: "Check the id. svc deletes old events, calls and jobs when their retention ends.",
  },
  SUBJECT_INVALID: {
    code: "invalid_argument",
    field: (path: "subscriptionId" | "toolSlug") => path,
    says: (path: "subscriptionId" | "toolSlug", series: string) =>
      text`${field(path)} is set, and ${series} is not counted by it`,
    help: text`Ask for deliveries with ${field("subscriptionId")}, for calls with ${field("toolSlug")}, and for the others without either.`,
  },
  WATCHERS_TOO_MANY: {
    code: "resource_exhausted",
    says: (max: number) => `${max} watches of the project are open at this node`,
    help: "Close one of them, or read the lists every few seconds.",
  },
});

/** Returns the words for the key that a call needs. They name the role only if the caller's key lacks it. */
function neededKey(required: KeyRole, present: KeyRole): string {
  if (required === "admin") return "the administrator token of the deployment";
  const isAnyMembers = present === "admin" && required !== "approver";
  return isAnyMembers ? "a project's key" : `a project's key with the role ${required}`;
}

const adminElsewhere = " AdminService may have a listener of its own (SVC_ADMIN_LISTEN): call it there.";

/** Returns the error that ends a call after its client has disconnected. */
export function callerGone(): Fault {
  return new Fault("canceled", "the caller went away", []);
}
