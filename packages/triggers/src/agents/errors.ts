import type { McpError } from "@svc/tools";

/** Error codes of the draft MCP Events, in addition to those of JSON-RPC. */
const codes = {
  notFound: -32_011,
  forbidden: -32_012,
  resourceExhausted: -32_013,
  unsupported: -32_014,
  callbackEndpoint: -32_015,
} as const;

/**
 * Reasons why the callback (the URL of an agent that receives events) failed, as an error may name them. The errors do not quote the
 * callback's answer, because it could reveal addresses inside the network.
 */
export type CallbackFailure =
  | "connection_refused"
  | "timeout"
  | "tls_error"
  | "http_4xx"
  | "http_5xx"
  | "challenge_failed";

/** Returns the error for an event name that the MCP address of the client does not offer, for example because there is no such event. */
export function eventNotFound(name: string): McpError {
  const message = `NotFound: there is no event ${name.slice(0, 80)}; events/list returns the events`;
  return { code: codes.notFound, message, data: { kind: "event" } };
}

/** Returns the error that the subscription does not exist. */
export function subscriptionNotFound(): McpError {
  const message = "NotFound: no subscription has this name, these arguments and this delivery.url";
  return { code: codes.notFound, message, data: { kind: "subscription" } };
}

/** Returns the MCP error that the caller may not receive the requested events. `reason` says why. */
export function forbidden(reason: string): McpError {
  return { code: codes.forbidden, message: `Forbidden: ${reason}`, data: { reason } };
}

/** Returns the error for a limit that is reached. `max`: the value of that limit. */
export function exhausted(limit: "subscriptions" | "verifications", max: number): McpError {
  const message = `ResourceExhausted: ${limit} are at their maximum (${max})`;
  return { code: codes.resourceExhausted, message, data: { limit, max } };
}

/** Returns the error for a delivery mode that svc does not support. `value`: the mode that the client requested. */
export function deliveryModeUnsupported(value: string): McpError {
  const message = `Unsupported: events are delivered by webhook and poll, not by ${value.slice(0, 40)}`;
  return { code: codes.unsupported, message, data: { feature: "deliveryMode", value: value.slice(0, 40) } };
}

/** Returns the error that the callback (the URL of an agent that receives events) did not confirm that it wants events. */
export function callbackFailed(reason: CallbackFailure): McpError {
  return { code: codes.callbackEndpoint, message: `CallbackEndpointError: ${reason}`, data: { reason } };
}

/** Returns the error that ends a subscription whose key or grant (a person's permission for an agent) has ended. */
export function accessRevoked(): McpError {
  return { code: codes.forbidden, message: "Forbidden", data: { reason: "Access revoked" } };
}
