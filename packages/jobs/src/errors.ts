import { Code, type ConnectError } from "@connectrpc/connect";
import { fault, faults, formatValue } from "@svc/core";
import type { ProgramFault } from "./program/program.ts";

/** Most faults that an answer lists; its message counts the rest. */
const listedMax = 100;
/** Faults that the message quotes. */
const quotedMax = 5;

/** A program has faults: a detail each, `field` naming the place by `programJson` and a JSON Pointer. */
export function programFaulty(found: readonly ProgramFault[], omitted: number): ConnectError {
  const count = found.length + omitted;
  const quoted = found
    .slice(0, quotedMax)
    .map(({ pointer, message }) => `${pointer === "" ? "the program" : pointer} ${message}`);
  const others = count > quoted.length ? `; and ${count - quoted.length} more` : "";
  return faults({
    code: Code.InvalidArgument,
    message: `programJson has ${count === 1 ? "1 fault" : `${count} faults`}: ${quoted.join("; ")}${others}`,
    details: found.slice(0, listedMax).map(({ code, pointer, message, hint }) => {
      return { reason: code, field: `programJson${pointer}`, help: `${message}: ${hint}.` };
    }),
  });
}

/** `mode` is none there is. */
export function modeInvalid(mode: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "MODE_INVALID",
    field: "mode",
    message: `mode ${formatValue(mode)} is not a mode`,
    help: "Send live or simulate, or leave it empty.",
  });
}

/** A simulation cannot be simulated first. */
export function modeConflict(): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "MODE_CONFLICT",
    field: "simulateFirst",
    message: "simulateFirst is true and mode is simulate, which simulates already",
    help: "Send mode simulate to simulate only, or simulateFirst to simulate before a live run.",
  });
}

/** An idempotency key is out of its form. */
export function idempotencyKeyInvalid(key: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "IDEMPOTENCY_KEY_INVALID",
    field: "idempotencyKey",
    message: `idempotencyKey has ${key.length} characters; at most 255 are allowed`,
    help: "Send up to 255 characters, such as a UUID.",
  });
}

/** An idempotency key was used for another submission. */
export function idempotencyKeyReused(key: string): ConnectError {
  return fault({
    code: Code.AlreadyExists,
    reason: "IDEMPOTENCY_KEY_REUSED",
    field: "idempotencyKey",
    message: `idempotencyKey ${formatValue(key)} was used with another program, mode or simulateFirst`,
    help: "Use a new key for every submission that differs.",
  });
}

/** The plan needs approval that the submitting key could not give. */
export function approverRoleRequired(): ConnectError {
  return fault({
    code: Code.PermissionDenied,
    reason: "APPROVER_ROLE_REQUIRED",
    field: "programJson/approval",
    message: "the plan needs approval, and only the submitting key may answer for it, which is not an approver's",
    help: "Submit with a key of the role approver, or drop what needs approval: destructive calls, or approval.plan always.",
  });
}

/** The plan needs approval and nobody may give it. */
export function approverMissing(): ConnectError {
  return fault({
    code: Code.FailedPrecondition,
    reason: "APPROVER_MISSING",
    field: "programJson/approval",
    message: "the plan needs approval, and none of the contacts it would be asked of is an approver",
    help: "Mark a contact as approver with PutContact, and name one in approval.escalation if you name any.",
  });
}

/** A job that has ended cannot be cancelled. */
export function jobFinished(id: string, status: string): ConnectError {
  return fault({
    code: Code.FailedPrecondition,
    reason: "JOB_FINISHED",
    field: "id",
    message: `job ${id} has ended: it is ${status}`,
    help: "Only a job that has not ended can be cancelled.",
  });
}

/** A job's program cannot become a skill. */
export function jobNotPromotable(id: string, why: string): ConnectError {
  return fault({
    code: Code.FailedPrecondition,
    reason: "JOB_NOT_PROMOTABLE",
    field: "jobId",
    message: `job ${id} ${why}`,
    help: "Promote a live job that succeeded and whose program declares an inputSchema.",
  });
}

/** A skill's name is out of its form. */
export function skillSlugInvalid(slug: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "SKILL_SLUG_INVALID",
    field: "slug",
    message: `slug ${formatValue(slug)} does not match ^[a-z][a-z0-9_]{0,62}$`,
    help: "Send a name such as remind_guests, without the prefix skills.",
  });
}

/** A skill's description is out of its form. */
export function skillDescriptionInvalid(length: number): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "SKILL_DESCRIPTION_INVALID",
    field: "description",
    message: `description has ${length} characters; it must have 1 to 1,000`,
    help: "Say what the skill does, for a model that must choose.",
  });
}

/** The project has a skill of that name. */
export function skillSlugTaken(slug: string): ConnectError {
  return fault({
    code: Code.AlreadyExists,
    reason: "SKILL_SLUG_TAKEN",
    field: "slug",
    message: `slug ${formatValue(slug)} is taken by another skill of this project`,
    help: "Choose another name.",
  });
}

/** The project has as many skills as it may. */
export function skillsTooMany(most: number): ConnectError {
  return fault({
    code: Code.ResourceExhausted,
    reason: "SKILLS_TOO_MANY",
    message: `the project has ${most} skills already`,
    help: "Submit the program with SubmitJob instead.",
  });
}
