import type { IncomingMessage } from "node:http";

/** A body that did not arrive whole. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  /** `too_large`: over the limit; what follows is read and thrown away. `aborted`: the sender went away. */
  readonly reason: "too_large" | "aborted";

  constructor(reason: BodyError["reason"]) {
    super(reason === "too_large" ? "the body is too large" : "the body ended early");
    this.reason = reason;
  }
}

/**
 * Reads a body whole, at most `bytesMax` of it. Throws BodyError; a declared length over the limit is refused before
 * anything is read. The server's requestTimeout bounds how long a sender may take.
 */
export function readBody(req: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const declared = req.headers["content-length"];
  return new Promise((resolve, reject) => {
    if (declared !== undefined && Number(declared) > bytesMax) {
      // Keeps reading without keeping anything: a sender that only reads after it has sent would else miss the answer.
      req.resume();
      reject(new BodyError("too_large"));
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = () => {
      req.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      finish();
      req.on("error", ignore).resume();
      reject(new BodyError("too_large"));
    };
    const onEnd = () => {
      finish();
      const [first] = chunks;
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes));
    };
    const onClose = () => {
      finish();
      req.on("error", ignore);
      reject(new BodyError("aborted"));
    };
    req.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

function ignore(): void {}
