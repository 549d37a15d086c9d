import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { DescMessage, JsonValue } from "@bufbuild/protobuf";
import { type Fault, parseJsonInTurns, readForeignText, type Work, type WorkMeter } from "@svc/core";
import { piecesOf } from "../body/body-values.ts";
import { serverFaults } from "../errors.ts";
import { isJsonType, lineOf } from "./answers.ts";
import { type Call, ownerOf } from "./call.ts";
import type { CallBody } from "./call-body.ts";
import { decodeError, toConnectError } from "./connect-error.ts";
import { faultOfTimes, faultOfTimesIn } from "./request-times.ts";

const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Finds out if a JSON text is nested deeper than allowed. Scans the bytes without parsing, because a parser accepts any depth and takes long
 * for deep texts. The text may be passed in pieces.
 */
class NestingScan {
  #depth = 0;
  #isInText = false;
  /** True if the next byte is escaped. Only a backslash in a string escapes. */
  #isEscaped = false;

  /** Scans the next piece of the text. Returns true if it is nested deeper than `depthMax`. */
  isDeeper(json: Uint8Array, depthMax: number): boolean {
    for (let at = 0; at < json.length; at++) {
      if (this.#isInText) {
        at = this.#endOfText(json, at);
        continue;
      }
      const byte = json[at];
      if (byte === quote) this.#isInText = true;
      else if (byte === openList || byte === openObject) {
        if (++this.#depth > depthMax) return true;
      } else if (byte === closeList || byte === closeObject) this.#depth--;
    }
    return false;
  }

  /** Returns the index at which the string ends that contains the byte at `start`, or the end of the piece. */
  #endOfText(json: Uint8Array, start: number): number {
    let at = this.#isEscaped ? start + 1 : start;
    while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
    this.#isEscaped = at > json.length;
    this.#isInText = at >= json.length;
    return at;
  }
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

/** The body of a request: its bytes or, if it is large JSON, the value of the JSON, because that is parsed in slices. */
export type ReceivedBody =
  | { readonly bytes: Uint8Array; readonly value?: undefined }
  | { readonly bytes?: undefined; readonly value: JsonValue };

/**
 * Returns the whole body of an API call that svc has accepted for processing. A large body is decoded when it is the turn of the caller's
 * project, in slices of 4 ms. The work for it is counted for this project. Rejects with a ConnectError.
 */
export async function receiveBody(
  req: IncomingMessage,
  options: ReceivedCall,
  input: DescMessage,
): Promise<ReceivedBody> {
  const { call, body, meter } = options;
  const bytes = await body.read();
  const isLarge = bytes.byteLength > largeBytes;
  const turn = isLarge ? undefined : meter.turns.take(lineOf(call.principal));
  if (turn !== undefined) await turn;
  const work = meter.begin(ownerOf(call));
  work.charge({ bytes: bytes.byteLength });
  if (isLarge) await work.turn();
  body.checkKept();
  const type = req.headers["content-type"] ?? "";
  if (isLarge && type.startsWith("application/json")) return { value: await parseLarge(bytes, body, work, input) };
  work.run(() => body.chargeValues());
  // The encoding of the text is checked here, because the decoder would silently replace bytes that are not UTF-8. In a stream, a frame
  // starts with its length.
  const isFramed = /^application\/connect\+json/i.test(type);
  const message = isFramed ? bytes.subarray(frameHeadBytes) : bytes;
  if ((isFramed || isJsonType(type)) && !isUtf8(message)) throw toConnectError(notUtf8());
  const isJson = type.startsWith("application/json");
  if (isJson && work.run(() => new NestingScan().isDeeper(bytes, depthMax))) throw toConnectError(nestedTooDeep());
  const fault = isFramed || isJsonType(type) ? work.run(() => faultOfTimes(input, message)) : undefined;
  if (fault !== undefined) throw toConnectError(fault);
  return { bytes };
}

/** Parses a large JSON body with the same checks as a small one. One megabyte would otherwise hold the event loop for 8 ms. */
async function parseLarge(bytes: Uint8Array, body: CallBody, work: Work, input: DescMessage): Promise<JsonValue> {
  const { turn, rest } = work.slices();
  await body.chargeValuesInTurns(rest);
  const nesting = new NestingScan();
  for (const piece of piecesOf(bytes)) {
    if (nesting.isDeeper(piece, depthMax)) throw toConnectError(nestedTooDeep());
    await rest();
  }
  body.checkKept();
  const read = isUtf8(bytes) ? readForeignText(bytes) : undefined;
  if (read === undefined || !("text" in read)) throw toConnectError(notUtf8());
  const value = await parseJsonInTurns(read.text, { ...plainJson, turn }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw decodeError(new Error(`cannot decode message ${input.typeName} from JSON: ${reason}`));
  });
  const fault = faultOfTimesIn(input, value as JsonValue);
  if (fault !== undefined) throw toConnectError(fault);
  return value as JsonValue;
}

/** JSON as the decoder of messages reads it: numbers are doubles, and an object that repeats a name is refused. */
const plainJson = {
  numbers: "double",
  repeats: "refused",
  bounds: { values: Infinity, members: Infinity, raw: Infinity, digits: Infinity },
} as const;

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
