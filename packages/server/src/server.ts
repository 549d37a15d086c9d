import type { Catalog } from "@svc/catalog";
import { createId, createSealer, type NodeId } from "@svc/core";
import type { NodeLimits, NodeParts } from "@svc/node";
import { startPlacing } from "./audit/start-placing.ts";
import type { Config } from "./config/settings.ts";
import { consolePath } from "./console/headers.ts";
import { readBuiltConsole } from "./console/parts.ts";
import { drain } from "./drain.ts";
import { startExport } from "./export/start-export.ts";
import { createHttp } from "./http/create-http.ts";
import type { HttpTimeouts } from "./listen/http-server.ts";
import { openTls } from "./listen/tls.ts";
import type { Logger } from "./logger.ts";
import { createParts, type ServerParts } from "./parts.ts";
import type { ProcessShare } from "./processes/share.ts";
import { firstConsoleLink } from "./start/console-link.ts";
import { readCatalog, readDeployment } from "./start/definitions.ts";
import type { FirstKey } from "./start/first-key.ts";
import { openRestored, prepareDeployment, type RestoredStore, withAudience } from "./start/prepare.ts";
import { bindingsText } from "./start/start-text.ts";
import { joinStore, openStore, type Store } from "./start/store.ts";
import { startTracing } from "./tracing/tracing.ts";
import { keySourceOf, type VaultLimits } from "./vault/key-source.ts";
import { openVault } from "./vault/open-vault.ts";

/** A running server. */
export type Server = {
  /** Listening address. */
  readonly url: string;
  /** Separate address of administration and metrics; undefined if they share `url`. */
  readonly adminUrl: string | undefined;
  /** Key that this start created; it is shown only once. Undefined if this start created none. */
  readonly firstKey: FirstKey | undefined;
  /** Address of the console; undefined if it is not served. */
  readonly consoleUrl: string | undefined;
  /**
   * Creates a link that opens the console once. The browser is then signed in with the key that svc created at its first start. Returns
   * undefined if other people share this machine or may reach the database, or if this key is revoked or expired.
   */
  createConsoleLink(): Promise<string | undefined>;
  readonly nodeId: NodeId;
  /** Rejects if the server cannot continue because its embedded PostgreSQL has ended. Never resolves. */
  readonly failed: Promise<never>;
  /** Reads the files of SVC_TLS_CERT and SVC_TLS_KEY again, if set. Never rejects: faults are logged. */
  reloadTls(): Promise<void>;
  /**
   * Stops the server. Running work has up to `drainMs` to finish. Then the server releases its leases (time-limited claims on work) and
   * closes the database.
   */
  stop(): Promise<void>;
};

/**
 * Options of `startServer`.
 * - `onLoaded`: called and awaited when everything is loaded, before the server listens.
 * - `share`: data from the supervisor (parent process), if there are several server processes.
 * - `mcpOffers`: function that returns the features that the node offers to agents over MCP. Default: all features of the node.
 * - For tests only: `catalog` replaces the configured tool definitions, and `consoleFolder` the folder of the console's files.
 *   `vaultLimits` replaces the times and sizes of the vault, and `erasures` the durations that control how data of a person or project is
 *   erased.
 */
export type ServerOptions = {
  logger: Logger;
  onLoaded?: (() => Promise<void>) | undefined;
  timeouts?: HttpTimeouts;
  catalog?: Catalog | undefined;
  share?: ProcessShare | undefined;
  consoleFolder?: string | undefined;
  vaultLimits?: Partial<VaultLimits> | undefined;
  mcpOffers?: NodeParts["mcpOffers"];
  erasures?: NodeLimits["erasures"] | undefined;
};

/**
 * Starts a server. Opens the database, runs migrations, and creates the catalog and the node. HTTP comes last, so that the server is ready
 * when it listens. If a part fails, closes everything and rejects with its error.
 */
export async function startServer(given: Config, options: ServerOptions): Promise<Server> {
  await using opened = new AsyncDisposableStack();
  const { parts, firstKey, restored, isConsoleBuilt, listening } = await openParts(given, options, opened);
  const { config, store, node, tls, publicUrl } = parts;
  const shutdown = new AbortController();
  const http = createHttp(parts, { shutdownSignal: shutdown.signal, timeouts: options.timeouts });
  await options.onLoaded?.();
  const { url, adminUrl } = await http.listen(await options.share?.takePorts());
  listening.url = url;
  node.start(restored.released);
  const closing = opened.move();
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await drain(parts, { http, shutdown });
    await closing.disposeAsync();
  };
  return {
    ...{ url, adminUrl, firstKey },
    consoleUrl: isConsoleBuilt ? `${publicUrl()}${consolePath}` : undefined,
    createConsoleLink: async () => (isConsoleBuilt ? firstConsoleLink(config, { ...store, publicUrl }) : undefined),
    nodeId: node.nodeId,
    failed: store.failed,
    reloadTls: async () => tls?.reload(),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

type OpenedParts = {
  readonly parts: ServerParts;
  readonly firstKey: FirstKey | undefined;
  readonly restored: RestoredStore;
  readonly isConsoleBuilt: boolean;
  /** Address at which the server listens. `url` is set only after the server has begun to listen. */
  readonly listening: { url: string };
};

/** Opens everything that HTTP serves. `opened` closes these parts later, in reverse order. */
async function openParts(given: Config, options: ServerOptions, opened: AsyncDisposableStack): Promise<OpenedParts> {
  const { logger, catalog: loaded, share } = options;
  const deploymentLoading = readDeployment(given);
  const catalogLoading = deploymentLoading.then((deployment) => loaded ?? readCatalog(given, deployment));
  // The error is reported later, where the promise is awaited.
  catalogLoading.catch(() => {});
  const keys = keySourceOf(given);
  const sealer = createSealer(await keys.read());
  const tls = given.tls === undefined ? undefined : await openTls(given.tls, logger);
  opened.defer(() => tls?.stop());
  const store = share === undefined ? await openStore(given, logger) : await joinHeldStore(share, logger);
  opened.defer(() => store.close());
  const { db, clock } = store;
  const read = await catalogLoading;
  const deployment = await deploymentLoading;
  const { audience, firstKey } = share ?? (await prepareDeployment(given, { store, sealer, logger }));
  const config = withAudience(given, audience);
  const isRotating = config.role !== "api";
  const nodeId = createId("node", clock.now());
  const tracing = await startTracing(config, { clock, logger, nodeId });
  opened.defer(() => tracing?.stop());
  const vault = await openVault({ db, clock, logger, keys, nodeId, isRotating, limits: options.vaultLimits });
  opened.defer(() => vault.stop());
  const restored = await openRestored(store, logger);
  opened.defer(() => restored.stop());
  const catalog = audience === undefined ? read : await readCatalog(config, deployment);
  const bindings = bindingsText(config, catalog);
  if (bindings !== undefined && (share === undefined || share.isFirst)) logger.info(bindings);
  const listening = { url: "" };
  const publicUrl = () => config.publicUrl ?? listening.url;
  const built = await readBuiltConsole(config, options.consoleFolder);
  const { mcpOffers, erasures } = options;
  const parts = createParts({
    ...{ config, logger, store, catalog, deployment, vault, restored, tls, publicUrl, share, built },
    ...{ mcpOffers, erasures },
  });
  if (config.role !== "api") {
    const placing = startPlacing({ ...store, sealer: vault.sealer, logger });
    opened.defer(() => placing.stop());
  }
  if (config.role !== "api" && config.exportTarget !== undefined) {
    const exporting = startExport(config.exportTarget, { ...store, logger });
    opened.defer(() => exporting.stop());
  }
  closeParts(parts, opened);
  return { parts, firstKey, restored, isConsoleBuilt: built !== undefined, listening };
}

function closeParts(
  { openCalls, grants, keyUse, activity, node, people }: ServerParts,
  opened: AsyncDisposableStack,
): void {
  opened.defer(() => people?.stop());
  opened.defer(() => openCalls.stop());
  opened.defer(() => grants.documents.close());
  opened.defer(() => keyUse.stop());
  // Parts close in reverse order. So counting stops after the node has stopped, and the last work of the node is also counted.
  opened.defer(() => activity?.stop());
  opened.defer(() => node.close());
}

/** Connects to the database that the parent process has started. The promise `failed` of the returned store never settles. */
async function joinHeldStore({ store }: ProcessShare, logger: Logger): Promise<Store> {
  // If the database fails, the parent process ends.
  return { ...(await joinStore(store, logger)), failed: new Promise<never>(() => {}) };
}
