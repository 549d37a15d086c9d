import { Code, type ConnectError } from "@connectrpc/connect";
import { fault, formatValue } from "@svc/core";

/** The project has no such job. */
export function jobNotFound(field: string, id: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "JOB_NOT_FOUND",
    field,
    message: `there is no job ${formatValue(id)} in this project`,
    help: "Check the id; what belongs to another project reads as missing.",
  });
}

/** The job has no such ask. */
export function askNotFound(requestId: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "ASK_NOT_FOUND",
    field: "requestId",
    message: `the job has no ask ${formatValue(requestId)}`,
    help: "ListAsks with jobId lists the job's asks.",
  });
}

/** The answer names a question that is not the job's. */
export function askStale(requestId: string): ConnectError {
  return fault({
    code: Code.FailedPrecondition,
    reason: "ASK_STALE",
    field: "requestId",
    message: `requestId ${formatValue(requestId)} is not a question that the job asks`,
    help: "Read the job's present question from park.judgment, or leave requestId empty to answer that.",
  });
}

/** The question was settled before. */
export function askSettled(requestId: string): ConnectError {
  const what =
    requestId === "" ? "the job waits for no answer" : `the ask ${formatValue(requestId)} was settled before`;
  return fault({
    code: Code.FailedPrecondition,
    reason: "ASK_SETTLED",
    field: "requestId",
    message: `requestId: ${what}`,
    help: "Nothing is left to answer; GetAsk tells how an ask was settled.",
  });
}

/** The question is not addressed to who answers. */
export function principalNotReached(principalId: string): ConnectError {
  return fault({
    code: Code.PermissionDenied,
    reason: "PRINCIPAL_NOT_REACHED",
    field: "principalId",
    message: `principalId ${formatValue(principalId)} has not been reached by the ask`,
    help: "Answer for a contact in the ask's deliveredPrincipals.",
  });
}

/** The point does not offer the continuation. */
export function continuationNotDeclared(continuation: string, declared: readonly string[]): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "CONTINUATION_NOT_DECLARED",
    field: "continuation",
    message: `continuation ${formatValue(continuation)} is none of ${declared.join(", ")}`,
    help: "Pick one of the ask's continuations.",
  });
}

/** The answer's changes cannot be applied. */
export function overridesInvalid(why: string): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "OVERRIDES_INVALID",
    field: "overridesJson",
    message: `overridesJson ${why}`,
    help: "Send a JSON object by the ask's answerSchemaJson with retry-with, and nothing with other continuations.",
  });
}

/** The remark is too long. */
export function noteTooLong(length: number, max: number): ConnectError {
  return fault({
    code: Code.InvalidArgument,
    reason: "NOTE_TOO_LONG",
    field: "note",
    message: `note is ${length} characters long, longer than ${max}`,
    help: "Shorten it.",
  });
}

/** Approvals are for keys with the role approver. */
export function approverRoleRequired(): ConnectError {
  return fault({
    code: Code.PermissionDenied,
    reason: "APPROVER_ROLE_REQUIRED",
    message: "the ask is an approval, and the key does not have the role approver",
    help: "Answer with the approver's key that submitted the job.",
  });
}

/** An approval is decided with the key whose plan it is. */
export function approvalKeyMismatch(keyId: string): ConnectError {
  return fault({
    code: Code.PermissionDenied,
    reason: "APPROVAL_KEY_MISMATCH",
    message: `the key ${formatValue(keyId)} is not the one whose plan waits for this approval`,
    help: "Answer with the key that submitted the job.",
  });
}

/** An approval is decided in the name of an approver. */
export function principalNotApprover(principalId: string): ConnectError {
  return fault({
    code: Code.PermissionDenied,
    reason: "PRINCIPAL_NOT_APPROVER",
    field: "principalId",
    message: `the contact ${formatValue(principalId)} is not an approver`,
    help: "Answer for a contact that PutContact marked as approver.",
  });
}

/** The project has no such ask endpoint. */
export function askEndpointNotFound(id: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "ASK_ENDPOINT_NOT_FOUND",
    field: "id",
    message: `there is no ask endpoint ${formatValue(id)} in this project`,
    help: "ListAskEndpoints lists them.",
  });
}
