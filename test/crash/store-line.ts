import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy in front of a PostgreSQL. Its address stays the same when the server changes, and its connections can be cut. */
export type StoreLine = {
  readonly url: string;
  /** Cuts every connection at once, whatever it is doing. */
  cut(): void;
  /**
   * For `ms` milliseconds the server executes statements, but their answers are lost with the connection. In a transaction, the lost answer
   * is that of `commit`, so the client cannot know whether it took effect.
   */
  loseAnswers(ms: number): void;
  close(): void;
};

/** Opens a proxy to the server whose URL `storeUrl` returns at the start of each connection. */
export async function openStoreLine(storeUrl: () => string): Promise<StoreLine> {
  const sockets = new Set<Socket>();
  let losesUntil = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(storeUrl()).port), "127.0.0.1");
    const asks = createAskReader();
    let isLost = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", end);
      socket.on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on("data", (chunk: Buffer) => {
      const isDecided = asks.read(chunk);
      isLost ||= isDecided && Date.now() < losesUntil;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk: Buffer) => {
      if (isLost) end();
      else client.write(chunk);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(storeUrl());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  url.port = String(address.port);
  // Removes the server's Unix socket from the URL, which would bypass the proxy.
  url.searchParams.delete("host");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    cut,
    loseAnswers(ms) {
      losesUntil = Date.now() + ms;
    },
    close() {
      server.close();
      cut();
    },
  };
}

/** Follows the messages of a client. `read` returns true for a message whose answer confirms a permanent change. */
function createAskReader(): { read(chunk: Buffer): boolean } {
  let isInTransaction = false;
  return {
    read(chunk) {
      // A simple query, with which the driver begins and ends transactions.
      const text = chunk[0] === 0x51 ? chunk.toString("latin1", 5, 20).trimStart().toLowerCase() : "";
      if (text.startsWith("begin")) isInTransaction = true;
      if (!text.startsWith("commit") && !text.startsWith("rollback")) return !isInTransaction;
      isInTransaction = false;
      return true;
    },
  };
}
