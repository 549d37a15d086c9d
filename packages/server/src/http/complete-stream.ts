import { endStreamFlag, errorToJson } from "@connectrpc/connect/protocol-connect";
import type { Fault, FaultCode } from "@svc/core";
import { toConnectError } from "../calls/connect-error.ts";
import { jsonOptions } from "./answer.ts";
import { completeError, type ErrorJson, type FailedCall } from "./complete-error.ts";

/** Hears of the code that a call failed with, before that is answered, which waits for what it returns. */
export type NoteCode = (code: FaultCode) => Promise<void> | undefined;

const headerBytes = 5; // flags (1 byte), length of what follows (4 bytes)
const compressedFlag = 1;

/**
 * The frames of a stream's answer, with the error in the last one completed. Connect hands out one frame a chunk. With the first one the
 * request is decoded, and its body is let go of: the stream may be open for hours.
 */
export async function* completeStream(
  frames: AsyncIterable<Uint8Array>,
  call: FailedCall,
  noteCode: NoteCode,
): AsyncGenerator<Uint8Array> {
  for await (const frame of frames) {
    const completed = await completeFrame(frame, call, noteCode);
    call.body.letGo();
    yield completed;
  }
}

async function completeFrame(frame: Uint8Array, call: FailedCall, noteCode: NoteCode): Promise<Uint8Array> {
  const flags = frame[0] ?? 0;
  if ((flags & endStreamFlag) === 0 || (flags & compressedFlag) !== 0) return frame;
  const end = JSON.parse(Buffer.from(frame.subarray(headerBytes)).toString("utf8")) as { error?: ErrorJson };
  if (end.error === undefined) return frame;
  const { code, json } = completeError(end.error, call);
  await noteCode(code);
  return frameOf(flags, { ...end, error: json });
}

/** The last frame of a stream that ends with an error before anything else. */
export function refusalFrame(fault: Fault): Buffer {
  return frameOf(endStreamFlag, { error: errorToJson(toConnectError(fault), jsonOptions) });
}

function frameOf(flags: number, json: object): Buffer {
  const data = Buffer.from(JSON.stringify(json));
  const header = Buffer.alloc(headerBytes);
  header.writeUInt8(flags, 0);
  header.writeUInt32BE(data.byteLength, 1);
  return Buffer.concat([header, data]);
}
