import { type Fault, fault, formatValue } from "@svc/core";

/** A trigger was named by its bare name, or for a subscription at all, without its toolkit. */
export function triggerWithoutToolkit(triggerSlug: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "TRIGGER_WITHOUT_TOOLKIT",
    field: "triggerSlug",
    message: `triggerSlug ${formatValue(triggerSlug)} is given without toolkitSlug`,
    help: "Set toolkitSlug to the toolkit that declares the trigger.",
  });
}

/** The toolkit has no such trigger. */
export function triggerNotFound(toolkitSlug: string, triggerSlug: string): Fault {
  return fault({
    code: "not_found",
    reason: "TRIGGER_NOT_FOUND",
    field: "triggerSlug",
    message: `the toolkit ${formatValue(toolkitSlug)} has no trigger ${formatValue(triggerSlug)}`,
    help: "ListTools with kind TOOL_KIND_TRIGGER names the triggers.",
  });
}

/** Something that is named by id is not there, or not the caller's. */
export function notFound(what: "subscription" | "event" | "delivery" | "replay", field: string, id: string): Fault {
  return fault({
    code: "not_found",
    reason: `${what.toUpperCase()}_NOT_FOUND`,
    field,
    message: `there is no ${what} ${formatValue(id)} in this project`,
    help: "Check the id; what belongs to another project, or is past its retention, reads as missing.",
  });
}

/** A filter that the call cannot do without is missing. */
export function filterRequired(field: string, fields: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "FILTER_REQUIRED",
    field,
    message: `${fields} must be set`,
    help: "Name what to read; the whole project at once is never meant.",
  });
}

/** A state that no delivery has. */
export function deliveryStateInvalid(state: string, states: readonly string[]): Fault {
  return fault({
    code: "invalid_argument",
    reason: "DELIVERY_STATE_INVALID",
    field: "state",
    message: `state ${formatValue(state)} is no state of a delivery`,
    help: `Send one of ${states.join(", ")}, or leave it empty.`,
  });
}

/** A delivery that has ended is not tried again. */
export function deliveryNotPending(id: string, state: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "DELIVERY_NOT_PENDING",
    field: "deliveryId",
    message: `the delivery ${formatValue(id)} is not pending: it is ${state}`,
    help: "ReplayEvent sends its event again, as another delivery.",
  });
}

/** Nothing is sent to an inactive subscription. */
export function subscriptionInactive(id: string, reason: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "SUBSCRIPTION_INACTIVE",
    field: "subscriptionId",
    message: `the subscription ${formatValue(id)} is inactive (${reason})`,
    help: "Activate it with UpdateSubscription first.",
  });
}

/** An agent holds a subscription over MCP, and what is asked for is the agent's to do, or nobody's. */
export function subscriptionOfAgent(field: string, id: string, why: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "SUBSCRIPTION_OF_AGENT",
    field,
    message: `the subscription ${formatValue(id)} is an agent's, made over MCP: ${why}`,
    help: "Deactivate or delete it, or revoke the key or grant; the agent subscribes to another callback itself.",
  });
}

/** More deliveries than one replay may queue. */
export function replayTooLarge(max: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "REPLAY_TOO_LARGE",
    field: "since",
    message: `more than ${max} deliveries would be queued`,
    help: "Replay a shorter time at once; a dry run counts.",
  });
}

/** A pace that no replay has. */
export function replayRateInvalid(perSecond: number, max: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "REPLAY_RATE_INVALID",
    field: "perSecond",
    message: `perSecond ${perSecond} is not between 1 and ${max}`,
    help: "Give deliveries a second, such as 50.",
  });
}

/** Two replays to one subscription would mix their orders and share its pace. */
export function replayRunning(id: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "REPLAY_RUNNING",
    field: "subscriptionId",
    message: `the replay ${formatValue(id)} to the same subscription has not ended`,
    help: "Wait for it, or end it with CancelReplay; a replay without subscriptionId shares every subscription.",
  });
}

/** A project has as many unfinished replays as it may. */
export function replaysTooMany(max: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "REPLAYS_TOO_MANY",
    message: `${max} replays of the project have not ended`,
    help: "Wait for one of them, or end one with CancelReplay; ListReplays names them.",
  });
}
