import type { Audience } from "@svc/catalog";
import { formatValue, isoTime, readTime, type Sealer } from "@svc/core";
import { readRestoreMarker } from "@svc/db/embedded/backup/files";
import { countHeldWork, findRestore, noteRestore, type Restore, type RestoreNote } from "@svc/db/restores/repo";
import { type Config, isLoopbackHost } from "../config/config.ts";
import type { Logger } from "../logger.ts";
import { startLoop } from "../loop.ts";
import { forgottenAudience, noteAudience, warnOfAudience } from "./audience.ts";
import { type FirstKey, prepareFirstKey } from "./first-key.ts";
import type { JoinedStore } from "./store.ts";
import { checkVault } from "./vault-check.ts";

/** What to say of a server that others reach over plain HTTP, as far as it can know; undefined when there is nothing to say. */
export function exposureText({ host, adminListen, tls, publicUrl, role }: Config): string | undefined {
  // A worker is sent no keys.
  if (tls !== undefined || role === "worker" || publicUrl?.startsWith("https:")) return undefined;
  const exposed = [host, ...(adminListen === undefined ? [] : [adminListen.host])].filter(
    (name) => !isLoopbackHost(name),
  );
  if (exposed.length === 0) return undefined;
  return `listening on ${exposed.join(" and ")} without TLS: keys and tokens can be read on their way. Set SVC_TLS_CERT and SVC_TLS_KEY, or SVC_PUBLIC_URL to the https address of the proxy that ends TLS in front, or listen on a loopback address`;
}

/** Whether the store of a node was restored from a backup, and whether it may send anything. */
export type RestoredStore = {
  /** The last restore, as this node knows it; undefined where there was none. */
  readonly last: () => Restore | undefined;
  /** Resolves once the store is held no more; undefined where it is not. */
  readonly released: Promise<void> | undefined;
  stop(): Promise<void>;
};

const lookEveryMs = 1_000;

/** Holds a store that was restored since its last start: `svc restore` left a marker, or SVC_RESTORED names the backup's end. */
async function noteRestored(config: Config, { db, clock, isEmbedded }: JoinedStore): Promise<void> {
  const note = isEmbedded ? await embeddedNote(config.dataDir) : ownNote(config.restoredFromMs);
  if (note !== undefined) await noteRestore(db, note, clock.now());
}

async function embeddedNote(dataDir: string): Promise<RestoreNote | undefined> {
  const marker = await readRestoreMarker(dataDir);
  if (marker === undefined) return undefined;
  const backupEndsAt = readTime(marker.endsAt);
  if (backupEndsAt === undefined)
    throw new Error(`the mark of a restore holds ${formatValue(marker.endsAt)}, which is no time`);
  return { key: marker.id, backupEndsAt };
}

function ownNote(endsAt: number | undefined): RestoreNote | undefined {
  return endsAt === undefined ? undefined : { key: `SVC_RESTORED=${isoTime(endsAt)}`, backupEndsAt: endsAt };
}

/** Looks whether the store is held and, while it is, every second whether it was resumed. */
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
    logger.info({ isNothingSince }, "the restored store was resumed: deliveries go out and jobs go on");
    resolve();
    // What is asked no more needs no loop; its end is waited for at the stop.
    void loop.stop();
  };
  const onError = (err: unknown) => logger.warn({ err }, "whether the restored store was resumed could not be read");
  const loop = startLoop({ clock, everyMs: lookEveryMs, run: look, onError });
  return { last: () => last, released: promise, stop: () => loop.stop() };
}

const heldText =
  "the store was restored from a backup, and is held: posts and calls are taken, no delivery is sent and no job goes on until `svc resume`, which the token of SVC_ADMIN_TOKEN is needed for";

/** What a start found in the deployment's store, or made there. */
export type PreparedStore = {
  /** Who receives events where this start was not told: see `forgottenAudience`. */
  readonly audience: Audience | undefined;
  /** The key that this start made, to be shown once. */
  readonly firstKey: FirstKey | undefined;
};

/**
 * Does once for a start what no node does: the first key, the check of the vault key and the audience, with warnings of what is
 * exposed. Throws ConfigError where the configuration does not fit the store.
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

/** The configuration with the audience that an earlier start was told, where there is one. */
export function withAudience(config: Config, audience: Audience | undefined): Config {
  return audience === undefined ? config : { ...config, webhookAudience: audience };
}
