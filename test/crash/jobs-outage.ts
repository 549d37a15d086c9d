import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startTestPostgres, type TestPostgres } from "@svc/testing/database";
import { openStoreLine } from "./store-line.ts";

/** A PostgreSQL whose address stays the same while it is crashed and started again. */
export type CrashingPostgres = {
  readonly url: string;
  /** Ends the server at once, as in a crash: sessions are not allowed to finish, and nothing more is written. Then starts it again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the server with all writes flushed to the disk. */
export async function startCrashingPostgres(): Promise<CrashingPostgres> {
  let postgres: TestPostgres = await startTestPostgres();
  const line = await openStoreLine(() => postgres.url);
  return {
    url: line.url,
    async crash() {
      const lock = await readFile(join(postgres.dataDir, "postgres", "data", "postmaster.pid"), "utf8");
      process.kill(Number.parseInt(lock, 10), "SIGQUIT");
      await postgres.exited;
      postgres = await postgres.restart();
    },
    async stop() {
      line.close();
      await postgres.stop();
    },
  };
}
