import { createOffsetClock, systemClock } from "@svc/core";
import { type Database, migrateDatabase, openDatabase, readDatabaseTime, startEmbeddedPostgres } from "@svc/db";
import type { Config } from "../config/config.ts";
import type { Logger } from "../logger.ts";
import { type Loop, startLoop } from "../loop.ts";

/** The database of a running server and the clock that goes with it. */
export type Store = {
  readonly db: Database;
  /** Runs like the database's clock, so that leases and times mean the same on every node. */
  readonly clock: ReturnType<typeof createOffsetClock>;
  readonly isEmbedded: boolean;
  /** Rejects when the embedded PostgreSQL ends by itself; never settles otherwise. */
  readonly failed: Promise<never>;
  /** Closes the connections, then stops the embedded PostgreSQL. */
  close(): Promise<void>;
};

const connectionsMax = 20;
const clockCheckMs = 30_000;
// Below this the difference is noise of the measurement, and two clocks of one machine are one.
const clockToleranceMs = 50;

/** Opens the store: the embedded PostgreSQL or the one at SVC_DATABASE_URL, migrated to this version. */
export async function openStore(config: Config, logger: Logger): Promise<Store> {
  const embedded = config.databaseUrl === undefined ? await startEmbedded(config, logger) : undefined;
  const url = config.databaseUrl ?? embedded?.socketUrl ?? "";
  try {
    await migrateDatabase(url);
    const db = openDatabase({ url, connectionsMax });
    const clock = createOffsetClock(systemClock);
    const measure = async () => clock.setOffset(await measureOffset(db));
    await measure();
    const onError = (err: unknown) => logger.warn({ err }, "the database's clock could not be read");
    const loop = startLoop({ clock: systemClock, everyMs: clockCheckMs, run: measure, onError });
    const end = embedded === undefined ? { failed: never, stop: async () => {} } : watchExit(embedded);
    return {
      db,
      clock,
      isEmbedded: embedded !== undefined,
      failed: end.failed,
      close: () => closeStore(loop, db, end.stop),
    };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

type Embedded = Awaited<ReturnType<typeof startEmbeddedPostgres>>;

const never: Promise<never> = new Promise(() => {});

function startEmbedded(config: Config, logger: Logger): Promise<Embedded> {
  return startEmbeddedPostgres({
    dataDir: config.dataDir,
    durability: "full",
    onLog: (line) => logger.debug({ line }, "postgres"),
  });
}

function watchExit(embedded: Embedded): { failed: Promise<never>; stop: () => Promise<void> } {
  let isStopping = false;
  const failed = new Promise<never>((_resolve, reject) => {
    void embedded.exited.then((exit) => {
      if (!isStopping) reject(new Error(`the embedded PostgreSQL ended: ${exit.log.trim() || "it wrote nothing"}`));
    });
  });
  // Whoever waits for it hears of it; nobody has to.
  failed.catch(() => {});
  return {
    failed,
    stop() {
      isStopping = true;
      return embedded.stop();
    },
  };
}

async function closeStore(loop: Loop, db: Database, stopEmbedded: () => Promise<void>): Promise<void> {
  await loop.stop();
  await db.close();
  await stopEmbedded();
}

/** How far the database's clock is ahead, taking its answer to be from the middle of the round trip. */
async function measureOffset(db: Database): Promise<number> {
  const before = systemClock.now();
  const databaseMs = await readDatabaseTime(db);
  const after = systemClock.now();
  const offsetMs = Math.round(databaseMs - (before + after) / 2);
  return Math.abs(offsetMs) < clockToleranceMs ? 0 : offsetMs;
}
