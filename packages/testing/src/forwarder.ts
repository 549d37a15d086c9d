import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A fixed address in front of a server. While the forwarder is closed, the server cannot be reached; `reopen` makes it reachable again. */
export type Forwarder = AsyncDisposable & {
  /** URL of the server behind the forwarder, with the forwarder's own address in place of the server's. */
  readonly url: string;
  /** Ends every connection and refuses new ones until `reopen`. */
  close(): Promise<void>;
  /** Holds back sent data and new connections until `release`. The server can be reached but does not answer. */
  hold(): void;
  /** Forwards the data and the new connections that this forwarder has held back since `hold`. */
  release(): void;
  /** Accepts connections again. If the server has a new port, `movedUrl` is its new URL. */
  reopen(movedUrl?: string): Promise<void>;
};

/** Starts a forwarder in front of a server, on a free port of this machine. */
export async function startForwarder(serverUrl: string): Promise<Forwarder> {
  let upstream = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const pairs = new Map<Socket, Socket>();
  let isHeld = false;
  const server = createServer((socket) => {
    const ahead = connect(Number(upstream.port), upstream.hostname);
    for (const [from, to] of [
      [socket, ahead],
      [ahead, socket],
    ] as const) {
      sockets.add(from);
      from
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(from);
          pairs.delete(from);
          to.destroy();
        });
      pairs.set(from, to);
      if (!isHeld) from.pipe(to);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${port}`;
  // Removes the parameter with the server's Unix socket. Otherwise a client would connect to the socket and not to the forwarder.
  url.searchParams.delete("host");
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: url.href,
    close,
    hold() {
      isHeld = true;
      for (const [from, to] of pairs) from.unpipe(to);
    },
    release() {
      // If nothing is held back, the connections are already piped. Piping them a second time would send all data twice.
      if (!isHeld) return;
      isHeld = false;
      for (const [from, to] of pairs) from.pipe(to);
    },
    async reopen(movedUrl) {
      if (movedUrl !== undefined) upstream = new URL(movedUrl);
      if (server.listening) return;
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    [Symbol.asyncDispose]: close,
  };
}
