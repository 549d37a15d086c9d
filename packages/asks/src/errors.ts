import { call, defineFaults, field, formatValue, text } from "@svc/core";
import { askEndpointEventTypes } from "@svc/db/schema/words";

/** Errors of asks (questions of jobs to people), ask endpoints (URLs that receive the questions) and contacts (people who answer). */
export const askFaults = defineFaults({
  JOB_NOT_FOUND: {
    code: "not_found",
    field: (path: string) => path,
    says: (_path: string, id: string) => `there is no job ${formatValue(id)} in this project`,
    help: "Check the id; jobs of other projects are reported as missing.",
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
    says: (requestId: string) => `requestId ${formatValue(requestId)} is not the open question of the job`,
    help: "Read the open question from park.judgment, or leave requestId empty to answer it.",
  },
  ASK_SETTLED: {
    code: "failed_precondition",
    field: "requestId",
    says: (requestId: string) =>
      `requestId: ${requestId === "" ? "the job waits for no answer" : `the ask ${formatValue(requestId)} is already settled`}`,
    help: text`No answer is needed; ${call("GetAsk")} shows how an ask was settled.`,
  },
  PRINCIPAL_NOT_REACHED: {
    code: "permission_denied",
    field: "principalId",
    says: (principalId: string) => text`the ask has not reached ${field("principalId")} ${formatValue(principalId)}`,
    help: "Answer for a contact in the ask's deliveredPrincipals.",
  },
  APPROVAL_NOT_LINKABLE: {
    code: "failed_precondition",
    field: "requestId",
    says: (requestId: string) =>
      `the ask ${formatValue(requestId)} is an approval, and only the key that submitted the plan can decide it`,
    help: text`Answer it with ${call("AnswerAsk")}, or in the console from the seat of that key.`,
  },
  CONFIRM_BY_CALLER: {
    code: "permission_denied",
    says: "the ask confirms an action of this key or of a related key: its grant, the key that granted it, or another key of the same grant",
    help: "Answer with another key of the project, by a link that another key makes, or in the console from another key's seat.",
  },
  CONTINUATION_NOT_DECLARED: {
    code: "invalid_argument",
    field: "continuation",
    says: (continuation: string, declared: readonly string[]) =>
      `continuation ${formatValue(continuation)} is not one of ${declared.join(", ")}`,
    help: "Pick one of the ask's continuations.",
  },
  OVERRIDES_INVALID: {
    code: "invalid_argument",
    field: "overridesJson",
    says: (why: string) => text`${field("overridesJson")} ${why}`,
    help: "Send a JSON object that fits the ask's answerSchemaJson with retry-with, and nothing with other continuations.",
  },
  NOTE_TOO_LONG: {
    code: "invalid_argument",
    field: "note",
    says: (length: number, max: number) => `note has ${length} characters; at most ${max} are allowed`,
    help: "Shorten it.",
  },
  APPROVER_ROLE_REQUIRED: {
    code: "permission_denied",
    says: "the ask is an approval, and the key does not have the role approver",
    help: "Answer with the approver's key that submitted the job.",
  },
  APPROVAL_KEY_MISMATCH: {
    code: "permission_denied",
    says: (keyId: string) => `the key ${formatValue(keyId)} did not submit the plan that waits for this approval`,
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
      `eventTypes[${index}] is ${formatValue(name)}, which is not one of ${askEndpointEventTypes.join(", ")}`,
    help: "Name the events to post, such as ask_raised and standing_paused, or nothing for asks only.",
  },
  PRINCIPAL_ID_INVALID: {
    code: "invalid_argument",
    field: "contact.principalId",
    says: (principalId: string) =>
      `contact.principalId ${formatValue(principalId)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send your own name for the person, 1 to 200 characters.",
  },
  CONTACT_NAME_INVALID: {
    code: "invalid_argument",
    field: "contact.name",
    says: (name: string) =>
      `contact.name ${formatValue(name)} is empty, longer than 200 characters, or holds control characters`,
    help: "Send the person's name, 1 to 200 characters.",
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
    help: "Send an object of the tool's arguments; its texts may contain {question}, {jobId} and {requestId}.",
  },
  LAST_APPROVER: {
    code: "failed_precondition",
    says: (principalId: string) => `the contact ${formatValue(principalId)} is the project's only approver`,
    help: "Mark another contact as approver first.",
  },
  CONTACTS_TOO_MANY: {
    code: "resource_exhausted",
    says: (max: number) => `the project already has ${max} contacts, the maximum`,
    help: "Delete contacts that are no longer asked.",
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
