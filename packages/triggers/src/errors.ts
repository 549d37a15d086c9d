import { Code, type ConnectError } from "@connectrpc/connect";
import { fault, formatValue } from "@svc/core";

/** A trigger was named by its bare name, or for a subscription at all, without its toolkit. */
export function triggerWithoutToolkit(triggerSlug: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "TRIGGER_WITHOUT_TOOLKIT",
    field: "triggerSlug",
    message: `triggerSlug ${formatValue(triggerSlug)} is given without toolkitSlug`,
    help: "Set toolkitSlug to the toolkit that declares the trigger.",
  });
}

/** The catalog has no such toolkit. */
export function toolkitNotFound(toolkitSlug: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "TOOLKIT_NOT_FOUND",
    field: "toolkitSlug",
    message: `there is no toolkit ${formatValue(toolkitSlug)}`,
    help: "ListToolkits names the toolkits.",
  });
}

/** The toolkit has no such trigger. */
export function triggerNotFound(toolkitSlug: string, triggerSlug: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "TRIGGER_NOT_FOUND",
    field: "triggerSlug",
    message: `the toolkit ${formatValue(toolkitSlug)} has no trigger ${formatValue(triggerSlug)}`,
    help: "ListTools with kind TOOL_KIND_TRIGGER names the triggers.",
  });
}

/** Something that is named by id is not there, or not the caller's. */
export function notFound(what: "subscription" | "event" | "delivery", field: string, id: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: `${what.toUpperCase()}_NOT_FOUND`,
    field,
    message: `there is no ${what} ${formatValue(id)} in this project`,
    help: "Check the id; what belongs to another project, or is past its retention, reads as missing.",
  });
}

/** A filter that the call cannot do without is missing. */
export function filterRequired(field: string, fields: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "FILTER_REQUIRED",
    field,
    message: `${fields} must be set`,
    help: "Name what to read; the whole project at once is never meant.",
  });
}

/** Nothing is sent to an inactive subscription. */
export function subscriptionInactive(id: string, reason: string): ConnectError {
  return fault({
    code: Code.FailedPrecondition,
    reason: "SUBSCRIPTION_INACTIVE",
    field: "subscriptionId",
    message: `the subscription ${formatValue(id)} is inactive (${reason})`,
    help: "Activate it with UpdateSubscription first.",
  });
}

/** More deliveries than one replay may queue. */
export function replayTooLarge(max: number): ConnectError {
  return fault({
    code: Code.ResourceExhausted,
    reason: "REPLAY_TOO_LARGE",
    field: "since",
    message: `more than ${max} deliveries would be queued`,
    help: "Replay a shorter time at once; a dry run counts.",
  });
}
