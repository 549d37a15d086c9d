import { type Fault, fault } from "@svc/core";

/** A step that does not fit the range. */
export function stepInvalid(stepSeconds: number, why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "STEP_INVALID",
    field: "stepSeconds",
    message: `stepSeconds ${stepSeconds} ${why}`,
    help: "Send a multiple of 60, or of 3600 for what lies more than 47 hours back, or 0.",
  });
}

/** A subject that a series does not have. */
export function subjectInvalid(field: "subscriptionId" | "toolSlug", series: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "SUBJECT_INVALID",
    field,
    message: `${field} is set, and ${series} is not counted by it`,
    help: "Ask for deliveries with subscriptionId, for calls with toolSlug, and for the others without either.",
  });
}

/** As many watches as a project may have open at one node. */
export function watchersTooMany(max: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "WATCHERS_TOO_MANY",
    message: `${max} watches of the project are open at this node`,
    help: "Close one of them, or read the lists every few seconds.",
  });
}
