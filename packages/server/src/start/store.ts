import { type Clock, createOffsetClock, systemClock } from "@svc/core";
import { type Database, openDatabase } from "@svc/db/connect";
import { readDatabaseTime } from "@svc/db/database-time";
import { startEmbeddedPostgres } from "@svc/db/embedded/postgres";
import { migrateDatabase } from "@svc/db/migrate";
import type { Config } from "../config/settings.ts";
import type { Logger } from "../logger.ts";
import { startLoop } from "../loop.ts";

/** The database of a running server, and a clock that follows the database's clock. */
export type Store = JoinedStore & {
  /** Rejects if the embedded PostgreSQL ends unexpectedly; otherwise never settles. */
  readonly failed: Promise<never>;
};

/** Connections to a running database. */
export type JoinedStore = {
  readonly db: Database;
  /**
   * A clock that follows the database's clock, so that leases (a node's time-limited rights to tasks) and times are the same on every node.
   */
  readonly clock: ReturnType<typeof createOffsetClock>;
  readonly isEmbedded: boolean;
  /** Closes the connections. If `openStore` opened the database, also stops the embedded PostgreSQL. */
  close(): Promise<void>;
};

/** A running and migrated database that was opened by this process. */
export type HeldStore = {
  /** Address of the database, including its password. */
  readonly url: string;
  readonly isEmbedded: boolean;
  /** A promise that rejects if the embedded PostgreSQL ends unexpectedly. */
  readonly failed: Promise<never>;
  /** Stops the embedded PostgreSQL. */
  stop(): Promise<void>;
};

const connectionsMax = 20;
const clockCheckMs = 30_000;
// Difference of two clocks, in milliseconds, up to which it is regarded as an error of measurement. The clocks of two processes on one
// machine are equal.
const clockToleranceMs = 50;

/** Opens the database: the embedded PostgreSQL or the one at SVC_DATABASE_URL, migrated to this version. */
export async function openStore(config: Config, logger: Logger): Promise<Store> {
  const held = await holdStore(config, logger);
  try {
    const joined = await joinStore(held, logger);
    return {
      ...joined,
      failed: held.failed,
      async close() {
        await joined.close();
        await held.stop();
      },
    };
  } catch (error) {
    await held.stop();
    throw error;
  }
}

/** Starts the embedded PostgreSQL, unless SVC_DATABASE_URL names another one. Then migrates the database to this version of svc. */
export async function holdStore(config: Config, logger: Logger): Promise<HeldStore> {
  const embedded = config.databaseUrl === undefined ? await startEmbedded(config, logger) : undefined;
  const url = config.databaseUrl ?? embedded?.socketUrl ?? "";
  try {
    await migrateDatabase(url, undefined, (text) => logger.warn(text));
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
  const end = embedded === undefined ? { failed: never, stop: async () => {} } : watchExit(embedded);
  return { url, isEmbedded: embedded !== undefined, ...end };
}

/**
 * Connects to a database that another part of svc has already started and migrated. Returns the connections and a clock that follows the
 * database's clock.
 */
export async function joinStore(
  { url, isEmbedded }: Pick<HeldStore, "url" | "isEmbedded">,
  logger: Logger,
): Promise<JoinedStore> {
  const db = openDatabase({ url, connectionsMax });
  const clock = createOffsetClock(systemClock);
  const measure = async () => clock.setOffset(await measureOffset(db));
  await measure();
  const onError = (err: unknown) => logger.warn({ err }, "the database's clock could not be read");
  const loop = startLoop({ clock: systemClock, everyMs: clockCheckMs, run: measure, onError });
  return {
    db,
    clock,
    isEmbedded,
    async close() {
      await loop.stop();
      await db.close();
    },
  };
}

type Embedded = Awaited<ReturnType<typeof startEmbeddedPostgres>>;

const never: Promise<never> = new Promise(() => {});

function startEmbedded(config: Config, logger: Logger): Promise<Embedded> {
  return startEmbeddedPostgres({
    dataDir: config.dataDir,
    durability: "full",
    onLog: (line) => logger.debug({ line }, "postgres"),
    onWait: (text) => logger.warn(text),
  });
}

function watchExit(embedded: Embedded): { failed: Promise<never>; stop: () => Promise<void> } {
  let isStopping = false;
  const failed = new Promise<never>((_resolve, reject) => {
    void embedded.exited.then((exit) => {
      if (!isStopping) reject(new Error(`the embedded PostgreSQL ended: ${exit.log.trim() || "it wrote nothing"}`));
    });
  });
  // Prevents an unhandled rejection. Code that awaits the promise still receives the error.
  failed.catch(() => {});
  return {
    failed,
    stop() {
      isStopping = true;
      return embedded.stop();
    },
  };
}

/**
 * Returns by how many milliseconds the database's clock is ahead of this node's clock. Assumes that the database read its clock in the
 * middle of the round trip.
 */
export async function measureOffset(db: Database, ownClock: Clock = systemClock): Promise<number> {
  const before = ownClock.now();
  const databaseMs = await readDatabaseTime(db);
  const after = ownClock.now();
  const offsetMs = Math.round(databaseMs - (before + after) / 2);
  return Math.abs(offsetMs) < clockToleranceMs ? 0 : offsetMs;
}
