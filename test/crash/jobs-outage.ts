import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { startTestPostgres, type TestPostgres } from "@svc/testing/database";

/** A PostgreSQL whose address stays the same while it is crashed and started again. */
export type CrashingPostgres = {
  readonly url: string;
  /** Ends the server at once, as a crash does: no session is let finish, nothing is written that was not. Then starts it again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts it, writing through to the disk. */
export async function startCrashingPostgres(): Promise<CrashingPostgres> {
  let postgres: TestPostgres = await startTestPostgres();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(new URL(postgres.url).port), "127.0.0.1");
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(postgres.url);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  url.port = String(address.port);
  return {
    url: url.href,
    async crash() {
      const lock = await readFile(join(postgres.dataDir, "postgres", "data", "postmaster.pid"), "utf8");
      process.kill(Number.parseInt(lock, 10), "SIGQUIT");
      await postgres.exited;
      postgres = await postgres.restart();
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await postgres.stop();
    },
  };
}
