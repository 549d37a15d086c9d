import { type Fault, fault, faults, formatValue } from "@svc/core";
import { AdminService } from "@svc/gen/admin";

/** The request carries no bearer key. */
export function apiKeyMissing(): Fault {
  return fault({
    code: "unauthenticated",
    reason: "API_KEY_MISSING",
    message: "the request has no API key",
    help: "Send the header `Authorization: Bearer <key>`.",
  });
}

/** The presented key is unknown, expired or revoked; which of them is told to nobody without a key. */
export function apiKeyInvalid(isMistyped: boolean): Fault {
  return fault({
    code: "unauthenticated",
    reason: "API_KEY_INVALID",
    message: isMistyped
      ? "the API key is mistyped: its checksum does not fit"
      : "the API key is unknown, expired or revoked",
    help: "Use a key of the project; an administrator issues one with CreateApiKey.",
  });
}

/** The access token is unknown, over, of another address, or its grant has ended; which of them is told to nobody without one. */
export function grantInvalid(): Fault {
  return fault({
    code: "unauthenticated",
    reason: "GRANT_INVALID",
    message: "the access token is unknown, over, or for another address, or its grant was ended",
    help: "Change the refresh token for new ones, or ask for another grant: WWW-Authenticate says where.",
  });
}

/** A grant was narrowed while a request of it waited. */
export function grantChanged(): Fault {
  return fault({
    code: "failed_precondition",
    reason: "GRANT_CHANGED",
    message: "what this grant may do was changed while the request waited",
    help: "Send the request again: it is judged by what the grant may do now.",
  });
}

/** The key is good, and the call needs another role. */
export function roleRequired(
  call: string,
  required: "member" | "approver" | "admin",
  present: "member" | "approver" | "admin",
): Fault {
  const holder =
    present === "admin" ? "the administrator token, which belongs to no project," : `a key with the role ${present}`;
  return fault({
    code: "permission_denied",
    reason: "ROLE_REQUIRED",
    message: `${call} needs ${roleNames[required]}; ${holder} cannot call it`,
    help: required === "admin" ? "Send SVC_ADMIN_TOKEN as bearer." : `Send ${roleNames[required]} as bearer.`,
  });
}

const roleNames = {
  member: "a project's key",
  approver: "a project's key with the role approver",
  admin: "the administrator token of the deployment",
};

/** AdminService while SVC_ADMIN_TOKEN is unset. */
export function adminDisabled(): Fault {
  return fault({
    code: "permission_denied",
    reason: "ADMIN_DISABLED",
    message: "AdminService is off: this deployment has no administrator token",
    help: "Set SVC_ADMIN_TOKEN to at least 32 characters and start the service again.",
  });
}

/** The body, or a header of the call protocol, is not of its form. */
export function requestMalformed({
  message,
  field = "",
  help = "",
}: {
  message: string;
  field?: string;
  help?: string;
}): Fault {
  return fault({ code: "invalid_argument", reason: "REQUEST_MALFORMED", message, field, help });
}

/** The query of a post has bytes that are not text. */
export function queryMalformed(): Fault {
  return requestMalformed({
    message: "the query has percent-encoded bytes that are not UTF-8",
    help: "Encode each character of the query as UTF-8.",
  });
}

/** An enum field holds a number without a name. */
export function enumValueUnknown(field: string, value: number, names: readonly string[]): Fault {
  return fault({
    code: "invalid_argument",
    reason: "ENUM_VALUE_UNKNOWN",
    field,
    message: `${field} ${value} is no value of its enum`,
    help: `Send one of ${names.join(", ")}.`,
  });
}

/** A page of a foreign origin sends a request. */
export function originRefused(origin: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "ORIGIN_REFUSED",
    message: `pages of the origin ${formatValue(origin)} may not use this service`,
    help: "Pages of this machine, of SVC_PUBLIC_URL and of SVC_HOSTS may; clients that are no page send no Origin header.",
  });
}

/** A node that knows its names is addressed by another one. */
export function hostRefused(host: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "HOST_REFUSED",
    message: `the host ${formatValue(host)} is not this service`,
    help: "Use a loopback address, or set SVC_PUBLIC_URL or SVC_HOSTS to the names that callers use.",
  });
}

/** An HTTP method that a path does not take; answered with status 405. */
export function methodNotAllowed(method: string, allowed: string): Fault {
  return fault({
    code: "unimplemented",
    reason: "METHOD_NOT_ALLOWED",
    message: `the HTTP method ${formatValue(method)} is not allowed here`,
    help: `Send ${allowed}.`,
  });
}

/** A content type that a call does not take; answered with status 415. */
export function contentTypeUnsupported(contentType: string, accepted: string): Fault {
  const given =
    contentType === ""
      ? "the request has no content type"
      : `the content type ${formatValue(contentType)} is not accepted`;
  return fault({
    code: "invalid_argument",
    reason: "CONTENT_TYPE_UNSUPPORTED",
    message: given,
    help: `Send ${accepted}.`,
  });
}

const adminElsewhere = " AdminService may have a listener of its own (SVC_ADMIN_LISTEN): call it there.";

/** Nothing is served under a path; answered with status 404. Of administration the help tells where else it may be served. */
export function callUnknown(path: string): Fault {
  const isAdmin = path.startsWith(`/${AdminService.typeName}/`);
  return fault({
    code: "unimplemented",
    reason: "CALL_UNKNOWN",
    message: `nothing is served under ${formatValue(path)}`,
    help: `Calls are POST /svc.v1.<Service>/<Call>, inbound posts POST /webhooks/<toolkit slug>.${isAdmin ? adminElsewhere : ""}`,
  });
}

/** A body over its limit: SVC_MAX_BODY_BYTES, and of what comes without a key less. */
export function bodyTooLarge(bytesMax: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "BODY_TOO_LARGE",
    message: `the body is larger than ${bytesMax} bytes`,
    help: "Send less; SVC_MAX_BODY_BYTES is the limit of what comes with a key, and of posts.",
  });
}

/** A content encoding that the server does not read. */
export function compressionUnsupported(message: string): Fault {
  return fault({
    code: "unimplemented",
    reason: "COMPRESSION_UNSUPPORTED",
    message,
    help: "Send the body plain, or compressed with gzip.",
  });
}

/** A content encoding of an inbound post that is not read; answered with status 415. */
export function contentEncodingUnsupported(encoding: string, read = "gzip, deflate or br"): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CONTENT_ENCODING_UNSUPPORTED",
    message: `the content encoding ${formatValue(encoding)} is not read`,
    help: `Send the body plain, or compressed with ${read}.`,
  });
}

/** The caller's own timeout passed. */
export function deadlineExceeded(): Fault {
  return fault({
    code: "deadline_exceeded",
    reason: "DEADLINE_EXCEEDED",
    message: "the timeout of the request passed before its answer was ready",
    help: "The effect may have happened: read before sending again, or allow more time.",
  });
}

/** The database cannot be reached. */
export function storeUnavailable(): Fault {
  return fault({
    code: "unavailable",
    reason: "STORE_UNAVAILABLE",
    message: "the store cannot be reached",
    help: "Send the same request again in a moment.",
  });
}

/** The bodies under way of this toolkit, project or address hold as many bytes as this node sets aside for them. */
export function nodeOverloaded(): Fault {
  return fault({
    code: "unavailable",
    reason: "NODE_OVERLOADED",
    message: "this node has no room for the body: too many from the same sender are under way",
    help: "Send the same request again after the time of Retry-After.",
    retryAfterMs: 5_000,
  });
}

/** This node ends before the answer to a call that is under way. What it does is not undone. */
export function endedUnderWay(): Fault {
  return fault({
    code: "deadline_exceeded",
    reason: "DEADLINE_EXCEEDED",
    message: "this node stopped before the answer was ready",
    help: "The effect may have happened: read before sending again, to another node or to this one once it is back.",
  });
}

/** Nobody is there to read an answer. */
export function callerGone(): Fault {
  return faults({ code: "canceled", message: "the caller went away", details: [] });
}

/** This node is stopping, and has not begun on the request. */
export function shuttingDown(): Fault {
  return fault({
    code: "unavailable",
    reason: "SHUTTING_DOWN",
    message: "this node is stopping",
    help: "Send the same request again; another node, or this one once it is back, answers it.",
  });
}

/** A fault of the server; its cause stands in the log under the request id. */
export function internalFault(requestId: string): Fault {
  return fault({
    code: "internal",
    reason: "INTERNAL",
    message: `the service failed to answer request ${requestId}`,
    help: "Report the request id; the log tells more under it.",
  });
}

/** An inbound path whose toolkit is unknown or takes no posts. */
export function webhookUnknown(slug: string): Fault {
  return fault({
    code: "not_found",
    reason: "WEBHOOK_UNKNOWN",
    message: `no toolkit ${formatValue(slug)} takes inbound posts`,
    help: "ListIngestEndpoints returns the inbound paths of this deployment.",
  });
}

/** An inbound path whose secret the deployment does not hold. */
export function webhookSecretUnset(secretEnv: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "WEBHOOK_SECRET_UNSET",
    message: `posts are refused: the variable ${secretEnv} holds no secret to verify them with`,
    help: `Set ${secretEnv}, in the environment or in SVC_ENV_FILE.`,
  });
}

/** An inbound post whose signature is missing, stale or wrong. */
export function webhookUnverified(): Fault {
  return fault({
    code: "unauthenticated",
    reason: "WEBHOOK_UNVERIFIED",
    message: "the post does not verify: its signature is missing, stale or wrong",
    help: "Check that provider and deployment hold the same secret, and that nothing between them changes the body.",
  });
}

/** A health check of a service that this node does not have. */
export function healthServiceUnknown(service: string): Fault {
  return fault({
    code: "not_found",
    reason: "HEALTH_SERVICE_UNKNOWN",
    field: "service",
    message: `service ${formatValue(service)} is not on this node`,
    help: "Send the full name of a service, such as svc.v1.TriggersService, or leave it empty for the node.",
  });
}
