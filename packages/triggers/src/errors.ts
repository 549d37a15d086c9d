import { call, defineFaults, type FaultText, field, formatValue, text } from "@svc/core";

/** Returns the error that something named by its id does not exist or does not belong to the caller. */
const missing = (what: string) =>
  ({
    code: "not_found",
    field: (path: string) => path,
    says: (_path: string, id: string) => `there is no ${what} ${formatValue(id)} in this project`,
    help: "Check the id; what belongs to another project, or is past its retention, is not found.",
  }) as const;

/** Errors of subscriptions, events, deliveries and replays. */
export const triggerFaults = defineFaults({
  TRIGGER_WITHOUT_TOOLKIT: {
    code: "invalid_argument",
    field: "triggerSlug",
    says: (triggerSlug: string) =>
      text`${field("triggerSlug")} ${formatValue(triggerSlug)} is given without ${field("toolkitSlug")}`,
    help: text`Set ${field("toolkitSlug")} to the toolkit that declares the trigger.`,
  },
  TRIGGER_NOT_FOUND: {
    code: "not_found",
    field: "triggerSlug",
    says: (toolkitSlug: string, triggerSlug: string) =>
      `the toolkit ${formatValue(toolkitSlug)} has no trigger ${formatValue(triggerSlug)}`,
    help: text`${call("ListTools", "with kind TOOL_KIND_TRIGGER")} names the triggers.`,
  },
  SUBSCRIPTION_NOT_FOUND: missing("subscription"),
  EVENT_NOT_FOUND: missing("event"),
  DELIVERY_NOT_FOUND: missing("delivery"),
  REPLAY_NOT_FOUND: missing("replay"),
  FILTER_REQUIRED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (_path: string, fields: FaultText) => text`${fields} must be set`,
    help: "Name what to read; this call does not read a whole project.",
  },
  CURSOR_INVALID: {
    code: "invalid_argument",
    field: "cursor",
    says: (cursor: string) =>
      text`${field("cursor")} ${formatValue(cursor)} is not a cursor of this call for these filters`,
    help: text`Send the ${field("cursor")} of the previous response with the same filters, or leave it empty and set ${field("since")}.`,
  },
  DELIVERY_STATE_INVALID: {
    code: "invalid_argument",
    field: "state",
    says: (state: string) => `state ${formatValue(state)} is not a state of a delivery`,
    help: (_state: string, states: readonly string[]) => `Send one of ${states.join(", ")}, or leave it empty.`,
  },
  DELIVERY_NOT_PENDING: {
    code: "failed_precondition",
    field: "deliveryId",
    says: (id: string, state: string) => `the delivery ${formatValue(id)} is not pending: it is ${state}`,
    help: text`${call("ReplayEvent")} sends its event again, as another delivery.`,
  },
  SUBSCRIPTION_INACTIVE: {
    code: "failed_precondition",
    field: (_id: string, _reason: string, path: string) => path,
    says: (id: string, reason: string) => `the subscription ${formatValue(id)} is inactive (${reason})`,
    help: text`Activate it with ${call("UpdateSubscription")} first.`,
  },
  SUBSCRIPTION_OF_AGENT: {
    code: "failed_precondition",
    field: (path: string) => path,
    says: (_path: string, id: string, why: string) =>
      `the subscription ${formatValue(id)} is an agent's, made over MCP: ${why}`,
    help: "Deactivate or delete it, or revoke the key or grant; the agent subscribes to another callback itself.",
  },
  SIGNING_SECRET_INVALID: {
    code: "invalid_argument",
    field: "secret",
    says: "secret is not whsec_ and the base64 of 24 to 64 bytes",
    help: "Leave it empty, and svc generates one.",
  },
  ROTATION_OVERLAP_INVALID: {
    code: "invalid_argument",
    field: "overlap",
    says: (overlap: string) => `overlap ${overlap} is not between 0 and 7 days`,
    help: "Send 0 to end the former secret immediately, or leave it unset for a day.",
  },
  SUBSCRIPTION_BODY_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, fault: string) => text`${field(path)} ${fault}`,
    help: (_path: string, _fault: string, cure: FaultText) => cure,
  },
  HEADER_NAME_REFUSED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, name: string) => text`${field(path)} ${formatValue(name)} cannot be set`,
    help: "Leave out host, content-*, webhook-*, x-svc-*, ce-*, the headers of a connection, and authorization together with an authentication.",
  },
  ENDPOINT_AUTH_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, fault: string) => text`${field(path)} ${fault}`,
    help: (_path: string, _fault: string, cure: FaultText) => cure,
  },
  REPLAY_TOO_LARGE: {
    code: "resource_exhausted",
    field: "since",
    says: (max: number) => `more than ${max} deliveries would be queued`,
    help: "Replay a shorter time; a dry run counts the deliveries.",
  },
  REPLAY_RATE_INVALID: {
    code: "invalid_argument",
    field: "perSecond",
    says: (perSecond: number, max: number) => text`${field("perSecond")} ${perSecond} is not between 1 and ${max}`,
    help: "Give deliveries per second, such as 50.",
  },
  REPLAY_RUNNING: {
    code: "failed_precondition",
    field: "subscriptionId",
    says: (id: string) => `the replay ${formatValue(id)} to the same subscription has not ended`,
    help: text`Wait for it, or end it with ${call("CancelReplay")}; a replay without ${field("subscriptionId")} shares every subscription.`,
  },
  REPLAY_OF_PAUSE: {
    code: "failed_precondition",
    field: "id",
    says: (id: string) => `the replay ${formatValue(id)} keeps what a paused subscription misses`,
    help: text`Resume the subscription first, with ${call("UpdateSubscription")}.`,
  },
  REPLAYS_TOO_MANY: {
    code: "resource_exhausted",
    says: (max: number) => `${max} replays of the project have not ended`,
    help: text`Wait for one of them, or end one with ${call("CancelReplay")}; ${call("ListReplays")} names them.`,
  },
});
