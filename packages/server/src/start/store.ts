import { createOffsetClock, systemClock } from "@svc/core";
import { type Database, openDatabase } from "@svc/db/connect";
import { readDatabaseTime } from "@svc/db/database-time";
import { startEmbeddedPostgres } from "@svc/db/embedded/postgres";
import { migrateDatabase } from "@svc/db/migrate";
import type { Config } from "../config/config.ts";
import type { Logger } from "../logger.ts";
import { startLoop } from "../loop.ts";

/** The database of a running server and the clock that goes with it. */
export type Store = JoinedStore & {
  /** Rejects when the embedded PostgreSQL ends by itself; never settles otherwise. */
  readonly failed: Promise<never>;
};

/** A pool of connections to a store that runs. */
export type JoinedStore = {
  readonly db: Database;
  /** Runs like the database's clock, so that leases and times mean the same on every node. */
  readonly clock: ReturnType<typeof createOffsetClock>;
  readonly isEmbedded: boolean;
  /** Closes the connections; the store of `openStore` then stops its embedded PostgreSQL. */
  close(): Promise<void>;
};

/** A store that this process holds: it runs, and is migrated. */
export type HeldStore = {
  /** Holds the password. */
  readonly url: string;
  readonly isEmbedded: boolean;
  /** As that of `Store`. */
  readonly failed: Promise<never>;
  /** Stops the embedded PostgreSQL. */
  stop(): Promise<void>;
};

const connectionsMax = 20;
const clockCheckMs = 30_000;
// Below this the difference is noise of the measurement, and two clocks of one machine are one.
const clockToleranceMs = 50;

/** Opens the store: the embedded PostgreSQL or the one at SVC_DATABASE_URL, migrated to this version. */
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

/** Starts the embedded PostgreSQL, where there is no other, and migrates the store. */
export async function holdStore(config: Config, logger: Logger): Promise<HeldStore> {
  const embedded = config.databaseUrl === undefined ? await startEmbedded(config, logger) : undefined;
  const url = config.databaseUrl ?? embedded?.socketUrl ?? "";
  try {
    await migrateDatabase(url);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
  const end = embedded === undefined ? { failed: never, stop: async () => {} } : watchExit(embedded);
  return { url, isEmbedded: embedded !== undefined, ...end };
}

/** Connects to a store that runs and is migrated. */
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

/** How far the database's clock is ahead, taking its answer to be from the middle of the round trip. */
async function measureOffset(db: Database): Promise<number> {
  const before = systemClock.now();
  const databaseMs = await readDatabaseTime(db);
  const after = systemClock.now();
  const offsetMs = Math.round(databaseMs - (before + after) / 2);
  return Math.abs(offsetMs) < clockToleranceMs ? 0 : offsetMs;
}
