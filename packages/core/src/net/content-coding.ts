import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

/** What became of a body under its Content-Encoding. */
export type DecodedBody =
  /** The bytes that were meant. Whoever has them calls `done` once nothing holds them any more. */
  | { readonly outcome: "decoded"; readonly body: Buffer; done(this: void): void }
  /** Encoded in a way that is not read, or in too many. */
  | { readonly outcome: "unsupported"; readonly encoding: string }
  /** More than may be read. */
  | { readonly outcome: "too_large" }
  /** Not what its Content-Encoding says. */
  | { readonly outcome: "broken" }
  /** Too many decoded bodies are under way. */
  | { readonly outcome: "no_room" };

/** Decodes bodies under bounds: of each, and of all that are under way. */
export type BodyDecoder = {
  /** `contentEncoding` is the header (RFC 9110, 8.4), undefined where there is none. Never rejects. */
  decode(this: void, body: Buffer, contentEncoding: string | undefined): Promise<DecodedBody>;
};

type Coding = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gzip: Coding = promisify(gunzip);
const zlib: Coding = promisify(inflate);
const raw: Coding = promisify(inflateRaw);

/** The codings of RFC 9110, 8.4.1, and Brotli (RFC 7932); some senders leave the zlib wrapper of `deflate` out. */
const codings: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ["gzip", gzip],
  ["x-gzip", gzip],
  ["deflate", (body, options) => (isZlib(body) ? zlib : raw)(body, options)],
  ["br", promisify(brotliDecompress)],
]);

/** The codings that are read, as the header Accept-Encoding names them. */
export const acceptedEncodings = "gzip, deflate, br";

/** One on top of another is rare; each is bounded by itself. */
const codingsMax = 3;

const roomBytesMin = 32 * 1024 * 1024;
const largestBodies = 4;
const waitingMax = 1_000;

/** How many bodies may wait for room, and the room itself, in bytes; smaller in tests. */
type DecodeLimits = { readonly bytes: number; readonly waitingMax: number };

/**
 * Makes a decoder for bodies of at most `bytesMax` bytes. All decoded bodies under way share 32 MiB, or four of the largest where that is
 * more; up to 1,000 wait for room, as they came.
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
  /** Takes room for the largest body: how large one becomes is known afterwards only. False when too many wait for it. */
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

/** In the order they were applied; `identity` is none. */
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
    // zlib fails on what it is given alone.
    const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return { outcome: isTooLarge ? "too_large" : "broken" };
  }
}

/** Whether a body begins as RFC 1950, 2.2 has it: deflate with a window of 32 KiB at most, and a sum that is a multiple of 31. */
function isZlib(body: Buffer): boolean {
  const [method = 0, flags = 0] = body;
  return (method & 0x0f) === 8 && method >> 4 <= 7 && (method * 256 + flags) % 31 === 0;
}
