import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A way to a PostgreSQL that stays at its address, whatever becomes of the server, and that can be cut. */
export type StoreLine = {
  readonly url: string;
  /** Cuts every connection, in the middle of whatever it does. */
  cut(): void;
  /**
   * For so long the server does what it is sent, and its answer is lost with the connection. In a transaction what is lost is the
   * answer to `commit`: nobody can tell whether it was made.
   */
  loseAnswers(ms: number): void;
  close(): void;
};

/** Opens one to the server whose URL `storeUrl` tells when a connection begins. */
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
  // Not by the server's own socket.
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

/** Follows what a client sends: whether it is something whose answer says that it is done for good. */
function createAskReader(): { read(chunk: Buffer): boolean } {
  let isInTransaction = false;
  return {
    read(chunk) {
      // A simple query: the driver begins and ends transactions so.
      const text = chunk[0] === 0x51 ? chunk.toString("latin1", 5, 20).trimStart().toLowerCase() : "";
      if (text.startsWith("begin")) isInTransaction = true;
      if (!text.startsWith("commit") && !text.startsWith("rollback")) return !isInTransaction;
      isInTransaction = false;
      return true;
    },
  };
}
