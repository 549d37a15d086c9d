import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import { createSlices } from "@svc/core";
import type { BodyCharge } from "./body-budget.ts";
import { bodyPaces } from "./body-pace.ts";

/** Error for a body that did not arrive completely. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  /**
   * Reason why the body of a request was not read. `too_large`: larger than the limit. `no_room`: the memory for request bodies is full, or
   * this body was discarded to make room for another body; the rest of the body is read and discarded. `aborted`: the sender disconnected.
   * `undecodable`: not in the declared encoding.
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
  undecodable: "the body does not have the encoding that its header names",
} as const;

/**
 * Returns the whole body of a request, at most `bytesMax` bytes, and charges it to `charge`. If reading fails, releases the charge and
 * throws BodyError. If the header `content-length` is above `bytesMax`, refuses the body without reading it. The bytes of a returned body
 * stay charged until the caller releases them. This function has no timeout: the server's `requestTimeout` ends a request that is sent too
 * slowly.
 */
export function readBody(req: IncomingMessage, bytesMax: number, charge: BodyCharge): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Node's HTTP parser ensures that the body has exactly this length.
    const length = req.headers["content-length"];
    const endBytes = length === undefined ? bytesMax : Number(length);
    const body = new ArrivingBody(charge, Math.min(endBytes, bytesMax));
    const pieces = new Pieces();
    // The listeners stay until the request ends, because removing four listeners costs as much as the rest of this function.
    let isDone = false;
    const fail = (reason: BodyError["reason"]) => {
      isDone = true;
      body.drop();
      if (reason === "no_room") charge.refuse();
      else charge.release();
      // Reads and drops the rest of the body. Otherwise, a client that reads the answer only after it has sent the whole body would never
      // get the answer.
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

/**
 * True if a request has a body, or may have one. False if it has neither `content-length` nor `transfer-encoding`, or if its length is 0
 * (RFC 9112, 6.3).
 */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

/**
 * True if a request may have a body larger than 16 KiB, or of unknown size. Node may read such a body in several turns of the event loop,
 * with other work in between. False if a body is absent or small.
 */
export function mayBeLarge({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return length === undefined ? headers["transfer-encoding"] !== undefined : Number(length) > paceBytes;
}

/** Reads and discards the body of a request as it arrives, so that the body does not delay the answer. */
export function discardBody(req: IncomingMessage): void {
  if (discarded.has(req)) return;
  discarded.add(req);
  const pieces = new Pieces();
  req.on("error", ignore).on("data", (chunk: Buffer) => {
    const isSliceUsed = pieces.add(chunk);
    free(chunk);
    if (isSliceUsed) bodyPaces.discarded.yield(req);
  });
  // Tells Node that the body is being read. Otherwise Node would read the rest of the body itself, without pauses, after the answer.
  req.read(0);
}

const discarded = new WeakSet<IncomingMessage>();

/** Number of body bytes after which the reading of a connection pauses, so that other connections are read before it continues. */
const paceBytes = 16_384;
/**
 * Number of bytes that each piece of a body counts in addition to its length, because each piece costs work. One read of a connection may
 * contain up to sixty thousand pieces of one byte.
 */
const pieceBytes = 64;
/**
 * Number of chunks of a request body after which svc checks their average size. An average below `fineBytes` bytes is too small, because
 * normal clients do not send so many such small chunks.
 */
const fineChunksMax = 512;
const fineBytes = 16;

/**
 * Counts the chunks of a request's body while Node parses them. Calls `onTooFine` if the chunks are much too small. Even before a handler
 * reads the body, one chunk costs the node more work than a hundred bytes of a body.
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
      // The rest of the data is dropped before it reaches a handler. So the data that was already read from the connection costs only its
      // parsing.
      req.push = (rest: Buffer | null) => (rest === null ? push(rest) : true);
      return push(chunk);
    }
    if (chunks === fineChunksMax) chunks = bytes = 0;
    return push(chunk);
  };
}

/** Counts how much of a request body has arrived, so that reading pauses now and then for other connections. */
class Pieces {
  /** Bytes of the body that were read after the connection last had to pause. */
  #read = 0;

  /** Counts a piece of the body. Returns true if reading must now pause for other connections, false if it may continue. */
  add({ byteLength }: Buffer): boolean {
    this.#read += byteLength + pieceBytes;
    if (this.#read < paceBytes) return false;
    this.#read = 0;
    return true;
  }
}

const empty = Buffer.alloc(0);
/** Maximum size in bytes of a body whose pieces are joined at once. Joining a megabyte takes some 2 ms. */
const joinedAtOnceMax = 1_048_576;
/**
 * Size in bytes below which a piece of an arriving body is copied into one block with other small pieces. One block uses less memory than
 * many small objects.
 */
const pageBytes = 4_096;
/**
 * Size in bytes from which a body is stored in slabs. A slab is a large block of memory that the allocator returns to the system after use.
 */
const slabsFromBytes = 65_536;
/**
 * Size of a slab (block of memory for a large body), in bytes. It is so large that the allocator returns it to the system after use. A slab
 * uses no memory until it is written.
 */
const slabBytes = 262_144;

/**
 * The bytes of a body that have arrived. Small pieces are copied together, because each piece is an object of some hundred bytes. Pieces of
 * one byte would need hundreds of times the memory that svc counts for them. A large body is copied into slabs (large blocks), because its
 * pieces would leave 70 MB of unusable gaps in the allocator.
 */
class ArrivingBody {
  bytes = 0;
  readonly #charge: BodyCharge;
  /** Maximum size of the body, in bytes. */
  readonly #bytesMax: number;
  readonly #pieces: Buffer[] = [];
  /** Number of free bytes at the end of the memory block that was added last. The next bytes of the body are copied there. */
  #free = 0;
  /** True if the last stored block is counted in the memory budget while it is filled. False if it was counted as a whole before. */
  #isSlab = false;

  constructor(charge: BodyCharge, bytesMax: number) {
    this.#charge = charge;
    this.#bytesMax = bytesMax;
  }

  /**
   * Adds a piece of the body, either by keeping the piece itself or by copying its bytes into a block. A copied piece is freed. Returns
   * false if the memory budget for bodies is full; the body is then unusable.
   */
  append(piece: Buffer): boolean {
    const isKept = this.bytes === 0 || (piece.byteLength >= pageBytes && this.bytes < slabsFromBytes);
    if (isKept) return this.#keep(piece);
    if (!this.#copy(piece)) return false;
    free(piece);
    return true;
  }

  /** Returns the bytes of the complete body. Those of a large body are joined in slices of 4 ms. The pieces are freed. */
  whole(): Buffer | Promise<Buffer> {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1) {
      // The returned body no longer belongs to this object. The caller that reads the body frees it before the request ends.
      this.#pieces.length = 0;
      return first;
    }
    // `this.bytes` is the number of body bytes that have arrived. The last piece may be larger than needed. Its unused end lies after
    // `this.bytes`, so it is not copied.
    if (this.bytes > joinedAtOnceMax) return this.#join();
    const whole = Buffer.concat(this.#pieces, this.bytes);
    this.drop();
    return whole;
  }

  async #join(): Promise<Buffer> {
    const { rest } = createSlices(() => setImmediate());
    const whole = Buffer.allocUnsafeSlow(this.bytes);
    let at = 0;
    for (const piece of this.#pieces.splice(0)) {
      at += piece.copy(whole, at);
      free(piece);
      await rest();
    }
    return whole;
  }

  /** Frees all memory blocks that contain bytes of a request body that is still arriving. */
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

  /**
   * Ends the last page (block of memory into which small pieces are copied). Its unused bytes still count as used memory. So a body counts
   * at most twice the bytes that arrived.
   */
  #closePage(): void {
    const page = this.#pieces.pop();
    if (page !== undefined) this.#pieces.push(page.subarray(0, page.byteLength - this.#free));
    this.#free = 0;
  }
}

/**
 * Frees the memory of one piece of a request body at once, if nothing else uses this memory. The garbage collector is slow to free memory
 * outside its heap. Pieces from a TLS connection share a larger buffer, so only the garbage collector frees them.
 */
export function free({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength >= pageBytes) buffer.transfer(0);
}

function ignore(): void {}
