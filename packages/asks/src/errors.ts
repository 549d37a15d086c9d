import { type Fault, fault, formatValue } from "@svc/core";
import { askEndpointEventTypes } from "@svc/db";

/** The project has no such job. */
export function jobNotFound(field: string, id: string): Fault {
  return fault({
    code: "not_found",
    reason: "JOB_NOT_FOUND",
    field,
    message: `there is no job ${formatValue(id)} in this project`,
    help: "Check the id; what belongs to another project reads as missing.",
  });
}

/** The job has no such ask. */
export function askNotFound(requestId: string): Fault {
  return fault({
    code: "not_found",
    reason: "ASK_NOT_FOUND",
    field: "requestId",
    message: `the job has no ask ${formatValue(requestId)}`,
    help: "ListAsks with jobId lists the job's asks.",
  });
}

/** The answer names a question that is not the job's. */
export function askStale(requestId: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "ASK_STALE",
    field: "requestId",
    message: `requestId ${formatValue(requestId)} is not a question that the job asks`,
    help: "Read the job's present question from park.judgment, or leave requestId empty to answer that.",
  });
}

/** The question was settled before. */
export function askSettled(requestId: string): Fault {
  const what =
    requestId === "" ? "the job waits for no answer" : `the ask ${formatValue(requestId)} was settled before`;
  return fault({
    code: "failed_precondition",
    reason: "ASK_SETTLED",
    field: "requestId",
    message: `requestId: ${what}`,
    help: "Nothing is left to answer; GetAsk tells how an ask was settled.",
  });
}

/** The question is not addressed to who answers. */
export function principalNotReached(principalId: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "PRINCIPAL_NOT_REACHED",
    field: "principalId",
    message: `principalId ${formatValue(principalId)} has not been reached by the ask`,
    help: "Answer for a contact in the ask's deliveredPrincipals.",
  });
}

/** A link would let whoever holds it approve. */
export function approvalNotLinkable(requestId: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "APPROVAL_NOT_LINKABLE",
    field: "requestId",
    message: `the ask ${formatValue(requestId)} is an approval, which is decided with the key whose plan it is`,
    help: "Answer it with AnswerAsk, or in the console from the seat of that key.",
  });
}

/** Whoever made a call cannot be the person who confirms it. */
export function confirmByCaller(): Fault {
  return fault({
    code: "permission_denied",
    reason: "CONFIRM_BY_CALLER",
    message: "the ask confirms what this key caused, or a key of the same hand: its grant, its giver or a sibling",
    help: "Answer with another key of the project, by a link that another key makes, or in the console from another key's seat.",
  });
}

/** The point does not offer the continuation. */
export function continuationNotDeclared(continuation: string, declared: readonly string[]): Fault {
  return fault({
    code: "invalid_argument",
    reason: "CONTINUATION_NOT_DECLARED",
    field: "continuation",
    message: `continuation ${formatValue(continuation)} is none of ${declared.join(", ")}`,
    help: "Pick one of the ask's continuations.",
  });
}

/** The answer's changes cannot be applied. */
export function overridesInvalid(why: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "OVERRIDES_INVALID",
    field: "overridesJson",
    message: `overridesJson ${why}`,
    help: "Send a JSON object by the ask's answerSchemaJson with retry-with, and nothing with other continuations.",
  });
}

/** The remark is too long. */
export function noteTooLong(length: number, max: number): Fault {
  return fault({
    code: "invalid_argument",
    reason: "NOTE_TOO_LONG",
    field: "note",
    message: `note is ${length} characters long, longer than ${max}`,
    help: "Shorten it.",
  });
}

/** Approvals are for keys with the role approver. */
export function approverRoleRequired(): Fault {
  return fault({
    code: "permission_denied",
    reason: "APPROVER_ROLE_REQUIRED",
    message: "the ask is an approval, and the key does not have the role approver",
    help: "Answer with the approver's key that submitted the job.",
  });
}

/** An approval is decided with the key whose plan it is. */
export function approvalKeyMismatch(keyId: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "APPROVAL_KEY_MISMATCH",
    message: `the key ${formatValue(keyId)} is not the one whose plan waits for this approval`,
    help: "Answer with the key that submitted the job.",
  });
}

/** An approval is decided in the name of an approver. */
export function principalNotApprover(principalId: string): Fault {
  return fault({
    code: "permission_denied",
    reason: "PRINCIPAL_NOT_APPROVER",
    field: "principalId",
    message: `the contact ${formatValue(principalId)} is not an approver`,
    help: "Answer for a contact that PutContact marked as approver.",
  });
}

/** The project has no such ask endpoint. */
export function askEndpointNotFound(id: string): Fault {
  return fault({
    code: "not_found",
    reason: "ASK_ENDPOINT_NOT_FOUND",
    field: "id",
    message: `there is no ask endpoint ${formatValue(id)} in this project`,
    help: "ListAskEndpoints lists them.",
  });
}

/** An ask endpoint is to be told of something that nothing tells. */
export function eventTypeUnknown(index: number, name: string): Fault {
  return fault({
    code: "invalid_argument",
    reason: "EVENT_TYPE_UNKNOWN",
    field: `eventTypes[${index}]`,
    message: `eventTypes[${index}] is ${formatValue(name)}, which is none of ${askEndpointEventTypes.join(", ")}`,
    help: "Name what is to be posted, such as ask_raised and standing_paused, or nothing for asks alone.",
  });
}
