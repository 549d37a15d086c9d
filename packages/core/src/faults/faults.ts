import { isoTime } from "../time/iso-time.ts";
import { defineFaults } from "./define-faults.ts";
import { formatValue } from "./errors.ts";
import { field, text } from "./fault-text.ts";

/** Definitions of the error responses that several services of the API use. */
export const coreFaults = defineFaults({
  ID_MALFORMED: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, id: string, prefix: string) =>
      text`${field(path)} ${formatValue(id)} is not an id of the form ${prefix}_ and 26 characters`,
    help: "Send the id as a call returned it.",
  },
  TIME_RANGE_INVALID: {
    code: "invalid_argument",
    field: "since",
    says: (sinceMs: number, untilMs: number) => `since ${isoTime(sinceMs)} is later than until ${isoTime(untilMs)}`,
    help: "Give a since that is not later than until.",
  },
  TIME_MALFORMED: {
    code: "invalid_argument",
    reason: "REQUEST_MALFORMED",
    field: (path: string) => path,
    says: (path: string) => `${path} is not a time between the years 1 and 9999`,
    help: "Send an RFC 3339 time in UTC.",
  },
  FILTER_TEXT_INVALID: {
    code: "invalid_argument",
    field: (path: string) => path,
    says: (path: string, characters: number, max: number) =>
      text`${field(path)} has ${characters} characters, more than ${max}`,
    help: "Send a shorter part of what you look for.",
  },
  PAGE_TOKEN_INVALID: {
    code: "invalid_argument",
    field: "pageToken",
    says: (token: string) => `pageToken ${formatValue(token, 24)} does not belong to this list`,
    help: "Send the nextPageToken of the same call with the same filters, or leave it empty to start again.",
  },
  PAGE_SIZE_NEGATIVE: {
    code: "invalid_argument",
    field: "pageSize",
    says: (requested: number) => `pageSize ${requested} is negative`,
    help: (_requested: number, max: number) => `Send 1 to ${max}, or 0 for the default.`,
  },
  IDEMPOTENCY_KEY_INVALID: {
    code: "invalid_argument",
    field: "idempotencyKey",
    says: (characters: number) =>
      text`${field("idempotencyKey")} has ${characters} characters; at most 255 are allowed`,
    help: "Send up to 255 characters, such as a UUID.",
  },
  ENDPOINT_URL_INVALID: {
    code: "invalid_argument",
    field: "endpointUrl",
    says: (url: string, why: string) => text`${field("endpointUrl")} ${formatValue(url)} ${why}`,
    help: "Give an absolute https URL without credentials and fragment, such as https://example.com/hooks.",
  },
  ENDPOINT_URL_NOT_HTTPS: {
    code: "invalid_argument",
    field: "endpointUrl",
    says: (url: string) => text`${field("endpointUrl")} ${formatValue(url)} is http and its host is not loopback`,
    help: "Use https; http is for loopback addresses only.",
  },
  ENDPOINT_ADDRESS_REFUSED: {
    code: "invalid_argument",
    field: "endpointUrl",
    says: (url: string, range: string) =>
      text`${field("endpointUrl")} ${formatValue(url)} leads to a ${range} address, which this deployment does not deliver to`,
    help: "Use a public address, or have the operator allow the range in SVC_ENDPOINT_CIDRS.",
  },
  CONSOLE_OFF: {
    code: "failed_precondition",
    says: "this node serves no console",
    help: "Start the service with SVC_CONSOLE=on.",
  },
  /** The project is being moved to another cell, or works there already. The HTTP status is 503, so that senders try again. */
  PROJECT_MOVING: {
    code: "unavailable",
    says: (hold: "moving" | "moved" | "arriving", cell: string) =>
      hold === "moved"
        ? `the project has moved to cell ${formatValue(cell)}`
        : `the project is being moved to cell ${formatValue(cell)}`,
    help: (hold: "moving" | "moved" | "arriving") =>
      hold === "moved"
        ? "Send the same request again in a moment. If this lasts, the proxies route by an old map: the operator prints a new one with svc cells config."
        : "Send the same request again in a moment.",
    retryAfterMs: 2_000,
  },
  LINK_EXPIRY_INVALID: {
    code: "invalid_argument",
    field: "expiresAt",
    says: (nowMs: number, latestMs: number) =>
      `expiresAt is not between now, ${isoTime(nowMs)}, and ${isoTime(latestMs)}`,
    help: "Send a time in that range, or leave it out for the end of the range.",
  },
});
