import type { Audience } from "@svc/catalog";
import { formatValue, isoTime, readTime, type Sealer } from "@svc/core";
import { readRestoreMarker } from "@svc/db/embedded/backup/files";
import { countHeldWork, findRestore, noteRestore, type Restore, type RestoreNote } from "@svc/db/restores/repo";
import { isLoopbackHost } from "../config/loopback.ts";
import type { Config } from "../config/settings.ts";
import type { Logger } from "../logger.ts";
import { startLoop } from "../loop.ts";
import { forgottenAudience, noteAudience, warnOfAudience } from "./audience.ts";
import { type FirstKey, prepareFirstKey } from "./first-key.ts";
import type { JoinedStore } from "./store.ts";
import { checkVault } from "./vault-check.ts";

/** Returns a warning if other machines may reach the server over plain HTTP, as far as the configuration shows; otherwise undefined. */
export function exposureText({ host, adminListen, tls, publicUrl, role }: Config): string | undefined {
  // No warning is needed in three cases: the server uses TLS, its public address begins with https, or the server is a worker. Clients send
  // no API keys to a worker.
  if (tls !== undefined || role === "worker" || publicUrl?.startsWith("https:")) return undefined;
  const exposed = [host, ...(adminListen === undefined ? [] : [adminListen.host])].filter(
    (name) => !isLoopbackHost(name),
  );
  if (exposed.length === 0) return undefined;
  return `listening on ${exposed.join(" and ")} without TLS: others can read keys and tokens on the network. Set SVC_TLS_CERT and SVC_TLS_KEY, or SVC_PUBLIC_URL to the https address of the proxy that terminates TLS, or listen on a loopback address`;
}

/** Says if the database was restored from a backup, and when svc may send deliveries and continue jobs after the restore. */
export type RestoredStore = {
  /** Returns the last restore of the database from a backup that this node knows; undefined if there was none. */
  readonly last: () => Restore | undefined;
  /**
   * Promise that resolves when an operator resumes the service after a restore. Until then, svc sends no delivery and continues no job,
   * because the original database may have done this work already. Undefined if the database was not restored, or if the service was
   * already resumed.
   */
  readonly released: Promise<void> | undefined;
  stop(): Promise<void>;
};

const lookEveryMs = 1_000;

/**
 * Records in the database that it was restored from a backup, so that svc sends nothing until an operator resumes the service. svc learns
 * of a restore in two ways. For an embedded database, `svc restore` has left a marker in the data folder. For an operator's own database,
 * SVC_RESTORED contains the time up to which the backup has data.
 */
async function noteRestored(config: Config, { db, clock, isEmbedded }: JoinedStore): Promise<void> {
  const note = isEmbedded ? await embeddedNote(config.dataDir) : ownNote(config.restoredFromMs);
  if (note !== undefined) await noteRestore(db, note, clock.now());
}

async function embeddedNote(dataDir: string): Promise<RestoreNote | undefined> {
  const marker = await readRestoreMarker(dataDir);
  if (marker === undefined) return undefined;
  const backupEndsAt = readTime(marker.endsAt);
  if (backupEndsAt === undefined)
    throw new Error(`the mark of a restore has ${formatValue(marker.endsAt)}, which is not a time`);
  return { key: marker.id, backupEndsAt };
}

function ownNote(endsAt: number | undefined): RestoreNote | undefined {
  return endsAt === undefined ? undefined : { key: `SVC_RESTORED=${isoTime(endsAt)}`, backupEndsAt: endsAt };
}

/**
 * Finds out if the database was restored from a backup. If svc waits for an operator after a restore, `released` is a promise. It resolves
 * when an operator resumes the service.
 */
export async function openRestored({ db, clock }: JoinedStore, logger: Logger): Promise<RestoredStore> {
  let last = await findRestore(db);
  if (last === undefined || last.resumedAt !== null) {
    return { last: () => last, released: undefined, stop: async () => {} };
  }
  logger.warn({ ...(await countHeldWork(db)), backupEndsAt: isoTime(last.backupEndsAt) }, heldText);
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = async () => {
    const found = await findRestore(db);
    if (found === undefined || found.resumedAt === null || last?.resumedAt !== null) return;
    last = found;
    const { isNothingSince } = found;
    logger.info({ isNothingSince }, "the restored service was resumed: it sends deliveries and continues jobs");
    resolve();
    // This code is called by the loop itself. The loop stops, because the database was resumed. The promise of `stop` is not awaited,
    // because it resolves only after this call has ended.
    void loop.stop();
  };
  const onError = (err: unknown) => logger.warn({ err }, "svc could not read if the restored service was resumed");
  const loop = startLoop({ clock, everyMs: lookEveryMs, run: look, onError });
  return { last: () => last, released: promise, stop: () => loop.stop() };
}

const heldText =
  "the database was restored from a backup: svc accepts posts and calls, but sends no delivery and continues no job until `svc resume`, which needs the token of SVC_ADMIN_TOKEN";

/** Data that a start read from the deployment's database or created in it. */
export type PreparedStore = {
  /**
   * The audience (which projects receive webhook events) of an earlier start, if it was `accounts` and this start sets none. Undefined
   * otherwise.
   */
  readonly audience: Audience | undefined;
  /** Key that this start created. It must be shown once. */
  readonly firstKey: FirstKey | undefined;
};

/**
 * Does the work that a start needs only once for all processes. It prepares the first key, checks the vault key, and warns about unsafe
 * settings. Throws ConfigError if the configuration does not match the database.
 */
export async function prepareDeployment(
  given: Config,
  { store, sealer, logger }: { store: JoinedStore; sealer: Sealer; logger: Logger },
): Promise<PreparedStore> {
  const audience = await forgottenAudience(given, store.db, logger);
  const config = withAudience(given, audience);
  const exposure = exposureText(config);
  if (exposure !== undefined) logger.warn(exposure);
  const firstKey = await prepareFirstKey(config, store);
  await warnOfAudience(config, store.db, logger);
  await checkVault(store.db, sealer);
  await noteRestored(config, store);
  await noteAudience(given, store.db);
  return { audience, firstKey };
}

/**
 * Returns the configuration with the given audience, which an earlier start had set. An audience says which projects receive webhook
 * events. If it is undefined, the configuration is unchanged.
 */
export function withAudience(config: Config, audience: Audience | undefined): Config {
  return audience === undefined ? config : { ...config, webhookAudience: audience };
}
