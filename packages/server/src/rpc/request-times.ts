import { type DescField, type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { type Fault, formatValue, readForeignText, readTime } from "@svc/core";
import { serverFaults } from "../errors.ts";

/**
 * Returns the fault of an invalid time in a request's JSON. Returns undefined if all times are valid or the body is not JSON. The check is
 * necessary because the decoder is not strict: it reads 30 February as 2 March and 24:00 as midnight, and ignores text after the s of a
 * duration. Also, its errors name neither the field nor the value.
 */
export function faultOfTimes(input: DescMessage, body: Uint8Array): Fault | undefined {
  const value = hasTimes(input) ? parseJsonBody(body) : undefined;
  return value === undefined ? undefined : faultOfTimesIn(input, value);
}

/** Returns the fault of an invalid time in the parsed JSON of a request. Returns undefined if all times are valid. */
export function faultOfTimesIn(input: DescMessage, value: JsonValue): Fault | undefined {
  const found = hasTimes(input) ? findValue(input, value, isFaultyTime) : undefined;
  if (found === undefined) return undefined;
  const { place, given, field } = found;
  const isSpan = field.message !== undefined && isSpanType(field.message);
  return serverFaults.REQUEST_MALFORMED({
    field: place,
    message: `${place} is not a ${isSpan ? "duration" : "timestamp"}: ${formatValue(given)}`,
    help: isSpan
      ? "Send seconds, such as 3600s."
      : "Send a time such as 2026-01-31T09:30:00Z, with a day and a time that exist.",
  });
}

const known = new WeakMap<DescMessage, boolean>();

/** True if a request may contain a time. Requests without times (nearly all tool calls) need not be parsed twice. */
function hasTimes(desc: DescMessage): boolean {
  let found = known.get(desc);
  if (found === undefined) {
    found = findTimes(desc, new Set());
    known.set(desc, found);
  }
  return found;
}

/** True if a message has a field of a time, at any depth. `seen`: messages that are searched already. */
function findTimes(desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some(
    ({ message }) => message !== undefined && (isTimeType(message) || isSpanType(message) || findTimes(message, seen)),
  );
}

const isTimeType = ({ typeName }: DescMessage) => typeName === TimestampSchema.typeName;
const isSpanType = ({ typeName }: DescMessage) => typeName === DurationSchema.typeName;

function isFaultyTime({ message }: DescField, given: JsonValue): boolean {
  if (message === undefined) return false;
  if (isTimeType(message)) return !isTimestamp(given);
  return isSpanType(message) && !isDuration(given);
}

/** A value in the JSON of a request: its field, and its place such as `filter.items[2]`. */
type PlacedValue = { readonly field: DescField; readonly place: string; readonly given: JsonValue };

/** Returns the first value in a request's JSON, at any depth, that `isSought` accepts. Returns undefined if there is none. */
export function findValue(
  desc: DescMessage,
  value: JsonValue,
  isSought: (field: DescField, given: JsonValue) => boolean,
  path = "",
): PlacedValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  for (const field of desc.fields) {
    const given = value[field.jsonName] ?? value[field.name];
    const items = field.fieldKind === "list" && Array.isArray(given) ? given : [given];
    for (const [index, item] of items.entries()) {
      if (item === undefined || item === null) continue;
      const place = `${path}${field.jsonName}${field.fieldKind === "list" ? `[${index}]` : ""}`;
      if (isSought(field, item)) return { field, place, given: item };
      const { message } = field;
      const found = message === undefined ? undefined : findValue(message, item, isSought, `${place}.`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function isTimestamp(given: JsonValue): boolean {
  return typeof given === "string" && readTime(given) !== undefined && isRead(() => fromJson(TimestampSchema, given));
}

function isDuration(given: JsonValue): boolean {
  const hasForm = typeof given === "string" && /^-?\d{1,12}(?:\.\d{1,9})?s$/.test(given);
  return hasForm && isRead(() => fromJson(DurationSchema, given));
}

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** Returns the JSON value of a request's body. Undefined if the body is not valid JSON. */
export function parseJsonBody(body: Uint8Array): JsonValue | undefined {
  try {
    const read = readForeignText(body);
    return "text" in read ? (JSON.parse(read.text) as JsonValue) : undefined;
  } catch {
    return undefined; // The body is not valid JSON. The decoder reports this later.
  }
}
