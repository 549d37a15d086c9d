import type { FileFault, SchemaFault } from "@svc/catalog";
import { call, defineFaults, type EventId, type FaultText, field, formatValue, text, wait } from "@svc/core";

/** Returns the error for an object that does not exist or does not belong to the caller. */
const missing = (what: string) =>
  ({
    code: "not_found",
    field: (path: string) => path,
    says: (_path: string, id: string) => `there is no ${what} ${formatValue(id)} in this project`,
    help: "Check the id; what belongs to another project, or is past its retention, is not found.",
  }) as const;

/** Maximum number of details of one error. */
const partsMax = 100;

/** Result of trying a schema on stored events. `failures`: the first five events that do not satisfy the schema. */
export type SchemaTrial = {
  readonly checked: number;
  readonly failing: number;
  readonly failures: readonly { readonly eventId: EventId; readonly faults: readonly SchemaFault[] }[];
};

function placeOf(place: string): string {
  return place === "" ? "" : `${place} `;
}

function firstOf(faults: readonly SchemaFault[]): string {
  return `${placeOf(faults[0]?.pointer ?? "")}${faults[0]?.message ?? ""}`;
}

function partsOf(path: string, faults: readonly SchemaFault[]) {
  return faults.slice(0, partsMax).map(({ pointer, message }) => ({ field: `${path}${pointer}`, help: message }));
}

/** Reason why a subscription cannot set a header of this name. */
type HeaderNameFault = "malformed" | "reserved" | "repeated";

const headerNameHelp: Readonly<Record<HeaderNameFault, string>> = {
  malformed: "A name has 1 to 100 characters: letters, digits and any of !#$%&'*+.^_`|~-, without spaces.",
  reserved:
    "Leave out host, content-*, webhook-*, x-svc-*, ce-*, the headers of a connection, and authorization together with an authentication.",
  repeated: "Send each name once: names that differ only in case are the same.",
};

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
  SUBSCRIPTION_DESCRIPTION_INVALID: {
    code: "invalid_argument",
    field: "description",
    says: (max: number) => text`${field("description")} has more than ${max} characters, or has control characters`,
    help: "Shorten it to one line.",
  },
  TEST_BODY_INVALID: {
    code: "failed_precondition",
    field: "subscriptionId",
    says: (id: string, trigger: string, fault: string) =>
      `the body template of the subscription ${formatValue(id)} gives no body for ${trigger === "" ? "an empty payload, because no event type has a sample" : `the sample of ${trigger}`}: ${fault}`,
    help: text`Add else to the template, or give the event type a sample that has the field with ${call("PutEventType")}. ${call("PreviewSubscription")} shows what is sent for past events.`,
  },
  UPDATE_MASK_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, sent: string) => text`${field(path)} ${formatValue(sent)} names nothing that can be changed`,
    help: (_path: string, _sent: string, paths: readonly string[]) => `Send some of ${paths.join(", ")}.`,
  },
  SUBSCRIPTION_FILTER_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, fault: string) => text`${field(path)} ${fault}`,
    help: (_path: string, _fault: string, cure: FaultText) => cure,
  },
  SUBSCRIPTION_FILTER_TOO_EXPENSIVE: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, fault: string) => text`${field(path)} ${fault}`,
    help: (_path: string, _fault: string, cure: FaultText) => cure,
  },
  PACE_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, fault: string) => text`${field(path)} ${fault}`,
    help: (_path: string, _fault: string, cure: FaultText) => cure,
  },
  RETRY_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, fault: string) => text`${field(path)} ${fault}`,
    help: (_path: string, _fault: string, cure: FaultText) => cure,
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
    says: (path: string, name: string, _why: HeaderNameFault) =>
      text`${field(path)} ${formatValue(name)} cannot be set`,
    help: (_path: string, _name: string, why: HeaderNameFault) => headerNameHelp[why],
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
  REPLAY_OF_PROJECT: {
    code: "failed_precondition",
    field: "id",
    says: (id: string) => `the project started the replay ${formatValue(id)}`,
    help: "Ask the project to change or end it: only the project can.",
  },
  PROJECT_REPLAY_RUNNING: {
    code: "failed_precondition",
    reason: "REPLAY_RUNNING",
    field: "subscriptionId",
    says: "a replay of the project includes this subscription, and has not ended",
    help: "Try again later.",
  },
  REPLAY_OF_PAUSE: {
    code: "failed_precondition",
    field: "id",
    says: (id: string) => `the replay ${formatValue(id)} keeps what a paused subscription misses`,
    help: text`Resume the subscription first, with ${call("UpdateSubscription")}.`,
  },
  EVENTS_TOO_MANY: {
    code: "invalid_argument",
    field: "events",
    says: (count: number, max: number) => text`${field("events")} has ${count} events, not 1 to ${max}`,
    help: "Split the events over several calls.",
  },
  EVENT_TYPE_NAME_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, name: string, known?: string) =>
      known === undefined
        ? text`${field(path)} ${formatValue(name)} is not a name of an event type`
        : text`${field(path)} ${formatValue(name)} differs from the event type ${formatValue(known)} only in the case of letters`,
    help: (_path: string, _name: string, known?: string) =>
      known === undefined
        ? "Write 1 to 100 letters, digits, _ and - in parts joined by dots, such as invoice.paid."
        : "Use the existing name, or another one.",
  },
  EVENT_TYPE_ARCHIVED: {
    code: "failed_precondition",
    field: "type",
    says: (name: string) => `the event type ${formatValue(name)} is archived and refuses new events`,
    help: text`Make the type active again with ${call("PutEventType")}, or publish another type.`,
  },
  EVENT_TYPE_NOT_FOUND: {
    code: "not_found",
    field: (path: string) => path,
    says: (_path: string, name: string, version?: number) =>
      `the project has no event type ${formatValue(name)}${version === undefined ? "" : ` with a version ${version}`}`,
    help: text`${call("ListEventTypes")} names the types, and ${call("PutEventType")} creates one.`,
  },
  EVENT_TYPES_TOO_MANY: {
    code: "resource_exhausted",
    says: (max: number) => `the project has ${max} event types, the most it may have`,
    help: "Publish events of an existing type; a field of the payload can distinguish them.",
  },
  EVENT_DOCUMENT_FORMAT_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, value: string) => text`${field(path)} ${formatValue(value)} is not known`,
    help: (_path: string, _value: string, known: string) => `Send ${known}.`,
  },
  EVENT_DOCUMENT_TOO_LARGE: {
    code: "resource_exhausted",
    field: "types",
    says: (bytesMax: number) => `the document would have more than ${bytesMax} bytes`,
    help: text`Name some of the types in ${field("types")}, and make several documents.`,
  },
  EVENT_TYPE_DESCRIPTION_INVALID: {
    code: "invalid_argument",
    field: "description",
    says: (max: number) => text`${field("description")} has more than ${max} characters or contains U+0000`,
    help: "Shorten it.",
  },
  EVENT_SCHEMA_INVALID: {
    code: "invalid_argument",
    says: (faults: readonly FileFault[]) =>
      text`${field("schemaJson")} is not a schema of an event type: ${placeOf(faults[0]?.path ?? "")}${faults[0]?.reason ?? ""}`,
    each: (faults: readonly FileFault[]) =>
      faults.slice(0, partsMax).map(({ path, reason, cure }) => ({
        field: path === "" ? "schemaJson" : `schemaJson.${path}`,
        help: `${reason}; ${cure}`,
      })),
  },
  EVENT_SAMPLE_INVALID: {
    code: "invalid_argument",
    says: (faults: readonly SchemaFault[]) => text`${field("sampleJson")} ${firstOf(faults)}`,
    each: (faults: readonly SchemaFault[]) => partsOf("sampleJson", faults),
  },
  EVENT_TYPE_BREAKING: {
    code: "failed_precondition",
    says: (name: string, { checked, failing }: SchemaTrial) =>
      `the new schema of ${formatValue(name)} refuses ${failing} of its latest ${checked} events`,
    each: (_name: string, { failures }: SchemaTrial) =>
      failures.map(({ eventId, faults }) => ({
        field: "schemaJson",
        help: text`${eventId} ${firstOf(faults)}; change the schema, or set ${field("breaking")}`,
      })),
  },
  EVENT_PAYLOAD_INVALID: {
    code: "invalid_argument",
    says: (type: string, faults: readonly SchemaFault[]) =>
      text`${field("payloadJson")} is not a payload of ${formatValue(type)}: ${firstOf(faults)}`,
    each: (_type: string, faults: readonly SchemaFault[]) => partsOf("payloadJson", faults),
  },
  EVENT_KEY_INVALID: {
    code: "invalid_argument",
    field: "key",
    says: (key: string) => text`${field("key")} ${formatValue(key)} is not a key of an event`,
    help: "Send 1 to 200 characters without line breaks, or leave it empty.",
  },
  EVENT_TIME_INVALID: {
    code: "invalid_argument",
    field: "occurredAt",
    says: text`${field("occurredAt")} is not a time of the years 1 to 9999`,
    help: "Send the time of the event, or leave it out.",
  },
  ENTITY_ID_INVALID: {
    code: "invalid_argument",
    field: "entityId",
    says: (entityId: string) => text`${field("entityId")} ${formatValue(entityId)} is not an id of an entity`,
    help: "Send 1 to 200 characters without line breaks, or leave it empty.",
  },
  ENTITY_FULL: {
    code: "resource_exhausted",
    reason: "QUOTA_ENTITY_SUBSCRIPTIONS",
    field: "entityId",
    says: (entityId: string, most: number) =>
      `the entity ${formatValue(entityId)} has ${most} subscriptions, the most that it may have`,
    help: text`Delete those that are not used (${call("ListSubscriptions")}).`,
  },
  PORTAL_FIELD_REFUSED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string) => text`${field(path)} cannot be set in the portal`,
    help: (path: string) => text`Leave ${field(path)} out: the project decides it, with a key of its own.`,
  },
  PORTAL_TESTS_TOO_MANY: {
    code: "resource_exhausted",
    says: (most: number, _retryAfterMs: number) => `the portal has sent ${most} test events within a minute`,
    help: text`Try again ${wait}.`,
    retryAfterMs: (_most: number, retryAfterMs: number) => retryAfterMs,
  },
  PORTAL_DELIVERIES_TOO_MANY: {
    code: "resource_exhausted",
    field: "subscriptionId",
    says: (id: string, most: number) =>
      `the endpoint ${formatValue(id)} has ${most} or more deliveries that wait to be sent`,
    help: "Repair the endpoint if it fails, and try again when fewer deliveries wait.",
    retryAfterMs: 60_000,
  },
  PORTAL_SCANS_TOO_MANY: {
    code: "resource_exhausted",
    says: (most: number, _retryAfterMs: number) =>
      `the portal has read past events ${most} times within a minute, for previews and replays`,
    help: text`Try again ${wait}.`,
    retryAfterMs: (_most: number, retryAfterMs: number) => retryAfterMs,
  },
  PORTAL_REPLAY_RUNNING: {
    code: "resource_exhausted",
    reason: "PORTAL_REPLAYS_TOO_MANY",
    says: (id: string) =>
      `the replay ${formatValue(id)} to another endpoint has not ended, and the portal runs one at a time`,
    help: text`Wait for it, or end it with ${call("CancelReplay")}.`,
  },
  PORTAL_REPLAYS_TOO_MANY: {
    code: "resource_exhausted",
    says: "too many replays run at present",
    help: text`Try again ${wait}.`,
    retryAfterMs: 60_000,
  },
  SUBSCRIPTION_PAUSED_BY_PROJECT: {
    code: "failed_precondition",
    field: (path: string) => path,
    says: (_path: string, id: string) => `the project paused the endpoint ${formatValue(id)}`,
    help: "Ask the project to resume it: only the project can.",
  },
  PORTAL_LINKS_TOO_MANY: {
    code: "resource_exhausted",
    field: "entityId",
    says: (entityId: string, most: number) =>
      `the entity ${formatValue(entityId)} has ${most} portal links that have not ended, the most that it may have`,
    help: text`End them with ${call("RevokePortalLinks")}, or create links that end earlier.`,
  },
  PORTAL_ENTITY_INVALID: {
    code: "invalid_argument",
    reason: "ENTITY_ID_INVALID",
    field: "entityId",
    says: (entityId: string) => text`${field("entityId")} ${formatValue(entityId)} is not an id of an entity`,
    help: "Send 1 to 200 characters without line breaks: the portal belongs to one entity.",
  },
  PORTAL_LINK_UNNAMED: {
    code: "invalid_argument",
    reason: "FILTER_REQUIRED",
    field: "entityId",
    says: text`${field("entityId")} and ${field("linkId")} are both set, or both empty`,
    help: "Name the links to end by one of them.",
  },
  LINK_NOT_FOUND: {
    code: "not_found",
    field: "linkId",
    says: (id: string) => `there is no portal link ${formatValue(id)} in this project`,
    help: text`${call("ListPortalLinks")} returns the links that have not ended.`,
  },
  PORTAL_EXPIRY_INVALID: {
    code: "invalid_argument",
    reason: "LINK_EXPIRY_INVALID",
    field: "expiresIn",
    says: "expiresIn is not between 5 minutes and 30 days",
    help: "Send a time such as 86400s, or leave it out for 1 day.",
  },
  PORTAL_NAME_INVALID: {
    code: "invalid_argument",
    field: "settings.portal.name",
    says: (most: number) => `portal.name has more than ${most} characters, or control characters`,
    help: (most: number) => `Send up to ${most} characters on one line, or leave it empty.`,
  },
  PORTAL_COLOR_INVALID: {
    code: "invalid_argument",
    field: "settings.portal.color",
    says: (color: string) => `portal.color ${formatValue(color)} is not a color of the form #rrggbb`,
    help: "Send a number sign and six hexadecimal digits, such as #1a73e8, or leave it empty.",
  },
  PORTAL_LOGO_INVALID: {
    code: "invalid_argument",
    field: "settings.portal.logo",
    says: (why: string) => `portal.logo ${why}`,
    help: "Send a PNG, JPEG or WebP image of at most 65,536 bytes, or leave it empty.",
  },
  PORTAL_ORIGIN_INVALID: {
    code: "invalid_argument",
    field: (path: string) => `settings.${path}`,
    says: (path: string, why: string) => `${path} ${why}`,
    help: "Send up to 20 origins such as https://app.example.com: scheme, host and port, without a path, each once.",
  },
  TOOLKIT_WITHOUT_WEBHOOK: {
    code: "failed_precondition",
    field: "toolkitSlug",
    says: (slug: string) => `the private toolkit ${formatValue(slug)} declares no webhook`,
    help: text`Add webhook and a trigger to its definition, and publish it again with ${call("PublishToolkit")}.`,
  },
  WEBHOOK_SECRET_INVALID: {
    code: "invalid_argument",
    field: "value",
    says: (form: string) => text`${field("value")} is not a secret of this webhook: ${form}`,
    help: (_form: string) =>
      text`Send the secret as the app shows it, or leave ${field("value")} empty, and svc generates one.`,
  },
  WEBHOOK_SECRETS_TOO_MANY: {
    code: "resource_exhausted",
    says: (slug: string, max: number) => `the webhook of ${formatValue(slug)} has ${max} secrets that have not ended`,
    help: text`End one with ${call("DeleteWebhookSecret")}, or send ${field("overlap")} 0; ${call("ListIngestEndpoints", "with the project's id")} lists them.`,
  },
  WEBHOOK_SECRET_NOT_FOUND: missing("secret of a webhook"),
  REPLAYS_TOO_MANY: {
    code: "resource_exhausted",
    says: (max: number) => `${max} replays of the project have not ended`,
    help: text`Wait for one of them, or end one with ${call("CancelReplay")}; ${call("ListReplays")} names them.`,
  },
});

/** Errors of calls for quarantined webhook posts (which svc could not turn into events). */
export const quarantineFaults = defineFaults({
  QUARANTINED_POST_NOT_FOUND: {
    code: "not_found",
    field: "id",
    says: (id: string) => `there is no quarantined post ${formatValue(id)}`,
    help: "Check the id; posts are not found after their retention.",
  },
  TOO_MANY_IDS: {
    code: "invalid_argument",
    field: "ids",
    says: (count: number) => `ids has ${count} entries`,
    help: (_count: number, max: number) => `Send at most ${max} at once.`,
  },
  FILTER_REQUIRED: {
    code: "invalid_argument",
    says: text`ids, ${field("toolkitSlug")}, since and until are all empty`,
    help: "Name the posts to release by at least one of them.",
  },
});
