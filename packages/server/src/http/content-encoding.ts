import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

/** What undoes one encoding of a body. */
export type Codec = (sent: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const codecs: ReadonlyMap<string, Codec> = new Map([
  ["gzip", promisify(gunzip)],
  ["br", promisify(brotliDecompress)],
]);

/** The codec that a request's header names; undefined for none, and for those that calls do not take. */
export function codecOf({ headers }: Pick<IncomingMessage, "headers">): Codec | undefined {
  return codecs.get(headers["content-encoding"] ?? "");
}

/**
 * A body as it was before it was compressed, charged like one that was sent so. Throws BodyError, with nothing charged any more:
 * `too_large`, `no_room`, or `undecodable`.
 */
export async function decode(
  codec: Codec,
  sent: Uint8Array,
  { bytesMax, charge }: { readonly bytesMax: number; readonly charge: BodyCharge },
): Promise<Buffer> {
  let body: Buffer;
  try {
    body = await codec(sent, { maxOutputLength: bytesMax });
  } catch (error) {
    charge.release();
    throw new BodyError(isTooLong(error) ? "too_large" : "undecodable");
  }
  if (charge.take(body.byteLength)) return body;
  charge.refuse();
  throw new BodyError("no_room");
}

function isTooLong(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}
