import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Connections that an attacker holds open. */
export type Held = AsyncDisposable & {
  /** Those that the server has not ended. */
  open(): number;
  /** What each was sent, as far as it was sent anything. */
  answers(): string[];
};

/** What is opened, and what is sent over each. */
export type HoldOptions = {
  readonly count: number;
  readonly bytes?: (index: number) => string;
  /** Where they come from, of the addresses of this machine. */
  readonly localAddress?: string;
};

// So many are opened at once: more than the system's queue of connections would be answered late.
const atOnce = 256;

/**
 * Opens connections and sends over each what `bytes` gives for it, as little as nothing. They are never closed by this side, also when the server ends its
 * half.
 */
export async function hold(
  { port }: { port: number },
  { count, bytes = () => "", localAddress }: HoldOptions,
): Promise<Held> {
  const sockets: Socket[] = [];
  const answers: string[] = [];
  const from = localAddress === undefined ? {} : { localAddress };
  const openOne = async () => {
    const text = bytes(sockets.length);
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, ...from });
    sockets.push(socket);
    socket.on("error", () => {}).on("data", (data) => answers.push(String(data)));
    await Promise.race([once(socket, "connect"), once(socket, "close")]);
    if (text !== "" && socket.writable) socket.write(text);
  };
  while (sockets.length < count) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - sockets.length) }, openOne));
  }
  return {
    open: () => sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length,
    answers: () => answers,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
