import type { IncomingMessage } from "node:http";
import type { BodyCharge } from "./body-budget.ts";
import { bodyPaces } from "./body-pace.ts";

/** A body that did not arrive whole. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  /**
   * `too_large`: over the limit, `no_room`: over what the budget has left, or made to give way; what follows is read and thrown away.
   * `aborted`: the sender went away. `undecodable`: not of the encoding that it names.
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
 * Reads a body whole, at most `bytesMax` of it, and charges what arrives. Throws BodyError, with nothing charged any more; a declared
 * length over the limit is refused before anything is read. The bytes of a body that is returned stay charged: whoever holds it
 * releases the charge. The server's requestTimeout bounds how long a sender may take.
 */
export function readBody(req: IncomingMessage, bytesMax: number, charge: BodyCharge): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // A length that is declared is the length: the parser sees to that.
    const length = req.headers["content-length"];
    const endBytes = length === undefined ? bytesMax : Number(length);
    const body = new ArrivingBody(charge, Math.min(endBytes, bytesMax));
    const pieces = new Pieces();
    // The listeners stay until the request goes: to take four of them off costs as much as all else that is done here.
    let isDone = false;
    const fail = (reason: BodyError["reason"]) => {
      isDone = true;
      body.drop();
      if (reason === "no_room") charge.refuse();
      else charge.release();
      // Keeps reading without keeping anything: a sender that only reads after it has sent would else miss the answer.
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

/** Whether a request has a body, or may have one: without either header it has none (RFC 9112, 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (length !== undefined && length !== "0") || headers["transfer-encoding"] !== undefined;
}

/** Whether a request's body may take more than one turn to read. */
export function mayBeLarge({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return length === undefined ? headers["transfer-encoding"] !== undefined : Number(length) > paceBytes;
}

/** Throws a request's body away as it arrives, so that nothing of it waits for the answer. */
export function discardBody(req: IncomingMessage): void {
  if (discarded.has(req)) return;
  discarded.add(req);
  const pieces = new Pieces();
  req.on("error", ignore).on("data", (chunk: Buffer) => {
    const isSliceUsed = pieces.add(chunk);
    free(chunk);
    if (isSliceUsed) bodyPaces.discarded.yield(req);
  });
  // Says that it is read: Node would else read what is left of an answered request itself, and without a pause.
  req.read(0);
}

const discarded = new WeakSet<IncomingMessage>();

/** So much of a body is read in one turn, bytes. */
const paceBytes = 16_384;
/** What reading a piece costs, as so many bytes of it: sixty thousand chunks of one byte fit into one read of a connection. */
const pieceBytes = 64;
/** Nobody means to send more chunks than this with fewer bytes in each than that. */
const fineChunksMax = 512;
const fineBytes = 16;

/**
 * Counts the chunks of a request's body as they are parsed, and says when they are far too many for what they bring: each costs the
 * node more than a hundred bytes of a body do, before anybody has asked for it.
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
      // The rest of what was read costs its parsing, and no more.
      req.push = (rest: Buffer | null) => (rest === null ? push(rest) : true);
      return push(chunk);
    }
    if (chunks === fineChunksMax) chunks = bytes = 0;
    return push(chunk);
  };
}

/** The pieces of a body as they arrive. */
class Pieces {
  /** What was read since the last turn, bytes. */
  #read = 0;

  /** Whether the body has had its turn with this piece. */
  add({ byteLength }: Buffer): boolean {
    this.#read += byteLength + pieceBytes;
    if (this.#read < paceBytes) return false;
    this.#read = 0;
    return true;
  }
}

const empty = Buffer.alloc(0);
/** Pieces below this are copied together, bytes. */
const pageBytes = 4_096;
/** A body that has come so far goes on in slabs, bytes. */
const slabsFromBytes = 65_536;
/** Above what the allocator gives back to the system as it is freed; it takes no memory before it is written to. */
const slabBytes = 262_144;

/**
 * The bytes of a body so far. Small pieces are copied together as they come: each is an object of some hundred bytes, and a body in
 * pieces of one byte would cost hundreds of times what is charged for it. A large body is copied into slabs: its pieces, held while
 * other things are made between them, would leave the allocator with 70 MB of holes that are never given back.
 */
class ArrivingBody {
  bytes = 0;
  readonly #charge: BodyCharge;
  /** Most that it can come to. */
  readonly #bytesMax: number;
  readonly #pieces: Buffer[] = [];
  /** Bytes that are free at the end of the last piece. */
  #free = 0;
  /** Whether the last piece is a slab, which is charged as it fills. */
  #isSlab = false;

  constructor(charge: BodyCharge, bytesMax: number) {
    this.#charge = charge;
    this.#bytesMax = bytesMax;
  }

  /** Takes a piece over, and frees it where it is copied. False, and of no more use, when the budget has no room for it. */
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
      // Whoever takes it lets go of it before the request does.
      this.#pieces.length = 0;
      return first;
    }
    // What is free of the last piece is beyond the length, and is not copied.
    const whole = Buffer.concat(this.#pieces, this.bytes);
    this.drop();
    return whole;
  }

  /** Frees what is held. */
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

  /** What is free of the last page stays free: that much is charged, and at most twice what arrived. */
  #closePage(): void {
    const page = this.#pieces.pop();
    if (page !== undefined) this.#pieces.push(page.subarray(0, page.byteLength - this.#free));
    this.#free = 0;
  }
}

/**
 * Frees a piece that nobody else holds: at once, since the collector is in no hurry over what is outside of its heap. Pieces of a TLS
 * connection are parts of something larger, and are left to it.
 */
export function free({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength >= pageBytes) buffer.transfer(0);
}

function ignore(): void {}
