import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Connections that an attacker keeps open. */
export type Held = AsyncDisposable & {
  /** Returns the number of connections that the server has not ended. */
  open(): number;
  /** Returns the answers that the connections have received, as far as there are any. */
  answers(): string[];
};

/** Options of `hold`: the number of connections, and the data that is sent over each. */
export type HoldOptions = {
  readonly count: number;
  readonly bytes?: (index: number) => string;
  /** Address of this machine from which the connections come. */
  readonly localAddress?: string;
};

// Number of connections that are opened at the same time. If there were more than fit into the system's queue, the rest would be answered
// late.
const atOnce = 256;

/**
 * Opens connections and sends over each the data that `bytes` returns, which may be empty. This side never closes them, even if the server
 * has ended its half.
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
