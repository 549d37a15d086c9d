import type { DescField, DescMessage, DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { nearest } from "@svc/catalog/nearest";
import { Fault, type FaultCode, formatValue } from "@svc/core";
import { serverFaults } from "../errors.ts";
import { jsonOptions } from "../http/answer.ts";
import type { Logger } from "../logger.ts";
import type { CallBody } from "./call-body.ts";
import { isFaultCode, toConnectError } from "./connect-error.ts";
import { findValue, parseJsonBody } from "./request-times.ts";

/** Returns the fault for an error of the JSON decoder. It names the field and its correct form, as other faults of this API do. */
function decodeFault(message: string, input: DescMessage, body: Uint8Array | undefined): Fault {
  return (
    unknownKey(message, input) ?? unknownEnum(message, input, body) ?? faultyField(message, input) ?? malformed(message)
  );
}

/**
 * Returns the fault for a message such as `cannot decode enum svc.v1.Role from JSON: "member"`, which names no field; undefined for other
 * messages. The field is found in the body of the request.
 */
function unknownEnum(message: string, input: DescMessage, body: Uint8Array | undefined): Fault | undefined {
  if (!message.startsWith("cannot decode enum ") || body === undefined) return undefined;
  // The body of a stream has one message after five bytes with its length.
  const value = parseJsonBody(body) ?? parseJsonBody(body.subarray(5));
  const found = value === undefined ? undefined : findValue(input, value, isUnknownEnum);
  if (found?.field.enum === undefined) return undefined;
  const names = found.field.enum.values.map(({ name }) => name);
  const near = typeof found.given === "string" ? nearestEnum(found.given, names) : undefined;
  return serverFaults.ENUM_VALUE_UNKNOWN(found.place, formatValue(found.given), names, near);
}

function isUnknownEnum({ enum: desc }: DescField, given: JsonValue): boolean {
  if (desc === undefined) return false;
  if (typeof given === "string") return !desc.values.some(({ name, jsonName }) => name === given || jsonName === given);
  return !Number.isInteger(given);
}

/** Returns the name of an enum value that a text probably means: `ROLE_MEMBER` for `member`. Undefined if none is similar. */
function nearestEnum(text: string, names: readonly string[]): string | undefined {
  const word = text
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, "_");
  return names.find((name) => name === word || name.endsWith(`_${word}`)) ?? nearest(word, names);
}

/** Maximum characters of an unknown name, or of the decoder's message, in a fault. */
const keyMax = 200;
const messageMax = 1_000;

/** Returns a message of the JSON decoder, shortened because it may quote a value of any length. */
function cut(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax).toWellFormed()}...` : text;
}

/**
 * Returns the fault for a message such as `cannot decode message svc.v1.X from JSON: key "nope" is unknown`; undefined for other messages.
 */
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
  // The name of the unknown field is shortened, because a client could send a name as long as the whole request.
  return serverFaults.REQUEST_MALFORMED({
    field: key.slice(0, keyMax).toWellFormed(),
    message: `field ${formatValue(key)} is unknown`,
    help,
  });
}

/**
 * Returns the fault for a message such as `cannot decode field svc.v1.X.page_size from JSON: expected number, got "a"`; undefined for other
 * messages.
 */
function faultyField(message: string, input: DescMessage): Fault | undefined {
  const match = /^cannot decode (?:field|oneof) ([\w.]+)\.(\w+) from JSON: (.*)$/s.exec(message);
  if (match === null) return undefined;
  const [, typeName = "", name = "", what = ""] = match;
  const field = findMessage(input, typeName)?.fields.find((candidate) => candidate.name === name)?.jsonName ?? name;
  return serverFaults.REQUEST_MALFORMED({ field, message: `${field}: ${cut(what)}` });
}

function malformed(message: string): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: cut(message),
    help: "Send one JSON object with the fields of the request, `{}` when there are none.",
  });
}

/**
 * Returns the message type named `typeName`: `desc` itself, or the type of a field inside it. Returns undefined if `desc` does not contain
 * the type.
 */
function findMessage(desc: DescMessage, typeName: string, seen = new Set<DescMessage>()): DescMessage | undefined {
  if (desc.typeName === typeName) return desc;
  seen.add(desc);
  for (const { message } of desc.fields) {
    const found = message === undefined || seen.has(message) ? undefined : findMessage(message, typeName, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shortName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf(".") + 1);
}

/** An error in Connect's JSON form. It is in a body, or in the last frame of a stream. */
export type ErrorJson = JsonObject & { code?: string; message?: string };

/** Data about a failed API call. `completeError` needs it to name the field, limit or request id in the error answer. */
export type FailedCall = {
  method: DescMethod;
  requestId: string;
  body: Pick<CallBody, "bytes" | "bytesMax" | "letGo">;
  logger: Logger;
};

/**
 * Adds a detail to an error that has none. Errors without a detail come from the protocol layer (decoding, limits, headers), where no
 * interceptor sees them. All other errors were made from a fault and stay unchanged.
 */
export function completeError(error: ErrorJson, call: FailedCall): { code: FaultCode; json: ErrorJson } {
  const code = isFaultCode(error.code) ? error.code : "internal";
  if (Array.isArray(error["details"]) && error["details"].length > 0) return { code, json: error };
  const completed = detailedFault(code, error.message ?? "", call);
  return { code: completed.code, json: errorToJson(toConnectError(completed), jsonOptions) as ErrorJson };
}

function detailedFault(code: FaultCode, message: string, { method, requestId, body, logger }: FailedCall): Fault {
  switch (code) {
    case "invalid_argument":
      return message.startsWith("cannot decode")
        ? decodeFault(message, method.input, body.bytes)
        : serverFaults.REQUEST_MALFORMED({ message });
    case "unimplemented":
      return message.startsWith("unknown compression")
        ? serverFaults.COMPRESSION_UNSUPPORTED(message)
        : serverFaults.REQUEST_MALFORMED({ message });
    case "resource_exhausted":
      return serverFaults.BODY_TOO_LARGE(body.bytesMax);
    case "deadline_exceeded":
      return serverFaults.DEADLINE_EXCEEDED();
    case "unavailable":
      return serverFaults.SHUTTING_DOWN();
    case "internal":
    case "unknown":
      if (message.startsWith(binaryFault)) return binaryMalformed(message, method);
      if (message === undeclaredCompression) return frameCompressed();
      // An error without a detail did not pass the function that logs errors, so it is logged here.
      logger.error(
        { requestId, method: `${method.parent.typeName}/${method.name}`, code, message },
        "call failed in the protocol layer",
      );
      return serverFaults.INTERNAL(requestId);
    default:
      // The codes canceled and aborted need no detail: the client has disconnected and does not read the answer.
      return new Fault(code, message, []);
  }
}

// Start of Connect's message for a compressed frame in a stream that declares no compression.
const undeclaredCompression = "received compressed envelope, but do not know how to decompress";

function frameCompressed(): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: "a frame of the stream is marked as compressed, and the request names no compression",
    help: "Send the frame plain, or the header `Connect-Content-Encoding: gzip`.",
  });
}

// Start of Connect's message for an undecodable binary request. Connect reports it as an internal error, but only requests are decoded
// here.
const binaryFault = "parse binary: ";

function binaryMalformed(message: string, { input }: DescMethod): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: `the body is not a binary ${input.typeName}: ${message.slice(binaryFault.length)}`,
    help: `Send one ${input.typeName} in the binary form of Protocol Buffers, or JSON as application/json.`,
  });
}
