import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

/** Result of decoding a body by its Content-Encoding. */
export type DecodedBody =
  /** The decoded bytes. The caller must call `done` when the bytes are no longer used. */
  | { readonly outcome: "decoded"; readonly body: Buffer; done(this: void): void }
  /** The body has an encoding that svc does not support, or more encodings than svc allows. */
  | { readonly outcome: "unsupported"; readonly encoding: string }
  /** The decoded body has more bytes than allowed. */
  | { readonly outcome: "too_large" }
  /** The body does not match its Content-Encoding. */
  | { readonly outcome: "broken" }
  /** There is not enough memory to decode the body, because too many decoded bodies are in use. */
  | { readonly outcome: "no_room" };

/** Decodes HTTP bodies, with a size limit per body and a memory limit for all bodies in use. */
export type BodyDecoder = {
  /**
   * Returns a body decoded by its Content-Encoding. `contentEncoding`: value of the header (RFC 9110, 8.4), undefined if it is absent.
   * Never rejects.
   */
  decode(this: void, body: Buffer, contentEncoding: string | undefined): Promise<DecodedBody>;
};

type Coding = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gzip: Coding = promisify(gunzip);
const zlib: Coding = promisify(inflate);
const raw: Coding = promisify(inflateRaw);

/**
 * The encodings of RFC 9110, 8.4.1, and Brotli (RFC 7932). For `deflate`, the zlib wrapper may be missing, because some senders omit it.
 */
const codings: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", (body, options) => (isZlib(body) ? zlib : raw)(body, options)],
  ["br", promisify(brotliDecompress)],
]);

/** Supported encodings, as a value of the header Accept-Encoding. */
export const acceptedEncodings = "gzip, deflate, br";

/** Maximum number of encodings on one body. Several encodings are rare; the size limit applies to the result of each. */
const codingsMax = 3;

const roomBytesMin = 32 * 1024 * 1024;
const largestBodies = 4;
const waitingMax = 1_000;

/**
 * Limits of a decoder; tests use smaller ones. `waitingMax`: maximum number of bodies that wait for memory. `bytes`: memory for all decoded
 * bodies in use, in bytes.
 */
type DecodeLimits = { readonly bytes: number; readonly waitingMax: number };

/**
 * Creates a decoder for bodies of at most `bytesMax` bytes. All decoded bodies in use share 32 MiB, or four times `bytesMax` if that is
 * more. Up to 1,000 bodies wait for memory, in order of arrival.
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
  /**
   * Reserves memory for one decoded body and returns true. It reserves the maximum size, because the real size is not known before
   * decoding. Returns false if too many bodies are already waiting.
   */
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

/** Returns the encodings of a Content-Encoding header, in the order in which the sender applied them, without `identity`. */
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
    // zlib reports this code if the decoded body is too large. Any other zlib error means that the body is invalid.
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return { outcome: isTooLarge ? "too_large" : "broken" };
  }
}

/**
 * True if a body begins with a zlib header (RFC 1950, 2.2): the method is deflate with a window of at most 32 KiB, and the first two bytes
 * are a multiple of 31.
 */
function isZlib(body: Buffer): boolean {
  const [method = 0, flags = 0] = body;
  return (method & 0x0f) === 8 && method >> 4 <= 7 && (method * 256 + flags) % 31 === 0;
}
