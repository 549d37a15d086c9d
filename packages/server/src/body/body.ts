import type { IncomingMessage } from "node:http";
import type { BodyCharge } from "./body-budget.ts";
import { bodyPaces } from "./body-pace.ts";

/** A body that did not arrive completely. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  /**
   * `too_large`: above the limit. `no_room`: above the budget, or given up for another body; the rest is read and discarded. `aborted`: the
   * sender disconnected. `undecodable`: not in the declared encoding.
   */
  readonly reason: "too_large" | "no_room" | "aborted" | "undecodable";

  constructor(reason: BodyError["reason"]) {
    super(messages[reason]);
    this.reason = reason;
  }
}

const messages = {
  too_large: "the body is too large",
  no_room: "too many bytes of bodies are under way",
  aborted: "the body ended early",
  undecodable: "the body is not of the encoding that it names",
} as const;

/**
 * Reads a whole body of at most `bytesMax` bytes and charges it. Throws BodyError and releases the charge. A declared length above the
 * limit is refused before reading. The bytes of a returned body stay charged until its holder releases them. The server's requestTimeout
 * limits the time to send.
 */
export function readBody(req: IncomingMessage, bytesMax: number, charge: BodyCharge): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The parser enforces a declared length.
    const length = req.headers["content-length"];
    const endBytes = length === undefined ? bytesMax : Number(length);
    const body = new ArrivingBody(charge, Math.min(endBytes, bytesMax));
    const pieces = new Pieces();
    // The listeners stay until the request ends, because removing four of them costs as much as everything else here.
    let isDone = false;
    const fail = (reason: BodyError["reason"]) => {
      isDone = true;
      body.drop();
      if (reason === "no_room") charge.refuse();
      else charge.release();
      // Continues to read without keeping anything. Otherwise a client that reads only after sending would miss the answer.
      discardBody(req);
      reject(new BodyError(reason));
    };
    const onData = (chunk: Buffer) => {
      if (isDone) return;
      const isFirst = body.bytes === 0;
      const isSliceUsed = pieces.add(chunk);
      if (body.bytes + chunk.byteLength > bytesMax) fail("too_large");
      else if (!body.append(chunk)) fail("no_room");
      else if (length === undefined || body.bytes < endBytes) {
        if (isFirst) charge.arrive(() => fail("no_room"));
        if (isSliceUsed) bodyPaces.kept.yield(req);
      }
    };
    const onEnd = () => {
      if (isDone) return;
      isDone = true;
      charge.complete();
      resolve(body.whole());
    };
    const onClose = () => {
      if (!isDone) fail("aborted");
    };
    if (endBytes > bytesMax) return fail("too_large");
    if (req.destroyed) return fail("aborted");
    req.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

/** True if a request has or may have a body. Without either header it has none (RFC 9112, 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

/** True if a request's body may take several turns to read. */
export function mayBeLarge({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return length === undefined ? headers["transfer-encoding"] !== undefined : Number(length) > paceBytes;
}

/** Discards a request's body as it arrives, so that none of it delays the answer. */
export function discardBody(req: IncomingMessage): void {
  if (discarded.has(req)) return;
  discarded.add(req);
  const pieces = new Pieces();
  req.on("error", ignore).on("data", (chunk: Buffer) => {
    const isSliceUsed = pieces.add(chunk);
    free(chunk);
    if (isSliceUsed) bodyPaces.discarded.yield(req);
  });
  // Marks the body as read. Otherwise Node would read the rest of an answered request itself, without pauses.
  req.read(0);
}

const discarded = new WeakSet<IncomingMessage>();

/** Bytes of a body read per turn. */
const paceBytes = 16_384;
/** Cost of reading a piece, in bytes: sixty thousand one-byte chunks fit into one read of a connection. */
const pieceBytes = 64;
/** Maximum chunks with an average size below that. No honest client sends more. */
const fineChunksMax = 512;
const fineBytes = 16;

/**
 * Counts the chunks of a request's body during parsing, and calls `onTooFine` if there are far too many for their bytes. Each costs the
 * node more than a hundred bytes of a body, even before the body is requested.
 */
export function watchChunks(req: IncomingMessage, onTooFine: () => void): void {
  let chunks = 0;
  let bytes = 0;
  const push = req.push.bind(req);
  req.push = (chunk: Buffer | null) => {
    chunks += 1;
    bytes += chunk?.byteLength ?? 0;
    if (chunks === fineChunksMax && bytes < fineChunksMax * fineBytes) {
      onTooFine();
      // The rest of the data already read costs only its parsing.
      req.push = (rest: Buffer | null) => (rest === null ? push(rest) : true);
      return push(chunk);
    }
    if (chunks === fineChunksMax) chunks = bytes = 0;
    return push(chunk);
  };
}

/** The pieces of a body as they arrive. */
class Pieces {
  /** Bytes read since the last turn. */
  #read = 0;

  /** Returns true if this piece ends the body's turn. */
  add({ byteLength }: Buffer): boolean {
    this.#read += byteLength + pieceBytes;
    if (this.#read < paceBytes) return false;
    this.#read = 0;
    return true;
  }
}

const empty = Buffer.alloc(0);
/** Pieces below this size are copied together, bytes. */
const pageBytes = 4_096;
/** Bytes after which a body is stored in slabs. */
const slabsFromBytes = 65_536;
/** Large enough that the allocator returns it to the system when it is freed. It uses no memory before it is written. */
const slabBytes = 262_144;

/**
 * The bytes of a body so far. Small pieces are copied together, because each is an object of some hundred bytes and one-byte pieces would
 * cost hundreds of times their charge. A large body is copied into slabs, because its pieces would leave 70 MB of unusable holes in the
 * allocator.
 */
class ArrivingBody {
  bytes = 0;
  readonly #charge: BodyCharge;
  /** Maximum size of the body. */
  readonly #bytesMax: number;
  readonly #pieces: Buffer[] = [];
  /** Free bytes at the end of the last piece. */
  #free = 0;
  /** True if the last piece is a slab, which is charged as it fills. */
  #isSlab = false;

  constructor(charge: BodyCharge, bytesMax: number) {
    this.#charge = charge;
    this.#bytesMax = bytesMax;
  }

  /** Adds a piece, and frees it if it was copied. Returns false if the budget has no room; the body is then unusable. */
  append(piece: Buffer): boolean {
    const isKept = this.bytes === 0 || (piece.byteLength >= pageBytes && this.bytes < slabsFromBytes);
    if (isKept) return this.#keep(piece);
    if (!this.#copy(piece)) return false;
    free(piece);
    return true;
  }

  whole(): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1) {
      // The reader of the result releases it before the request ends.
      this.#pieces.length = 0;
      return first;
    }
    // The free bytes of the last piece are beyond the length and are not copied.
    const whole = Buffer.concat(this.#pieces, this.bytes);
    this.drop();
    return whole;
  }

  /** Frees the held pieces. */
  drop(): void {
    for (const piece of this.#pieces.splice(0)) free(piece);
  }

  #keep(piece: Buffer): boolean {
    if (!this.#charge.take(piece.byteLength)) return false;
    this.#closePage();
    this.#pieces.push(piece);
    this.bytes += piece.byteLength;
    return true;
  }

  #copy(piece: Buffer): boolean {
    for (let copied = 0; copied < piece.byteLength; ) {
      if (this.#free === 0 && !this.#openPage()) return false;
      const bytes = Math.min(this.#free, piece.byteLength - copied);
      if (this.#isSlab && !this.#charge.take(bytes)) return false;
      const page = this.#pieces.at(-1) ?? empty;
      piece.copy(page, page.byteLength - this.#free, copied, copied + bytes);
      this.#free -= bytes;
      this.bytes += bytes;
      copied += bytes;
    }
    return true;
  }

  #openPage(): boolean {
    const isSlab = this.bytes >= slabsFromBytes;
    const bytes = Math.min(isSlab ? slabBytes : pageBytes, this.#bytesMax - this.bytes);
    if (!(isSlab || this.#charge.take(bytes))) return false;
    this.#pieces.push(Buffer.allocUnsafeSlow(bytes));
    this.#isSlab = isSlab;
    this.#free = bytes;
    return true;
  }

  /** The rest of the last page stays unused. It is charged: at most twice the arrived bytes. */
  #closePage(): void {
    const page = this.#pieces.pop();
    if (page !== undefined) this.#pieces.push(page.subarray(0, page.byteLength - this.#free));
    this.#free = 0;
  }
}

/**
 * Frees a piece without other users at once, because the garbage collector does not hurry for memory outside its heap. Pieces of a TLS
 * connection are parts of a larger buffer and are left to it.
 */
export function free({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength >= pageBytes) buffer.transfer(0);
}

function ignore(): void {}
