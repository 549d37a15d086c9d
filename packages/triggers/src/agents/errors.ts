import type { McpError } from "@svc/tools";

/** Codes of MCP Events beside JSON-RPC's own. */
const codes = {
  notFound: -32_011,
  forbidden: -32_012,
  resourceExhausted: -32_013,
  unsupported: -32_014,
  callbackEndpoint: -32_015,
} as const;

/** What a callback may be said to have failed by. Its own words never stand in an answer: they would tell of addresses that somebody chose. */
export type CallbackFailure =
  | "connection_refused"
  | "timeout"
  | "tls_error"
  | "http_4xx"
  | "http_5xx"
  | "challenge_failed";

/** No event has that name, or none that the address of the client offers. */
export function eventNotFound(name: string): McpError {
  const message = `NotFound: there is no event ${name.slice(0, 80)}; events/list names those there are`;
  return { code: codes.notFound, message, data: { kind: "event" } };
}

/** There is none to end. */
export function subscriptionNotFound(): McpError {
  const message = "NotFound: no subscription has this name, these arguments and this delivery.url";
  return { code: codes.notFound, message, data: { kind: "subscription" } };
}

/** Whoever asks may not have these events. */
export function forbidden(reason: string): McpError {
  return { code: codes.forbidden, message: `Forbidden: ${reason}`, data: { reason } };
}

/** A bound is reached; `max` says which number. */
export function exhausted(limit: "subscriptions" | "verifications", max: number): McpError {
  const message = `ResourceExhausted: ${limit} are as many as there may be (${max})`;
  return { code: codes.resourceExhausted, message, data: { limit, max } };
}

/** A way of delivery that no event has. */
export function deliveryModeUnsupported(value: string): McpError {
  const message = `Unsupported: events are delivered by webhook and poll, not by ${value.slice(0, 40)}`;
  return { code: codes.unsupported, message, data: { feature: "deliveryMode", value: value.slice(0, 40) } };
}

/** The callback did not show that it wants events. */
export function callbackFailed(reason: CallbackFailure): McpError {
  return { code: codes.callbackEndpoint, message: `CallbackEndpointError: ${reason}`, data: { reason } };
}

/** The end of a subscription whose key or grant ended. */
export function accessRevoked(): McpError {
  return { code: codes.forbidden, message: "Forbidden", data: { reason: "Access revoked" } };
}
