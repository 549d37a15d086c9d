import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

/** Begins to undo one encoding of a body. */
export type Codec = () => Transform;

/** Decoded bytes that are charged, and handed over, at a time. */
const pieceBytes = 65_536;

const codecs: ReadonlyMap<string, Codec> = new Map<string, Codec>([
  ["gzip", () => createGunzip({ chunkSize: pieceBytes })],
  ["br", () => createBrotliDecompress({ chunkSize: pieceBytes })],
]);

/** The codec that a request's header names; undefined for none, and for those that calls do not take. */
export function codecOf({ headers }: Pick<IncomingMessage, "headers">): Codec | undefined {
  return codecs.get(headers["content-encoding"] ?? "");
}

/**
 * A body as it was before it was compressed, charged piece by piece like one that arrives so: a few bytes may become a thousand times
 * as many, and where they have no room they are not made. Rejects with BodyError, with nothing charged any more: `too_large`,
 * `no_room`, or `undecodable`.
 */
export async function decode(
  codec: Codec,
  sent: Uint8Array,
  { bytesMax, charge }: { readonly bytesMax: number; readonly charge: BodyCharge },
): Promise<Buffer> {
  const decoder = codec();
  try {
    decoder.end(sent);
    return await collect(decoder, { bytesMax, charge });
  } catch (error) {
    if (error instanceof BodyError && error.reason === "no_room") charge.refuse();
    else charge.release();
    throw error instanceof BodyError ? error : new BodyError("undecodable");
  } finally {
    decoder.destroy();
  }
}

async function collect(
  decoder: Transform,
  { bytesMax, charge }: { readonly bytesMax: number; readonly charge: BodyCharge },
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of decoder as AsyncIterable<Buffer>) {
    bytes += piece.byteLength;
    if (bytes > bytesMax) throw new BodyError("too_large");
    if (!charge.take(piece.byteLength)) throw new BodyError("no_room");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
