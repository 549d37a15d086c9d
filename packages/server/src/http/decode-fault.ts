import { type DescField, type DescMessage, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { nearest } from "@svc/catalog/nearest";
import { type Fault, formatValue, readForeignText } from "@svc/core";
import { requestMalformed } from "../errors.ts";

/**
 * Says in the words of this API what the decoder found wrong with a request: which field, and what would be right. `body` is
 * what was received, where it is JSON; it is looked at only where the decoder does not name the field.
 */
export function decodeFault(message: string, input: DescMessage, body: Uint8Array | undefined): Fault {
  return (
    unknownKey(message, input) ??
    faultyField(message, input) ??
    faultyTimestamp(message, input, body) ??
    malformed(message)
  );
}

/** Characters that are told of an unknown name, and of what the decoder says. */
const keyMax = 200;
const messageMax = 1_000;

/** What the decoder says, which may quote a value of any length. */
function cut(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax).toWellFormed()}...` : text;
}

/** `cannot decode message svc.v1.X from JSON: key "nope" is unknown` */
function unknownKey(message: string, input: DescMessage): Fault | undefined {
  const match = /^cannot decode (?:message )?([\w.]+) from JSON: key "(.*)" is unknown$/s.exec(message);
  if (match === null) return undefined;
  const [, typeName = "", key = ""] = match;
  const names = findMessage(input, typeName)?.fields.map((field) => field.jsonName) ?? [];
  const near = nearest(key, names);
  const meant = near === undefined ? "" : `Did you mean ${near}? `;
  const help =
    names.length === 0
      ? `${shortName(typeName)} has no fields.`
      : `${meant}${shortName(typeName)} has the fields ${names.join(", ")}.`;
  // A name may be as long as the request.
  return requestMalformed({
    field: key.slice(0, keyMax).toWellFormed(),
    message: `field ${formatValue(key)} is unknown`,
    help,
  });
}

/** `cannot decode field svc.v1.X.page_size from JSON: expected number, got "a"` */
function faultyField(message: string, input: DescMessage): Fault | undefined {
  const match = /^cannot decode (?:field|oneof) ([\w.]+)\.(\w+) from JSON: (.*)$/s.exec(message);
  if (match === null) return undefined;
  const [, typeName = "", name = "", what = ""] = match;
  const field = findMessage(input, typeName)?.fields.find((candidate) => candidate.name === name)?.jsonName ?? name;
  return requestMalformed({ field, message: `${field}: ${cut(what)}` });
}

/** A timestamp's fault names neither its field nor its value: both are looked up in the body. */
function faultyTimestamp(message: string, input: DescMessage, body: Uint8Array | undefined): Fault | undefined {
  if (body === undefined || !message.startsWith("cannot decode message google.protobuf.Timestamp from JSON"))
    return undefined;
  const field = findFaultyTimestamp(input, parseJson(body), "");
  if (field === undefined) return undefined;
  const what = message.slice(message.indexOf("JSON: ") + "JSON: ".length);
  return requestMalformed({
    field,
    message: `${field} is not a timestamp: ${cut(what)}`,
    help: "Send a form like 2026-01-31T09:30:00Z.",
  });
}

function malformed(message: string): Fault {
  return requestMalformed({
    message: cut(message),
    help: "Send one JSON object with the fields of the request, `{}` when there are none.",
  });
}

function findFaultyTimestamp(desc: DescMessage, value: JsonValue | undefined, path: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  for (const field of desc.fields) {
    const given = value[field.jsonName] ?? value[field.name];
    const items = field.fieldKind === "list" && Array.isArray(given) ? given : [given];
    for (const [index, item] of items.entries()) {
      const place = `${path}${field.jsonName}${field.fieldKind === "list" ? `[${index}]` : ""}`;
      const found = faultyTimestampAt(field, item, place);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function faultyTimestampAt(field: DescField, value: JsonValue | undefined, place: string): string | undefined {
  const { message } = field;
  if (message === undefined || value === undefined || value === null) return undefined;
  if (message.typeName !== TimestampSchema.typeName) return findFaultyTimestamp(message, value, `${place}.`);
  try {
    fromJson(TimestampSchema, value);
    return undefined;
  } catch {
    // The fault itself is told by the message that brought us here; only its place is wanted.
    return place;
  }
}

/** The message type of this name among a request and what it holds. */
function findMessage(desc: DescMessage, typeName: string, seen = new Set<DescMessage>()): DescMessage | undefined {
  if (desc.typeName === typeName) return desc;
  seen.add(desc);
  for (const { message } of desc.fields) {
    const found = message === undefined || seen.has(message) ? undefined : findMessage(message, typeName, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

function parseJson(body: Uint8Array): JsonValue | undefined {
  try {
    const read = readForeignText(body);
    return "text" in read ? (JSON.parse(read.text) as JsonValue) : undefined;
  } catch {
    return undefined; // compressed, or binary
  }
}

function shortName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf(".") + 1);
}
