import { type Fault, fault, formatValue } from "@svc/core";

/** `mode` is none there is. */
export function modeInvalid(mode: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "MODE_INVALID",
    field: "mode",
    message: `mode ${formatValue(mode)} is not a mode`,
    help: "Send live or simulate, or leave it empty.",
  });
}

/** An agent's call runs a new program or waits for a job, and this one says neither or both. */
export function runArgumentsUnclear(): Fault {
  return fault({
    code: "invalid_argument",
    reason: "RUN_ARGUMENTS_UNCLEAR",
    message: "run_program takes a program to run, or job_id alone to wait for a job",
    help: "Give program, or give job_id without program, idempotency_key and simulate.",
  });
}

/** A simulation cannot be simulated first. */
export function modeConflict(): Fault {
  return fault({
    code: "invalid_argument",
    reason: "MODE_CONFLICT",
    field: "simulateFirst",
    message: "simulateFirst is true and mode is simulate, which simulates already",
    help: "Send mode simulate to simulate only, or simulateFirst to simulate before a live run.",
  });
}

/** An idempotency key is out of its form. */
export function idempotencyKeyInvalid(key: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "IDEMPOTENCY_KEY_INVALID",
    field: "idempotencyKey",
    message: `idempotencyKey has ${key.length} characters; at most 255 are allowed`,
    help: "Send up to 255 characters, such as a UUID.",
  });
}

/** An idempotency key was used for another submission. */
export function idempotencyKeyReused(key: string): Fault {
  return fault({
    code: "already_exists",
    reason: "IDEMPOTENCY_KEY_REUSED",
    field: "idempotencyKey",
    message: `idempotencyKey ${formatValue(key)} was used with another program, mode or simulateFirst`,
    help: "Use a new key for every submission that differs.",
  });
}

/** What asks for the approval of a plan, and what other than an approver's key would help. */
const approvalCauses = {
  program:
    'set "approval": {"plan": "never"} and put a question of your own to a contact before what destroys; or leave out destructive calls and "plan": "always"',
  skill: "leave out the skill that would need approval by its own rule",
  policy: "leave out destructive calls: the project's policy has plans with them approved, whatever a program says",
} as const;

/** The plan needs approval that the submitting key could not give. `cause`: what asks for it. */
export function approverRoleRequired(cause: keyof typeof approvalCauses): Fault {
  return fault({
    code: "permission_denied",
    reason: "APPROVER_ROLE_REQUIRED",
    field: "programJson/approval",
    message: "the plan needs approval, and only the submitting key may answer for it, which is not an approver's",
    help: `Submit with a key of the role approver; or ${approvalCauses[cause]}.`,
  });
}

/** A point of the program is an approval, which the submitting key could not give. `place`: such as `points/sure`, or the skill that has it. */
export function gateForApprovers(place: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "APPROVER_ROLE_REQUIRED",
    field: `programJson/${place}`,
    message: "it asks for an approval, and only the submitting key may answer for it, which is not an approver's",
    help: "Submit with a key of the role approver; or write a question without approval, with an escalation that names the contact who answers it.",
  });
}

/** The plan needs approval and nobody may give it. */
export function approverMissing(): Fault {
  return fault({
    code: "failed_precondition",
    reason: "APPROVER_MISSING",
    field: "programJson/approval",
    message: "the plan needs approval, and none of the contacts it would be asked of is an approver",
    help: "Mark a contact as approver with PutContact, and name one in approval.escalation if you name any.",
  });
}

/** Ends that a job comes to; the others are made by somebody. */
const byItself: ReadonlySet<string> = new Set(["succeeded", "failed", "expired"]);

/** A job that has ended cannot be cancelled, paused, resumed, parked or released. `field` names it in the request. */
export function jobFinished(field: "id" | "jobId", id: string, status: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "JOB_FINISHED",
    field,
    message: `job ${id} ${byItself.has(status) ? "has" : "was"} ${status}`,
    help: "Only a job that has not ended can be cancelled, paused, resumed, parked or released.",
  });
}

/** A job stands where nothing drives it: there is nothing to take it from. */
export function jobNotParkable(id: string, standing: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "JOB_NOT_PARKABLE",
    field: "jobId",
    message: `job ${id} is ${standing}, and only one that is queued, running or compensating is parked`,
    help: "A job that waits does nothing: park it once it runs again, or end it with CancelJob.",
  });
}

/** A job is not parked, or not by the service or an administrator. */
export function jobNotReleasable(id: string, standing: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "JOB_NOT_RELEASABLE",
    field: "jobId",
    message: `job ${id} is ${standing}, and only one that is parked as poisoned or by an administrator is released`,
    help: "A job that waits for an answer goes on by AnswerAsk, one that waits for a time by itself.",
  });
}

/** No other attempt at a job may follow, or none from that step. */
export function jobNotRetryable(id: string, why: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "JOB_NOT_RETRYABLE",
    field: "id",
    message: `job ${id} ${why}`,
    help: "Retry a job that failed, expired, was aborted or cancelled, and undid nothing. For any other submit its program again.",
  });
}

/** A job is to go on from a step that is none of its own, or that it has not come to. */
export function jobStepUnknown(why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "JOB_STEP_UNKNOWN",
    field: "fromStepId",
    message: `fromStepId ${why}`,
    help: "Name one of the job's stepReceipts, or leave it empty to go on where the job stopped.",
  });
}

/** Values for params do not fit the program. */
export function paramsInvalid(why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "OVERRIDES_INVALID",
    field: "paramsJson",
    message: `paramsJson ${why}`,
    help: "Send a JSON object of params that the program has, each with a value of the same type.",
  });
}

/** The input of a job that is run again does not fit its program. */
export function inputInvalid(why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "PROGRAM_ARGUMENT_INVALID",
    field: "inputJson",
    message: `inputJson ${why}`,
    help: "Send a JSON object by the program's inputSchema, or nothing to keep the input of the job.",
  });
}

/** A job is not paused, nor to be. */
export function jobNotPaused(id: string, status: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "JOB_NOT_PAUSED",
    field: "id",
    message: `job ${id} is ${status}, and nobody has paused it`,
    help: "Only a job whose pausedAt is set is resumed: one that waits for an answer goes on by AnswerAsk.",
  });
}

/** A person was asked about the same call again and again. */
export function callNotAsked(toolSlug: string, asksMax: number): Fault {
  return fault({
    code: "resource_exhausted",
    reason: "CONFIRM_ASKED_TOO_OFTEN",
    message: `a person was asked ${asksMax} times within ten minutes about the same call of ${toolSlug}`,
    help: "Wait, or send another idempotencyKey with each call that is meant.",
  });
}
