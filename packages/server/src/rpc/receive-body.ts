import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Fault, WorkMeter } from "@svc/core";
import { serverFaults } from "../errors.ts";
import { isJsonType, lineOf } from "./answers.ts";
import { type Call, ownerOf } from "./call.ts";
import type { CallBody } from "./call-body.ts";
import { toConnectError } from "./connect-error.ts";
import { faultOfTimes } from "./request-times.ts";

const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * True if a JSON text is nested deeper than `depthMax`. Scans the bytes once without parsing, because a parser accepts any depth and takes
 * long for deep texts.
 */
function isNestedDeeper(json: Uint8Array, depthMax: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) at = endOfText(json, at);
    else if (byte === openList || byte === openObject) {
      if (++depth > depthMax) return true;
    } else if (byte === closeList || byte === closeObject) depth--;
  }
  return false;
}

/** Returns the index at which the JSON string that starts at `start` ends. */
function endOfText(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}

/** An API call whose body must be read, and the meter that counts the time for reading it as work of the caller's project. */
type ReceivedCall = { readonly call: Call; readonly body: CallBody; readonly meter: WorkMeter };

/**
 * Size in bytes from which decoding a request body waits for the turn of the caller's project on the event loop. Smaller bodies are decoded
 * at once.
 */
const largeBytes = 65_536;
/** Maximum nesting of a request's JSON. Real requests need less than half of it. */
const depthMax = 100;

/**
 * Returns the whole body of an API call that svc has accepted for processing. A large body is decoded when it is the turn of the caller's
 * project. The work for it is counted for this project. Rejects with a ConnectError.
 */
export async function receiveBody(
  req: IncomingMessage,
  { call, body, meter }: ReceivedCall,
  input: DescMessage,
): Promise<Uint8Array> {
  const bytes = await body.read();
  const isLarge = bytes.byteLength > largeBytes;
  const turn = isLarge ? undefined : meter.turns.take(lineOf(call.principal));
  if (turn !== undefined) await turn;
  const work = meter.begin(ownerOf(call));
  work.charge({ bytes: bytes.byteLength });
  if (isLarge) await work.turn();
  work.run(() => body.chargeValues());
  const type = req.headers["content-type"] ?? "";
  // The encoding of the text is checked here, because the decoder would silently replace bytes that are not UTF-8. In a stream, a frame
  // starts with its length.
  const isFramed = /^application\/connect\+json/i.test(type);
  const message = isFramed ? bytes.subarray(frameHeadBytes) : bytes;
  if ((isFramed || isJsonType(type)) && !isUtf8(message)) throw toConnectError(notUtf8());
  const isJson = type.startsWith("application/json");
  if (isJson && work.run(() => isNestedDeeper(bytes, depthMax))) throw toConnectError(nestedTooDeep());
  const fault = isFramed || isJsonType(type) ? work.run(() => faultOfTimes(input, message)) : undefined;
  if (fault !== undefined) throw toConnectError(fault);
  return bytes;
}

const frameHeadBytes = 5;

function notUtf8(): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: "the body is not UTF-8",
    help: "Send JSON as UTF-8 (RFC 8259, 8.1).",
  });
}

function nestedTooDeep(): Fault {
  const message = `the body is nested deeper than ${depthMax} levels`;
  return serverFaults.REQUEST_MALFORMED({
    message,
    help: "Send the fields of the request; JSON text inside a field may be deeper.",
  });
}
