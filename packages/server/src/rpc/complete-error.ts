import type { DescMessage, DescMethod, JsonObject } from "@bufbuild/protobuf";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import { nearest } from "@svc/catalog/nearest";
import { Fault, type FaultCode, formatValue } from "@svc/core";
import { serverFaults } from "../errors.ts";
import { jsonOptions } from "../http/answer.ts";
import type { Logger } from "../logger.ts";
import type { CallBody } from "./call-body.ts";
import { isFaultCode, toConnectError } from "./connect-error.ts";

/** Describes a decoding error in terms of this API: the field and the correct form. */
function decodeFault(message: string, input: DescMessage): Fault {
  return unknownKey(message, input) ?? faultyField(message, input) ?? malformed(message);
}

/** Maximum characters of an unknown name, and of the decoder's message, in a fault. */
const keyMax = 200;
const messageMax = 1_000;

/** Shortens the decoder's message, which may quote a value of any length. */
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
  return serverFaults.REQUEST_MALFORMED({
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
  return serverFaults.REQUEST_MALFORMED({ field, message: `${field}: ${cut(what)}` });
}

function malformed(message: string): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: cut(message),
    help: "Send one JSON object with the fields of the request, `{}` when there are none.",
  });
}

/** Returns the message type with this name among a request and its parts. */
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

/** An error in Connect's form: in a body, or in the last frame of a stream. */
export type ErrorJson = JsonObject & { code?: string; message?: string };

/** Data about the call whose error is completed. */
export type FailedCall = {
  method: DescMethod;
  requestId: string;
  body: Pick<CallBody, "bytes" | "bytesMax" | "letGo">;
  logger: Logger;
};

/**
 * Adds the detail to an error without one. Such errors come from the protocol layer (decoding, limits, headers), which no interceptor sees.
 * All others were made from a fault and are unchanged.
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
        ? decodeFault(message, method.input)
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
      // Without a detail, the error mapper has not logged it.
      logger.error(
        { requestId, method: `${method.parent.typeName}/${method.name}`, code, message },
        "call failed in the protocol layer",
      );
      return serverFaults.INTERNAL(requestId);
    default:
      // canceled and aborted: the client has disconnected and does not read this.
      return new Fault(code, message, []);
  }
}

// The same for a frame marked as compressed, in a stream without a declared compression.
const undeclaredCompression = "received compressed envelope, but do not know how to decompress";

function frameCompressed(): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: "a frame of the stream is marked as compressed, and the request names no compression",
    help: "Send the frame plain, or the header `Connect-Content-Encoding: gzip`.",
  });
}

// Connect reports an undecodable binary request as an internal error. Only requests are decoded here.
const binaryFault = "parse binary: ";

function binaryMalformed(message: string, { input }: DescMethod): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: `the body is no binary ${input.typeName}: ${message.slice(binaryFault.length)}`,
    help: `Send one ${input.typeName} in the binary form of Protocol Buffers, or JSON as application/json.`,
  });
}
