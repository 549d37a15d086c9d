import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

/** Result of decoding a body by its Content-Encoding. */
export type DecodedBody =
  /** The decoded bytes. The caller calls `done` once it no longer uses them. */
  | { readonly outcome: "decoded"; readonly body: Buffer; done(this: void): void }
  /** An unsupported encoding, or too many of them. */
  | { readonly outcome: "unsupported"; readonly encoding: string }
  /** More bytes than allowed. */
  | { readonly outcome: "too_large" }
  /** Does not match its Content-Encoding. */
  | { readonly outcome: "broken" }
  /** Too many decoded bodies are in use. */
  | { readonly outcome: "no_room" };

/** Decodes bodies with limits per body, and for all bodies in use. */
export type BodyDecoder = {
  /** `contentEncoding` is the header (RFC 9110, 8.4); undefined if it is absent. Never rejects. */
  decode(this: void, body: Buffer, contentEncoding: string | undefined): Promise<DecodedBody>;
};

type Coding = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gzip: Coding = promisify(gunzip);
const zlib: Coding = promisify(inflate);
const raw: Coding = promisify(inflateRaw);

/** Codings of RFC 9110, 8.4.1, and Brotli (RFC 7932); some senders omit the zlib wrapper of `deflate`. */
const codings: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", (body, options) => (isZlib(body) ? zlib : raw)(body, options)],
  ["br", promisify(brotliDecompress)],
]);

/** Supported codings, as in the header Accept-Encoding. */
export const acceptedEncodings = "gzip, deflate, br";

/** Several codings on one body are rare; each is limited separately. */
const codingsMax = 3;

const roomBytesMin = 32 * 1024 * 1024;
const largestBodies = 4;
const waitingMax = 1_000;

/** Maximum waiting bodies, and memory for decoded bodies in bytes; smaller in tests. */
type DecodeLimits = { readonly bytes: number; readonly waitingMax: number };

/**
 * Creates a decoder for bodies of at most `bytesMax` bytes. All decoded bodies in use share 32 MiB, or four of the largest size if that is
 * more; up to 1,000 wait for memory in order.
 */
export function createBodyDecoder(
  bytesMax: number,
  room: DecodeLimits = { bytes: Math.max(roomBytesMin, largestBodies * bytesMax), waitingMax },
): BodyDecoder {
  let left = room.bytes;
  const waiting: (() => void)[] = [];
  const give = (bytes: number) => {
    left += bytes;
    while (left >= bytesMax && waiting.length > 0) {
      left -= bytesMax;
      waiting.shift()?.();
    }
  };
  /** Reserves memory for the largest body, because the size is known only afterwards. False if too many wait. */
  const take = async (): Promise<boolean> => {
    if (left < bytesMax || waiting.length > 0) {
      if (waiting.length >= room.waitingMax) return false;
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else left -= bytesMax;
    return true;
  };
  return {
    async decode(body, contentEncoding) {
      const names = codingsOf(contentEncoding);
      if (names.length === 0 || body.byteLength === 0) return { outcome: "decoded", body, done: () => {} };
      const unknown = names.find((name) => !codings.has(name));
      if (unknown !== undefined || names.length > codingsMax)
        return { outcome: "unsupported", encoding: unknown ?? names.join(", ") };
      if (!(await take())) return { outcome: "no_room" };
      const decoded = await decodeAll(body, names, bytesMax);
      if (decoded.outcome !== "decoded") {
        give(bytesMax);
        return decoded;
      }
      const bytes = decoded.body.byteLength;
      give(bytesMax - bytes);
      return { ...decoded, done: () => give(bytes) };
    },
  };
}

/** Returns the codings in the order of their application, without `identity`. */
function codingsOf(header: string | undefined): string[] {
  if (header === undefined) return [];
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "" && name !== "identity");
}

async function decodeAll(
  given: Buffer,
  names: readonly string[],
  bytesMax: number,
): Promise<{ outcome: "decoded"; body: Buffer } | { outcome: "too_large" | "broken" }> {
  let body = given;
  try {
    for (const name of names.toReversed()) {
      body = (await codings.get(name)?.(body, { maxOutputLength: bytesMax })) ?? body;
    }
    return { outcome: "decoded", body };
  } catch (error) {
    // zlib fails only because of its input.
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return { outcome: isTooLarge ? "too_large" : "broken" };
  }
}

/** True if a body begins as in RFC 1950, 2.2: deflate with a window of at most 32 KiB, and a checksum that is a multiple of 31. */
function isZlib(body: Buffer): boolean {
  const [method = 0, flags = 0] = body;
  return (method & 0x0f) === 8 && method >> 4 <= 7 && (method * 256 + flags) % 31 === 0;
}
