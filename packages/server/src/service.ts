import { randomInt } from "node:crypto";
import { isIPv6 } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { type Catalog, createCatalogService, loadCatalog, loadDeployment } from "@svc/catalog";
import { type AddressGuard, createAddressGuard, createId, createSealer, type NodeId, type Sealer } from "@svc/core";
import { countPendingDeliveries } from "@svc/db";
import { createDispatcher, type Dispatcher, startRetention } from "@svc/delivery";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { Health as HealthRpc } from "@svc/gen/health";
import { TriggersService } from "@svc/gen/triggers";
import { createIngest, createQuarantine, createRouting, createTriggersService, type Ingest } from "@svc/triggers";
import { createAdminService } from "./admin/service.ts";
import { createKeyCache, type KeyCache } from "./auth/key-cache.ts";
import { type KeyUse, startKeyUse } from "./auth/key-use.ts";
import { createRequestIds } from "./calls/call.ts";
import { createCallErrorMapper } from "./calls/call-error.ts";
import { type Config, isLoopbackHost } from "./config/config.ts";
import { shuttingDown } from "./errors.ts";
import { createHealth, type Health } from "./health/health.ts";
import { createHealthService } from "./health/service.ts";
import { createProbes } from "./http/probes.ts";
import { createRpcHandler } from "./http/rpc.ts";
import { createHttpServer, type HttpServer, type HttpTimeouts } from "./http/server.ts";
import { createWebhookHandler } from "./http/webhooks.ts";
import type { Logger } from "./logger.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { type FirstKey, prepareFirstKey } from "./service/first-key.ts";
import { createDeliveryObserver, logCall } from "./service/observer.ts";
import { createRouter } from "./service/router.ts";
import { openStore, type Store } from "./service/store.ts";
import { checkVault } from "./service/vault-check.ts";
import { readVaultKeys } from "./service/vault-key.ts";
import { createStoreAlarm } from "./store-alarm.ts";

/** A running service. */
export type Service = {
  /** Where it listens. */
  readonly url: string;
  /** The key that this start made, shown once; undefined when it made none. */
  readonly firstKey: FirstKey | undefined;
  readonly nodeId: NodeId;
  /** Rejects when the service cannot go on: its embedded PostgreSQL ended. Never resolves. */
  readonly failed: Promise<never>;
  /** Reads SVC_ENV_FILE again, for webhook secrets. Throws ConfigError, and changes nothing, when it cannot be read. */
  reload(): void;
  /** Finishes what is in flight for up to `drainMs` of the configuration, gives leases back and closes the store. */
  stop(): Promise<void>;
};

/** Options of `startService`. */
export type ServiceOptions = { logger: Logger; timeouts?: HttpTimeouts };

/** What the parts of a node share. */
type Node = {
  config: Config;
  logger: Logger;
  store: Store;
  catalog: Catalog;
  sealer: Sealer;
  nodeId: NodeId;
  guard: AddressGuard;
  dispatcher: Dispatcher;
  metrics: Metrics;
  health: Health;
  keys: KeyCache;
  keyUse: KeyUse;
  secretOf: (name: string) => string | undefined;
};

/**
 * Starts a node: store, migrations, catalog, then the engines and, last, the HTTP server: what is listened to is ready.
 * Rejects, having closed what it opened, with the error of the part that cannot run.
 */
export async function startService(config: Config, { logger, timeouts }: ServiceOptions): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const catalogLoading = readCatalog(config);
  // Reported where it is awaited; until then a failure is nobody's.
  catalogLoading.catch(() => {});
  const vaultKeys = await readVaultKeys(config);
  const store = await openStore(config, logger);
  opened.defer(() => store.close());
  const catalog = await catalogLoading;
  const firstKey = await prepareFirstKey(config, store);
  const sealer = createSealer(vaultKeys);
  await checkVault(store.db, sealer);
  const node = createNode(config, logger, { store, catalog, sealer });
  opened.defer(() => node.keyUse.stop());
  const shutdown = new AbortController();
  const ingest = config.role === "worker" ? undefined : createIngest({ ...node, db: store.db, clock: store.clock });
  const http = createHttp(node, { ingest, shutdownSignal: shutdown.signal, timeouts });
  const { port } = await http.listen(config);
  opened.defer(startEngines(node));
  const closing = opened.move();
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await drain(node, { http, ingest, shutdown });
    await closing.disposeAsync();
  };
  return {
    url: `http://${isIPv6(config.host) ? `[${config.host}]` : config.host}:${port}`,
    firstKey,
    nodeId: node.nodeId,
    failed: store.failed,
    reload: () => config.environment.reload(),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function readCatalog({ toolkitFolders, deploymentFile }: Config): Promise<Catalog> {
  const deployment = deploymentFile === undefined ? undefined : await loadDeployment(deploymentFile);
  return loadCatalog({ folders: toolkitFolders, deployment });
}

function createNode(
  config: Config,
  logger: Logger,
  { store, catalog, sealer }: Pick<Node, "store" | "catalog" | "sealer">,
): Node {
  const { db, clock } = store;
  const nodeId = createId("node", clock.now());
  const metrics = createMetrics({
    clock,
    countBacklog: () => countPendingDeliveries(db),
    dispatcher: () => dispatcher.stats(),
  });
  // A service that only this machine reaches may deliver to this machine: that is how it is tried out.
  const loopback = isLoopbackHost(config.host) ? ["127.0.0.0/8", "::1/128"] : [];
  const guard = createAddressGuard({ allowedRanges: [...config.endpointRanges, ...loopback] });
  const dispatcher: Dispatcher = createDispatcher({
    db,
    clock,
    sealer,
    guard,
    nodeId,
    observer: createDeliveryObserver(logger, metrics),
    limits: { endpointConcurrency: config.endpointConcurrency, retryScheduleMs: config.retryScheduleMs },
    random: () => randomInt(0x1_0000_0000) / 0x1_0000_0000,
  });
  return {
    config,
    logger,
    store,
    catalog,
    sealer,
    nodeId,
    guard,
    dispatcher,
    metrics,
    health: createHealth({ db, clock }),
    keys: createKeyCache({ db, clock }),
    keyUse: startKeyUse({ db, clock, onError: (err) => logger.warn({ err }, "the use of keys could not be noted") }),
    secretOf: (name) => config.environment.get(name),
  };
}

type HttpParts = { ingest: Ingest | undefined; shutdownSignal: AbortSignal; timeouts: HttpTimeouts | undefined };

function createHttp(node: Node, { ingest, shutdownSignal, timeouts }: HttpParts): HttpServer {
  const { config, logger, metrics, health, nodeId, store } = node;
  const createRequestId = createRequestIds(nodeId);
  const onStoreAway = createStoreAlarm(logger, store.clock);
  const { bodyBytesMax } = config;
  const router = createRouter({
    ...node,
    clock: store.clock,
    use: node.keyUse,
    adminToken: config.adminToken,
    mapError: createCallErrorMapper(logger, onStoreAway),
    bodyBytesMax,
    shutdownSignal,
    register: (target) => registerServices(target, node),
  });
  return createHttpServer({
    rpc: createRpcHandler({
      router,
      bodyBytesMax,
      createRequestId,
      logger,
      onCall(call, durationMs) {
        metrics.called(call, durationMs);
        logCall(logger, call, durationMs);
      },
    }),
    webhooks:
      ingest &&
      createWebhookHandler({ ingest, bodyBytesMax, createRequestId, logger, onStoreAway, onPost: metrics.posted }),
    probes: createProbes({ health, metrics }),
    isDraining: () => health.isDraining,
    clock: store.clock,
    logger,
    timeouts,
  });
}

function registerServices(router: ConnectRouter, node: Node): void {
  const { store, catalog, sealer, dispatcher, nodeId, health } = node;
  const { db, clock } = store;
  const services = () => new Set(router.handlers.map(({ service }) => service.typeName));
  router.service(HealthRpc, createHealthService({ health, clock, services }));
  if (node.config.role === "worker") return;
  const context = { ...node, db, clock, store: { clock, nodeId, dispatcher, routing: createRouting() } };
  router.service(CatalogService, createCatalogService({ catalog, sealer }));
  router.service(TriggersService, createTriggersService(context));
  const quarantine = createQuarantine(context);
  router.service(
    AdminService,
    createAdminService({ db, clock, sealer, quarantine, onRevoked: (id) => node.keys.forget(id) }),
  );
}

/** Starts what works in the background, and returns what stops it. */
function startEngines({ config, dispatcher, store, logger }: Node): () => Promise<void> {
  if (config.role === "api") return async () => {};
  dispatcher.start();
  const { eventRetentionMs } = config;
  const onError = (err: unknown) => logger.warn({ err }, "retention failed and goes on");
  const retention = startRetention({ ...store, eventRetentionMs, onError });
  return () => retention.stop();
}

type DrainParts = { http: HttpServer; ingest: Ingest | undefined; shutdown: AbortController };

/**
 * Requests get half of the time at most, deliveries what is left of all of it: first no post may be under way any more,
 * since each hands its first sends to the dispatcher.
 */
async function drain(
  { config, store, health, dispatcher }: Node,
  { http, ingest, shutdown }: DrainParts,
): Promise<void> {
  const { clock } = store;
  const until = clock.now() + config.drainMs;
  health.drain();
  const requestsMs = config.drainMs / 2;
  const answered = new AbortController();
  const aborting = clock.wait(requestsMs / 2, answered.signal).then(() => shutdown.abort(shuttingDown()));
  await http.close(requestsMs);
  answered.abort();
  await aborting;
  // Bounded: what a hanging store has not committed by then was answered 503, and its provider posts it again.
  const drained = new AbortController();
  await Promise.race([ingest?.drain(), clock.wait(Math.max(0, until - clock.now()), drained.signal)]);
  drained.abort();
  await dispatcher.drain(Math.max(0, until - clock.now()));
}
