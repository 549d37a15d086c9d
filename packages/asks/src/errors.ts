import { call, defineFaults, field, formatValue, text } from "@svc/core";
import { askEndpointEventTypes } from "@svc/db/schema/words";

/** Errors of asks, ask endpoints and contacts. */
export const askFaults = defineFaults({
  JOB_NOT_FOUND: {
    code: "not_found",
    field: (path: string) => path,
    says: (_path: string, id: string) => `there is no job ${formatValue(id)} in this project`,
    help: "Check the id; what belongs to another project reads as missing.",
  },
  ASK_NOT_FOUND: {
    code: "not_found",
    field: "requestId",
    says: (requestId: string) => `the job has no ask ${formatValue(requestId)}`,
    help: text`${call("ListAsks")} with jobId lists the job's asks.`,
  },
  ASK_STALE: {
    code: "failed_precondition",
    field: "requestId",
    says: (requestId: string) => `requestId ${formatValue(requestId)} is not a question that the job asks`,
    help: "Read the job's present question from park.judgment, or leave requestId empty to answer that.",
  },
  ASK_SETTLED: {
    code: "failed_precondition",
    field: "requestId",
    says: (requestId: string) =>
      `requestId: ${requestId === "" ? "the job waits for no answer" : `the ask ${formatValue(requestId)} was settled before`}`,
    help: text`Nothing is left to answer; ${call("GetAsk")} tells how an ask was settled.`,
  },
  PRINCIPAL_NOT_REACHED: {
    code: "permission_denied",
    field: "principalId",
    says: (principalId: string) =>
      text`${field("principalId")} ${formatValue(principalId)} has not been reached by the ask`,
    help: "Answer for a contact in the ask's deliveredPrincipals.",
  },
  APPROVAL_NOT_LINKABLE: {
    code: "failed_precondition",
    field: "requestId",
    says: (requestId: string) =>
      `the ask ${formatValue(requestId)} is an approval, which is decided with the key whose plan it is`,
    help: text`Answer it with ${call("AnswerAsk")}, or in the console from the seat of that key.`,
  },
  CONFIRM_BY_CALLER: {
    code: "permission_denied",
    says: "the ask confirms what this key caused, or a key of the same hand: its grant, its giver or a sibling",
    help: "Answer with another key of the project, by a link that another key makes, or in the console from another key's seat.",
  },
  CONTINUATION_NOT_DECLARED: {
    code: "invalid_argument",
    field: "continuation",
    says: (continuation: string, declared: readonly string[]) =>
      `continuation ${formatValue(continuation)} is none of ${declared.join(", ")}`,
    help: "Pick one of the ask's continuations.",
  },
  OVERRIDES_INVALID: {
    code: "invalid_argument",
    field: "overridesJson",
    says: (why: string) => text`${field("overridesJson")} ${why}`,
    help: "Send a JSON object by the ask's answerSchemaJson with retry-with, and nothing with other continuations.",
  },
  NOTE_TOO_LONG: {
    code: "invalid_argument",
    field: "note",
    says: (length: number, max: number) => `note is ${length} characters long, longer than ${max}`,
    help: "Shorten it.",
  },
  APPROVER_ROLE_REQUIRED: {
    code: "permission_denied",
    says: "the ask is an approval, and the key does not have the role approver",
    help: "Answer with the approver's key that submitted the job.",
  },
  APPROVAL_KEY_MISMATCH: {
    code: "permission_denied",
    says: (keyId: string) => `the key ${formatValue(keyId)} is not the one whose plan waits for this approval`,
    help: "Answer with the key that submitted the job.",
  },
  PRINCIPAL_NOT_APPROVER: {
    code: "permission_denied",
    field: "principalId",
    says: (principalId: string) => `the contact ${formatValue(principalId)} is not an approver`,
    help: text`Answer for a contact that ${call("PutContact")} marked as approver.`,
  },
  ASK_ENDPOINT_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `there is no ask endpoint ${formatValue(id)} in this project`,
    help: text`${call("ListAskEndpoints")} lists them.`,
  },
  EVENT_TYPE_UNKNOWN: {
    code: "invalid_argument",
    field: (index: number) => `eventTypes[${index}]`,
    says: (index: number, name: string) =>
      `eventTypes[${index}] is ${formatValue(name)}, which is none of ${askEndpointEventTypes.join(", ")}`,
    help: "Name what is to be posted, such as ask_raised and standing_paused, or nothing for asks alone.",
  },
  PRINCIPAL_ID_INVALID: {
    code: "invalid_argument",
    field: "contact.principalId",
    says: (principalId: string) =>
      `contact.principalId ${formatValue(principalId)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send your own name of the person, 1 to 200 characters.",
  },
  CONTACT_NAME_INVALID: {
    code: "invalid_argument",
    field: "contact.name",
    says: (name: string) =>
      `contact.name ${formatValue(name)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send what people call them, 1 to 200 characters.",
  },
  REACH_TOOL_UNSUITABLE: {
    code: "invalid_argument",
    field: "contact.reach.toolSlug",
    says: (toolSlug: string, why: string) => `contact.reach.toolSlug ${formatValue(toolSlug)} ${why}`,
    help: "Name a callable tool that is not destructive, such as one that sends a message.",
  },
  ENTITY_ID_INVALID: {
    code: "invalid_argument",
    field: "contact.reach.entityId",
    says: (entityId: string) =>
      `contact.reach.entityId ${formatValue(entityId)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send the entity whose account sends the message, 1 to 200 characters.",
  },
  REACH_ARGS_INVALID: {
    code: "invalid_argument",
    field: "contact.reach.argsJson",
    says: (why: string) => `contact.reach.argsJson ${why}`,
    help: "Send an object of the tool's arguments, in whose texts {question}, {jobId} and {requestId} may stand.",
  },
  LAST_APPROVER: {
    code: "failed_precondition",
    says: (principalId: string) => `the contact ${formatValue(principalId)} is the project's only approver`,
    help: "Mark another contact as approver first.",
  },
  CONTACTS_TOO_MANY: {
    code: "resource_exhausted",
    says: (max: number) => `the project has ${max} contacts already, as many as it may`,
    help: "Delete contacts that are not asked any more.",
  },
  CONTACT_NOT_FOUND: {
    code: "not_found",
    field: "principalId",
    says: (principalId: string) => `there is no contact ${formatValue(principalId)} in this project`,
    help: text`${call("ListContacts")} lists them.`,
  },
  CONTACT_ASKED: {
    code: "failed_precondition",
    field: "principalId",
    says: (principalId: string) => `a pending ask has reached the contact ${formatValue(principalId)}`,
    help: text`Answer the ask (${call("ListAsks")} shows it), or cancel its job, first.`,
  },
});
