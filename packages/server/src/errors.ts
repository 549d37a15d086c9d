import { Code, type ConnectError } from "@connectrpc/connect";
import { fault, formatValue } from "@svc/core";

/** The request carries no bearer key. */
export function apiKeyMissing(): ConnectError {
  return fault({
    code: Code.Unauthenticated,
    reason: "API_KEY_MISSING",
    message: "the request has no API key",
    help: "Send the header `Authorization: Bearer <key>`.",
  });
}

/** The presented key is unknown, expired or revoked; which of them is told to nobody without a key. */
export function apiKeyInvalid(isMistyped: boolean): ConnectError {
  return fault({
    code: Code.Unauthenticated,
    reason: "API_KEY_INVALID",
    message: isMistyped
      ? "the API key is mistyped: its checksum does not fit"
      : "the API key is unknown, expired or revoked",
    help: "Use a key of the project; an administrator issues one with CreateApiKey.",
  });
}

/** The key is good, and the call needs another role. */
export function roleRequired(
  call: string,
  required: "member" | "approver" | "admin",
  present: "member" | "approver" | "admin",
): ConnectError {
  const holder =
    present === "admin" ? "the administrator token, which belongs to no project," : `a key with the role ${present}`;
  return fault({
    code: Code.PermissionDenied,
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
export function adminDisabled(): ConnectError {
  return fault({
    code: Code.PermissionDenied,
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
}): ConnectError {
  return fault({ code: Code.InvalidArgument, reason: "REQUEST_MALFORMED", message, field, help });
}

/** An enum field holds a number without a name. */
export function enumValueUnknown(field: string, value: number, names: readonly string[]): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "ENUM_VALUE_UNKNOWN",
    field,
    message: `${field} ${value} is no value of its enum`,
    help: `Send one of ${names.join(", ")}.`,
  });
}

/** An HTTP method that a path does not take; answered with status 405. */
export function methodNotAllowed(method: string, allowed: string): ConnectError {
  return fault({
    code: Code.Unimplemented,
    reason: "METHOD_NOT_ALLOWED",
    message: `the HTTP method ${formatValue(method)} is not allowed here`,
    help: `Send ${allowed}.`,
  });
}

/** A content type that a call does not take; answered with status 415. */
export function contentTypeUnsupported(contentType: string, accepted: string): ConnectError {
  const given =
    contentType === ""
      ? "the request has no content type"
      : `the content type ${formatValue(contentType)} is not accepted`;
  return fault({
    code: Code.InvalidArgument,
    reason: "CONTENT_TYPE_UNSUPPORTED",
    message: given,
    help: `Send ${accepted}.`,
  });
}

/** Nothing is served under a path; answered with status 404. */
export function callUnknown(path: string): ConnectError {
  return fault({
    code: Code.Unimplemented,
    reason: "CALL_UNKNOWN",
    message: `nothing is served under ${formatValue(path)}`,
    help: "Calls are POST /svc.v1.<Service>/<Call>, inbound posts POST /webhooks/<toolkit slug>.",
  });
}

/** A body over SVC_MAX_BODY_BYTES. */
export function bodyTooLarge(bytesMax: number): ConnectError {
  return fault({
    code: Code.ResourceExhausted,
    reason: "BODY_TOO_LARGE",
    message: `the body is larger than ${bytesMax} bytes`,
    help: "Send less, or raise SVC_MAX_BODY_BYTES.",
  });
}

/** A content encoding that the service does not read. */
export function compressionUnsupported(message: string): ConnectError {
  return fault({
    code: Code.Unimplemented,
    reason: "COMPRESSION_UNSUPPORTED",
    message,
    help: "Send the body plain, or compressed with gzip.",
  });
}

/** The caller's own timeout passed. */
export function deadlineExceeded(): ConnectError {
  return fault({
    code: Code.DeadlineExceeded,
    reason: "DEADLINE_EXCEEDED",
    message: "the timeout of the request passed before its answer was ready",
    help: "The effect may have happened: read before sending again, or allow more time.",
  });
}

/** The database cannot be reached. */
export function storeUnavailable(): ConnectError {
  return fault({
    code: Code.Unavailable,
    reason: "STORE_UNAVAILABLE",
    message: "the store cannot be reached",
    help: "Send the same request again in a moment.",
  });
}

/** The posts under way hold as many bytes of bodies as this node sets aside for them. */
export function nodeOverloaded(): ConnectError {
  return fault({
    code: Code.Unavailable,
    reason: "NODE_OVERLOADED",
    message: "this node has no room for the body: too many posts are under way",
    help: "Send the same request again in a moment.",
  });
}

/** This node ends before the answer to a call that is under way. What it does is not undone. */
export function endedUnderWay(): ConnectError {
  return fault({
    code: Code.DeadlineExceeded,
    reason: "DEADLINE_EXCEEDED",
    message: "this node stopped before the answer was ready",
    help: "The effect may have happened: read before sending again, to another node or to this one once it is back.",
  });
}

/** This node is stopping, and has not begun on the request. */
export function shuttingDown(): ConnectError {
  return fault({
    code: Code.Unavailable,
    reason: "SHUTTING_DOWN",
    message: "this node is stopping",
    help: "Send the same request again; another node, or this one once it is back, answers it.",
  });
}

/** A fault of the service; its cause stands in the log under the request id. */
export function internalFault(requestId: string): ConnectError {
  return fault({
    code: Code.Internal,
    reason: "INTERNAL",
    message: `the service failed to answer request ${requestId}`,
    help: "Report the request id; the log tells more under it.",
  });
}

/** An inbound path whose toolkit is unknown or takes no posts. */
export function webhookUnknown(slug: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "WEBHOOK_UNKNOWN",
    message: `no toolkit ${formatValue(slug)} takes inbound posts`,
    help: "ListIngestEndpoints returns the inbound paths of this deployment.",
  });
}

/** An inbound path whose secret the deployment does not hold. */
export function webhookSecretUnset(secretEnv: string): ConnectError {
  return fault({
    code: Code.PermissionDenied,
    reason: "WEBHOOK_SECRET_UNSET",
    message: `posts are refused: the variable ${secretEnv} holds no secret to verify them with`,
    help: `Set ${secretEnv}, in the environment or in SVC_ENV_FILE.`,
  });
}

/** An inbound post whose signature is missing, stale or wrong. */
export function webhookUnverified(): ConnectError {
  return fault({
    code: Code.Unauthenticated,
    reason: "WEBHOOK_UNVERIFIED",
    message: "the post does not verify: its signature is missing, stale or wrong",
    help: "Check that provider and deployment hold the same secret, and that nothing between them changes the body.",
  });
}

/** A health check of a service that this node does not have. */
export function healthServiceUnknown(service: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "HEALTH_SERVICE_UNKNOWN",
    field: "service",
    message: `service ${formatValue(service)} is not on this node`,
    help: "Send the full name of a service, such as svc.v1.TriggersService, or leave it empty for the node.",
  });
}
