import type { IncomingMessage } from "node:http";
import type { BodyBudget } from "./body-budget.ts";

/** A body that did not arrive whole. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  /**
   * `too_large`: over the limit, `no_room`: over what the budget has left; what follows is read and thrown away. `aborted`:
   * the sender went away.
   */
  readonly reason: "too_large" | "no_room" | "aborted";

  constructor(reason: BodyError["reason"]) {
    super(messages[reason]);
    this.reason = reason;
  }
}

const messages = {
  too_large: "the body is too large",
  no_room: "too many bytes of bodies are under way",
  aborted: "the body ended early",
} as const;

/**
 * Reads a body whole, at most `bytesMax` of it. Throws BodyError; a declared length over the limit, or over what `budget`
 * has left, is refused before anything is read. The bytes of a body that is returned stay taken from the budget: whoever
 * holds it gives them back. The server's requestTimeout bounds how long a sender may take.
 */
export function readBody(req: IncomingMessage, bytesMax: number, budget: BodyBudget = unlimited): Promise<Buffer> {
  const length = req.headers["content-length"];
  return new Promise((resolve, reject) => {
    const refuse = (reason: BodyError["reason"]) => {
      // Keeps reading without keeping anything: a sender that only reads after it has sent would else miss the answer.
      req.on("error", ignore).resume();
      reject(new BodyError(reason));
    };
    // A length that is declared is the length: the parser sees to that.
    const declared = length === undefined ? 0 : Number(length);
    if (declared > bytesMax) return refuse("too_large");
    if (!budget.take(declared)) return refuse("no_room");
    const chunks: Buffer[] = [];
    let taken = declared;
    let bytes = 0;
    const finish = () => {
      req.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.byteLength;
      const more = bytes - taken;
      const isTooLarge = bytes > bytesMax;
      if (!isTooLarge && (more <= 0 || budget.take(more))) {
        taken = Math.max(taken, bytes);
        chunks.push(chunk);
        return;
      }
      finish();
      budget.give(taken);
      refuse(isTooLarge ? "too_large" : "no_room");
    };
    const onEnd = () => {
      finish();
      const [first] = chunks;
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes));
    };
    const onClose = () => {
      finish();
      budget.give(taken);
      req.on("error", ignore);
      reject(new BodyError("aborted"));
    };
    req.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

const unlimited: BodyBudget = { take: () => true, give: () => {} };

function ignore(): void {}
