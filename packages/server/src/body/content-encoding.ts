import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

/** The largest size of what is decoded, and who is charged for it. */
export type DecodeOptions = { readonly bytesMax: number; readonly charge: BodyCharge };

/** Begins to undo one encoding of a body, and hands over so many bytes at a time. */
export type ContentCodec = (pieceBytes: number) => Transform;

/**
 * The most decoded bytes that are handed over at a time. The allocator takes pages of their own for as much and gives them back, whereas
 * it kept 100 MB of smaller pieces after a flood; a page counts for nothing until something is written into it.
 */
const pieceBytesMax = 262_144;
/** What is charged before anything is decoded. */
const firstBytes = 65_536;

const codecs: ReadonlyMap<string, ContentCodec> = new Map<string, ContentCodec>([
  ["gzip", (chunkSize) => createGunzip({ chunkSize })],
  ["br", (chunkSize) => createBrotliDecompress({ chunkSize })],
]);

/** How a body is compressed: as a whole, or as the one message of a stream, in its frame. */
export type Encoding = {
  readonly codec: ContentCodec;
  readonly header: "content-encoding" | "connect-content-encoding";
};

/** The encoding that a request's headers name; undefined for none, and for those that calls do not take. */
export function encodingOf({ headers }: Pick<IncomingMessage, "headers">): Encoding | undefined {
  const isStream = headers["content-type"]?.startsWith("application/connect+") === true;
  const header = isStream ? "connect-content-encoding" : "content-encoding";
  const codec = codecs.get(String(headers[header] ?? ""));
  return codec && { codec, header };
}

/** Flags and length of a message in a stream (Connect protocol, enveloped messages). */
const frameHeadBytes = 5;
const compressedFlag = 1;

/**
 * A body as it was before it was compressed, like `decode`. The message of a stream keeps its frame; what is not one whole frame is
 * left as it is, for its reader to refuse.
 */
export async function decodeBody({ codec, header }: Encoding, sent: Buffer, options: DecodeOptions): Promise<Buffer> {
  if (header === "content-encoding") return decode(codec, sent, options);
  const isFrame = sent.byteLength >= frameHeadBytes && sent.readUInt32BE(1) === sent.byteLength - frameHeadBytes;
  const flags = sent[0] ?? 0;
  if (!isFrame || (flags & compressedFlag) === 0) return sent;
  const message = await decode(codec, sent.subarray(frameHeadBytes), options);
  const head = Buffer.alloc(frameHeadBytes, flags ^ compressedFlag);
  head.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([head, message]);
}

/**
 * A body as it was before it was compressed, charged piece by piece like one that arrives so: a few bytes may become a thousand times
 * as many, and where they have no room they are not made. Rejects with BodyError, with nothing charged any more: `too_large`,
 * `no_room`, or `undecodable`.
 */
async function decode(codec: ContentCodec, sent: Uint8Array, { bytesMax, charge }: DecodeOptions): Promise<Buffer> {
  let decoder: Transform | undefined;
  // One that is refused beyond 1 KiB is decoded by one who may hold no more than 64 KiB.
  const charged = Math.min(firstBytes, bytesMax);
  try {
    // Before anything is made for it: a decoder alone takes more than most of what is sent.
    if (!charge.take(charged)) throw new BodyError("no_room");
    decoder = codec(Math.min(pieceBytesMax, bytesMax));
    decoder.end(sent);
    return await collect(decoder, { bytesMax, charge, charged });
  } catch (error) {
    if (error instanceof BodyError && error.reason === "no_room") charge.refuse();
    else charge.release();
    throw error instanceof BodyError ? error : new BodyError("undecodable");
  } finally {
    decoder?.destroy();
  }
}

async function collect(decoder: Transform, options: DecodeOptions & { readonly charged: number }): Promise<Buffer> {
  const { bytesMax, charge } = options;
  const pieces: Buffer[] = [];
  let bytes = 0;
  let { charged } = options;
  for await (const piece of decoder as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) throw new BodyError("too_large");
    if (!charge.take(Math.max(0, bytes - charged))) throw new BodyError("no_room");
    charged = Math.max(charged, bytes);
    pieces.push(piece);
  }
  if (pieces.length === 1) return pieces[0] ?? Buffer.alloc(0);
  const whole = Buffer.concat(pieces);
  for (const { buffer } of pieces) if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
  return whole;
}
