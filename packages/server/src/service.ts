import { randomInt } from "node:crypto";
import { isIPv6 } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  type Catalog,
  type CatalogViews,
  createCatalogService,
  createCatalogViews,
  type Deployment,
  loadCatalog,
  loadDeployment,
} from "@svc/catalog";
import { createConnectionsService } from "@svc/connections";
import { type AddressGuard, createAddressGuard, createId, createSealer, type NodeId, type Sealer } from "@svc/core";
import { countPendingDeliveries } from "@svc/db";
import { createDispatcher, type Dispatcher, startRetention } from "@svc/delivery";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { Health as HealthRpc } from "@svc/gen/health";
import { IdentityService } from "@svc/gen/identity";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { programSchema, readSkillToolkits, startRowRetention } from "@svc/jobs";
import { type CodeCaller, createMcpServer, createToolsService, startCallRetention } from "@svc/tools";
import { createIngest, createQuarantine, createRouting, createTriggersService, type Ingest } from "@svc/triggers";
import { createAdminService } from "./admin/service.ts";
import { createAuthenticator } from "./auth/gate.ts";
import { createKeyCache, type KeyCache } from "./auth/key-cache.ts";
import { type KeyUse, startKeyUse } from "./auth/key-use.ts";
import { createRequestIds } from "./calls/call.ts";
import { createCallErrorMapper } from "./calls/call-error.ts";
import { type Config, isLoopbackHost } from "./config/config.ts";
import { endedUnderWay } from "./errors.ts";
import { createHealth, type Health } from "./health/health.ts";
import { createHealthService } from "./health/service.ts";
import { createHome } from "./http/home.ts";
import { createMcpHandler, type McpHandler, type McpOptions } from "./http/mcp.ts";
import { createPages } from "./http/pages.ts";
import { createProbes } from "./http/probes.ts";
import { createRpcHandler } from "./http/rpc.ts";
import { createSchemas } from "./http/schemas.ts";
import { createHttpServer, type HttpServer, type HttpTimeouts } from "./http/server.ts";
import { createWebhookHandler } from "./http/webhooks.ts";
import { createIdentityService } from "./identity/service.ts";
import type { Logger } from "./logger.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { type Apps, createApps } from "./service/apps.ts";
import { type FirstKey, prepareFirstKey } from "./service/first-key.ts";
import { createJobs, type Jobs } from "./service/jobs.ts";
import { loopbackRanges } from "./service/loopback.ts";
import { createDeliveryObserver, logCall } from "./service/observer.ts";
import { createRouter } from "./service/router.ts";
import { settledWithin } from "./service/settled-within.ts";
import { bindingsText } from "./service/start-text.ts";
import { openStore, type Store } from "./service/store.ts";
import { checkVault } from "./service/vault-check.ts";
import { readVaultKeys } from "./service/vault-key.ts";
import { createStoreAlarm } from "./store-alarm.ts";
import { version } from "./version.ts";

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
  /** Where callers and apps reach the node: SVC_PUBLIC_URL, or where it listens. */
  publicUrl: () => string;
  logger: Logger;
  store: Store;
  catalog: Catalog;
  views: CatalogViews;
  apps: Apps;
  jobs: Jobs;
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
  const deploymentLoading = readDeployment(config);
  const catalogLoading = deploymentLoading.then((deployment) => readCatalog(config, deployment));
  // Reported where it is awaited; until then a failure is nobody's.
  catalogLoading.catch(() => {});
  const vaultKeys = await readVaultKeys(config);
  const store = await openStore(config, logger);
  opened.defer(() => store.close());
  const catalog = await catalogLoading;
  const deployment = await deploymentLoading;
  const bindings = bindingsText(config, catalog);
  if (bindings !== undefined) logger.info(bindings);
  const firstKey = await prepareFirstKey(config, store);
  const sealer = createSealer(vaultKeys);
  await checkVault(store.db, sealer);
  const listening = { url: "" };
  const publicUrl = () => config.publicUrl ?? listening.url;
  const node = createNode(config, logger, { store, catalog, deployment, sealer, publicUrl });
  opened.defer(() => node.keyUse.stop());
  opened.defer(() => node.apps.close());
  const shutdown = new AbortController();
  const ingest = config.role === "worker" ? undefined : createIngest({ ...node, db: store.db, clock: store.clock });
  const http = createHttp(node, { ingest, shutdownSignal: shutdown.signal, timeouts });
  const { port } = await http.listen(config);
  listening.url = `http://${isIPv6(config.host) ? `[${config.host}]` : config.host}:${port}`;
  opened.defer(startEngines(node));
  const closing = opened.move();
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await drain(node, { http, ingest, shutdown });
    await closing.disposeAsync();
  };
  return {
    url: listening.url,
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

async function readDeployment({ deploymentFile }: Config): Promise<Deployment | undefined> {
  return deploymentFile === undefined ? undefined : loadDeployment(deploymentFile);
}

function readCatalog({ toolkitFolders }: Config, deployment: Deployment | undefined): Promise<Catalog> {
  return loadCatalog({ folders: toolkitFolders, deployment });
}

function createNode(
  config: Config,
  logger: Logger,
  parts: Pick<Node, "store" | "catalog" | "sealer" | "publicUrl"> & { deployment: Deployment | undefined },
): Node {
  const { store, catalog, deployment, sealer, publicUrl } = parts;
  const { db, clock } = store;
  const nodeId = createId("node", clock.now());
  const views = createCatalogViews({
    catalog,
    db,
    clock,
    onBroken(projectId, toolkit, err) {
      logger.warn({ err, projectId, toolkit }, "a private toolkit breaks the rules of this version and is left out");
    },
    extraToolkits: (projectId) => readSkillToolkits(db, projectId),
  });
  const metrics = createMetrics({
    clock,
    countBacklog: () => countPendingDeliveries(db),
    dispatcher: () => dispatcher.stats(),
  });
  const guard = createAddressGuard({ allowedRanges: [...config.endpointRanges, ...loopbackRanges(config)] });
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
  // Skills are called like tools, and calling one begins a job, which calls tools.
  const callCode: CodeCaller = (call) => jobs.callSkill(call);
  const apps = createApps({ config, deployment, views, db, clock, sealer, logger, publicUrl, callCode });
  const { accounts, caller } = apps;
  const jobs = createJobs({ db, clock, sealer, nodeId, views, accounts, caller, guard, dispatcher, logger });
  return {
    config,
    publicUrl,
    logger,
    store,
    catalog,
    views,
    apps,
    jobs,
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
  const mapError = createCallErrorMapper(logger, onStoreAway);
  const { bodyBytesMax } = config;
  const router = createRouter({
    ...node,
    clock: store.clock,
    use: node.keyUse,
    adminToken: config.adminToken,
    mapError,
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
    pages: new Map([
      ...createPages({ ...node.apps, publicUrl: node.publicUrl, logger }),
      ...createSchemas({ program: programSchema }),
      ...createHome({ version }),
    ]),
    mcp: config.role === "worker" ? undefined : createMcp(node, { shutdownSignal, mapError, createRequestId }),
    isDraining: () => health.isDraining,
    clock: store.clock,
    logger,
    timeouts,
  });
}

/** The endpoint of agents. */
function createMcp(
  { config, store, keys, keyUse, apps, views, logger, metrics }: Node,
  parts: Pick<McpOptions, "shutdownSignal" | "mapError" | "createRequestId">,
): McpHandler {
  const { clock } = store;
  const authenticate = createAuthenticator({ keys, use: keyUse, clock, adminToken: config.adminToken });
  return createMcpHandler({
    ...parts,
    server: createMcpServer({ views, caller: apps.caller, version: version }),
    authenticate: (authorization) => authenticate(authorization ?? null),
    bodyBytesMax: config.bodyBytesMax,
    publicUrl: config.publicUrl,
    isLoopbackOnly: isLoopbackHost(config.host),
    onCall(call, durationMs) {
      metrics.called(call, durationMs);
      logCall(logger, call, durationMs);
    },
  });
}

function registerServices(router: ConnectRouter, node: Node): void {
  const { store, sealer, dispatcher, nodeId, health } = node;
  const { db, clock } = store;
  const services = () => new Set(router.handlers.map(({ service }) => service.typeName));
  router.service(HealthRpc, createHealthService({ health, clock, services }));
  if (node.config.role === "worker") return;
  const context = { ...node, db, clock, store: { clock, nodeId, dispatcher, routing: createRouting() } };
  router.service(IdentityService, createIdentityService({ db }));
  const { apps, views } = node;
  router.service(CatalogService, createCatalogService({ views, sealer, isOauthRegistered: apps.isOauthRegistered }));
  router.service(
    ConnectionsService,
    createConnectionsService({
      ...apps,
      views,
      db,
      clock,
      sealer,
      isSandbox: apps.sandbox !== undefined,
      publicUrl: node.publicUrl,
    }),
  );
  router.service(ToolsService, createToolsService({ ...apps, views, db, sealer }));
  node.jobs.register(router);
  router.service(TriggersService, createTriggersService(context));
  const quarantine = createQuarantine(context);
  router.service(
    AdminService,
    createAdminService({ db, clock, sealer, quarantine, onRevoked: (id) => node.keys.forget(id) }),
  );
}

/** Starts what works in the background, and returns what stops it. */
function startEngines({ config, dispatcher, apps, jobs, store, logger }: Node): () => Promise<void> {
  if (config.role === "api") return async () => {};
  dispatcher.start();
  apps.refresher.start();
  jobs.engine.start();
  const { eventRetentionMs, callRetentionMs, jobRowRetentionMs } = config;
  const onError = (err: unknown) => logger.warn({ err }, "retention failed and goes on");
  const retention = startRetention({ ...store, eventRetentionMs, onError });
  const callRetention = startCallRetention({ ...store, callRetentionMs, onError });
  const rowRetention = startRowRetention({ ...store, rowRetentionMs: jobRowRetentionMs, onError });
  return async () => {
    await Promise.all([retention.stop(), callRetention.stop(), rowRetention.stop(), apps.refresher.stop()]);
  };
}

type DrainParts = { http: HttpServer; ingest: Ingest | undefined; shutdown: AbortController };

/** Time to write the answers of calls that are ended. */
const answeringMs = 1_000;

/**
 * Requests get half of the time at most, deliveries what is left of all of it: first no post may be under way any more,
 * since each hands its first sends to the dispatcher. Calls of tools go on without their callers: what an app was sent is
 * waited for, so that its outcome is recorded.
 */
async function drain(
  { config, store, health, dispatcher, jobs, apps }: Node,
  { http, ingest, shutdown }: DrainParts,
): Promise<void> {
  const { clock } = store;
  const until = clock.now() + config.drainMs;
  health.drain();
  const requestsMs = config.drainMs / 2;
  const answered = new AbortController();
  const endsMs = Math.max(requestsMs / 2, requestsMs - answeringMs);
  const aborting = clock.wait(endsMs, answered.signal).then(() => shutdown.abort(endedUnderWay()));
  await http.close(requestsMs);
  answered.abort();
  await aborting;
  // Bounded: what a hanging store has not committed by then was answered 503, and its provider posts it again.
  await settledWithin(clock, until - clock.now(), ingest?.drain());
  const graceMs = Math.max(0, until - clock.now());
  const called = settledWithin(clock, graceMs, apps.caller.drain());
  await Promise.all([dispatcher.drain(graceMs), jobs.engine.drain(graceMs), called]);
}
