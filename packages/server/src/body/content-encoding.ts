import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

/**
 * Options for decoding a compressed body. `bytesMax`: maximum decoded size in bytes. `charge`: counts the memory of this body against the
 * node's limit for bodies.
 */
export type DecodeOptions = { readonly bytesMax: number; readonly charge: BodyCharge };

/**
 * Creates a stream that decodes a body compressed in one way, for example with gzip. The stream outputs pieces of at most `pieceBytes`
 * bytes.
 */
export type ContentCodec = (pieceBytes: number) => Transform;

/** Maximum size of one piece of a decoded body, in bytes. */
const pieceBytesMax = 262_144;
/**
 * Number of bytes that are charged to the memory budget before the decoding of a body starts. If the budget has no room for them, the body
 * is not decoded at all.
 */
const firstBytes = 65_536;

const codecs: ReadonlyMap<string, ContentCodec> = new Map<string, ContentCodec>([
  ["gzip", (chunkSize) => createGunzip({ chunkSize })],
  ["br", (chunkSize) => createBrotliDecompress({ chunkSize })],
]);

/**
 * Compression of a request's body. In a plain call, the whole body is compressed. In a stream, only the message after the frame header is
 * compressed.
 */
export type Encoding = {
  readonly codec: ContentCodec;
  readonly header: "content-encoding" | "connect-content-encoding";
};

/** Returns the encoding that a request's headers declare; undefined if there is none or it is not supported. */
export function encodingOf({ headers }: Pick<IncomingMessage, "headers">): Encoding | undefined {
  const isStream = headers["content-type"]?.startsWith("application/connect+") === true;
  const header = isStream ? "connect-content-encoding" : "content-encoding";
  const codec = codecs.get(String(headers[header] ?? ""));
  return codec && { codec, header };
}

/** Number of bytes for the flags and the length of a stream's message (Connect protocol, enveloped messages). */
const frameHeadBytes = 5;
const compressedFlag = 1;

/**
 * Returns the decoded body of a request. With the header `content-encoding`, the whole body is decoded. Otherwise the body is one message
 * of a stream: five bytes (flags and length), then the message. Only the message is decoded. A body without this form is returned
 * unchanged; its reader refuses it.
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
 * Returns the decoded body. While it decodes, it counts the bytes against the memory budget for bodies piece by piece, because a few bytes
 * may decode to a thousand times as many. If the budget is full, decoding stops. After a failure, the counted bytes are released, and it
 * rejects with BodyError (`too_large`, `no_room` or `undecodable`).
 */
async function decode(codec: ContentCodec, sent: Uint8Array, { bytesMax, charge }: DecodeOptions): Promise<Buffer> {
  let decoder: Transform | undefined;
  // Bytes to reserve in the memory budget before the body is decompressed. The number is smaller if `bytesMax` is small. So callers with a
  // limit of 1 KiB per body hold at most 64 KiB in total.
  const charged = Math.min(firstBytes, bytesMax);
  try {
    // The memory of the decoder is charged to the request before the decoder is created, because a decoder alone needs more memory than
    // most bodies.
    if (!charge.take(charged)) throw new BodyError("no_room");
    // The memory of large pieces goes back to the system after use. The process keeps the memory of small pieces.
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
