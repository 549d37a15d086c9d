import type { ConnectRouter } from "@connectrpc/connect";
import { type Catalog, type Deployment, loadCatalog, loadDeployment } from "@svc/catalog";
import { createId, createSealer, type NodeId, type ProjectId } from "@svc/core";
import { countPendingDeliveries } from "@svc/db";
import { AdminService } from "@svc/gen/admin";
import { ConsoleService } from "@svc/gen/console";
import { GrantsService } from "@svc/gen/grants";
import { Health as HealthRpc } from "@svc/gen/health";
import { IdentityService } from "@svc/gen/identity";
import { StatsService } from "@svc/gen/stats";
import { createNode, type Node, type NodeLimits, type NodeParts, programSchema, standingSchema } from "@svc/node";
import { createAdminService } from "./admin/service.ts";
import { type Admission, createAdmission } from "./admission/admission.ts";
import { figuresOfProjects } from "./admission/figures.ts";
import { type AuditLog, createAuditLog } from "./audit/log.ts";
import { startPlacing } from "./audit/start-placing.ts";
import { createAuthenticator } from "./auth/gate.ts";
import { createKeyCache, type KeyCache } from "./auth/key-cache.ts";
import { type KeyUse, startKeyUse } from "./auth/key-use.ts";
import { type OpenStreams, startOpenStreams } from "./auth/open-streams.ts";
import { createMcpDoor } from "./authorization/mcp-door.ts";
import { createGrantParts, type GrantParts, openAuthorization } from "./authorization/parts.ts";
import { createRequestIds } from "./calls/call.ts";
import { createCallErrorMapper } from "./calls/call-error.ts";
import { toConnectError } from "./calls/connect-error.ts";
import { type Config, isLoopbackHost } from "./config/config.ts";
import { consolePath } from "./console/headers.ts";
import { type ConsoleParts, createConsoleParts, openConsole, readBuiltConsole } from "./console/parts.ts";
import type { BuiltConsole } from "./console/read-files.ts";
import { createConsoleService } from "./console/service.ts";
import { endedUnderWay } from "./errors.ts";
import { createGrantsService } from "./grants/service.ts";
import { createHealth, type Health } from "./health/health.ts";
import { createHealthService } from "./health/service.ts";
import { bodyBudgetBytes, createBodyBudget } from "./http/body-budget.ts";
import { createClientAddresses } from "./http/client-address.ts";
import { type Connections, createConnections } from "./http/connections.ts";
import { createDoor } from "./http/door.ts";
import { createHome } from "./http/home.ts";
import { createHttpServer, type HttpTimeouts } from "./http/http-server.ts";
import { createIntake, type Intake, keylessBodyBytesMax } from "./http/intake.ts";
import { joinListeners, type Listeners } from "./http/listeners.ts";
import { createMcpHandler, type McpHandler, type McpOptions } from "./http/mcp.ts";
import { createPages } from "./http/pages.ts";
import { createProbes } from "./http/probes.ts";
import { createRouter } from "./http/router.ts";
import { createRpcHandler } from "./http/rpc.ts";
import { createSchemas } from "./http/schemas.ts";
import { openTls, type Tls } from "./http/tls.ts";
import { createWebhookHandler } from "./http/webhooks.ts";
import { createIdentityService } from "./identity/service.ts";
import type { Logger } from "./logger.ts";
import { createMetrics } from "./metrics/metrics.ts";
import type { Metrics } from "./metrics/types.ts";
import { createNodeObserver, logCall } from "./observer.ts";
import type { ProcessShare } from "./processes/share.ts";
import { isAudienceDeclared } from "./start/audience.ts";
import { firstConsoleLink } from "./start/console-link.ts";
import type { FirstKey } from "./start/first-key.ts";
import { nodePartsOf } from "./start/node-parts.ts";
import { prepareDeployment, withAudience } from "./start/prepare.ts";
import { openRestored, type RestoredStore } from "./start/restored.ts";
import { bindingsText } from "./start/start-text.ts";
import { joinStore, openStore, type Store } from "./start/store.ts";
import { createCounters } from "./stats/counters.ts";
import { type Flush, startFlush } from "./stats/flush.ts";
import { countActivity } from "./stats/observe.ts";
import { createStatsService } from "./stats/service.ts";
import { createWatches } from "./stats/watches.ts";
import { createStoreAlarm } from "./store-alarm.ts";
import { keySourceOf } from "./vault/key-source.ts";
import type { VaultLimits } from "./vault/limits.ts";
import { openVault, type Vault } from "./vault/open-vault.ts";
import { version } from "./version.ts";

/** A running server. */
export type Server = {
  /** Where it listens. */
  readonly url: string;
  /** Where it listens for administration and metrics alone; undefined while that is `url`. */
  readonly adminUrl: string | undefined;
  /** The key that this start made, shown once; undefined when it made none. */
  readonly firstKey: FirstKey | undefined;
  /** The address of the console; undefined where none is served. */
  readonly consoleUrl: string | undefined;
  /** Makes a link that opens the console once, with the seat of the first key: see `firstConsoleLink`. */
  createConsoleLink(): Promise<string | undefined>;
  readonly nodeId: NodeId;
  /** Rejects when the server cannot go on: its embedded PostgreSQL ended. Never resolves. */
  readonly failed: Promise<never>;
  /** Reads the files of SVC_TLS_CERT and SVC_TLS_KEY again, where they are set. Never rejects: what is wrong is logged. */
  reloadTls(): Promise<void>;
  /** Finishes what is in flight for up to `drainMs` of the configuration, gives leases back and closes the store. */
  stop(): Promise<void>;
};

/**
 * Options of `startServer`. `onLoaded` is waited for when everything is loaded and nothing is listened to yet. `share` is what one of several
 * processes has from their supervisor, which opened and prepared the store. For tests: `catalog` is one that is loaded already, in place of the configuration's definitions, and `consoleFolder` has the built files of the
 * console in place of those of the checkout, `mcpOffers` is as of a node, `vaultLimits` and `erasures` are times that differ from a service's.
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

/** What the adapters of a server share: its node, and what HTTP needs beside it. */
type ServerParts = {
  config: Config;
  /** Where callers and apps reach the node: SVC_PUBLIC_URL, or where it listens. */
  publicUrl: () => string;
  logger: Logger;
  store: Store;
  vault: Vault;
  node: Node;
  connections: Connections;
  intake: Intake;
  metrics: Metrics;
  health: Health;
  keys: KeyCache;
  keyUse: KeyUse;
  grants: GrantParts;
  streams: OpenStreams;
  /** Undefined where nothing is counted. */
  activity: Flush | undefined;
  admission: Admission;
  audit: AuditLog;
  tls: Tls | undefined;
  /** Undefined where no console is served. */
  console: ConsoleParts | undefined;
};

/**
 * Starts a server: store, migrations, catalog, then the node and, last, HTTP: what is listened to is ready.
 * Rejects, having closed what it opened, with the error of the part that cannot run.
 */
export async function startServer(told: Config, options: ServerOptions): Promise<Server> {
  const { logger, timeouts, catalog: loaded, share } = options;
  await using opened = new AsyncDisposableStack();
  const deploymentLoading = readDeployment(told);
  const catalogLoading = deploymentLoading.then((deployment) => loaded ?? readCatalog(told, deployment));
  // Reported where it is awaited; until then a failure is nobody's.
  catalogLoading.catch(() => {});
  const vaultKeys = keySourceOf(told);
  const sealer = createSealer(await vaultKeys.read());
  const tls = told.tls === undefined ? undefined : await openTls(told.tls, logger);
  opened.defer(() => tls?.stop());
  const store = share === undefined ? await openStore(told, logger) : await joinHeldStore(share, logger);
  opened.defer(() => store.close());
  const read = await catalogLoading;
  const deployment = await deploymentLoading;
  const { audience, firstKey } = share ?? (await prepareDeployment(told, { store, sealer, logger }));
  const config = withAudience(told, audience);
  const vault = await openVault({
    ...{ db: store.db, clock: store.clock, logger, keys: vaultKeys },
    nodeId: createId("node", store.clock.now()),
    isRotating: config.role !== "api",
    limits: options.vaultLimits,
  });
  opened.defer(() => vault.stop());
  const restored = await openRestored(store, logger);
  opened.defer(() => restored.stop());
  const catalog = audience === undefined ? read : await readCatalog(config, deployment);
  const bindings = bindingsText(config, catalog);
  if (bindings !== undefined && (share === undefined || share.isFirst)) logger.info(bindings);
  const listening = { url: "" };
  const publicUrl = () => config.publicUrl ?? listening.url;
  const built = await readBuiltConsole(config, options.consoleFolder);
  const parts = createParts({
    ...{ config, logger, store, catalog, deployment, vault, restored, tls, publicUrl, share, built },
    mcpOffers: options.mcpOffers,
    erasures: options.erasures,
  });
  const { node } = parts;
  if (config.role !== "api") {
    const placing = startPlacing({ ...store, sealer: vault.sealer, logger });
    opened.defer(() => placing.stop());
  }
  opened.defer(() => parts.streams.stop());
  opened.defer(() => parts.grants.documents.close());
  opened.defer(() => parts.keyUse.stop());
  // After the node: what ends with it is counted.
  opened.defer(() => parts.activity?.stop());
  opened.defer(() => node.close());
  const shutdown = new AbortController();
  const http = createHttp(parts, { shutdownSignal: shutdown.signal, timeouts });
  await options.onLoaded?.();
  const { url, adminUrl } = await http.listen(await share?.takePorts());
  listening.url = url;
  node.start(restored.released);
  const closing = opened.move();
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await drain(parts, { http, shutdown });
    await closing.disposeAsync();
  };
  return {
    url,
    adminUrl,
    firstKey,
    consoleUrl: built && `${publicUrl()}${consolePath}`,
    createConsoleLink: async () => built && firstConsoleLink(config, { ...store, publicUrl }),
    nodeId: node.nodeId,
    failed: store.failed,
    reloadTls: async () => tls?.reload(),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

/** The store of the supervisor, which tells by the end of its channel that it is gone. */
async function joinHeldStore({ store }: ProcessShare, logger: Logger): Promise<Store> {
  return { ...(await joinStore(store, logger)), failed: new Promise<never>(() => {}) };
}

async function readDeployment({ deploymentFile }: Config): Promise<Deployment | undefined> {
  return deploymentFile === undefined ? undefined : loadDeployment(deploymentFile);
}

function readCatalog(
  { toolkitFolders, webhookAudience }: Config,
  deployment: Deployment | undefined,
): Promise<Catalog> {
  return loadCatalog({ folders: toolkitFolders, deployment, audience: webhookAudience });
}

type Opened = Pick<ServerParts, "config" | "logger" | "store" | "vault" | "tls" | "publicUrl"> & {
  catalog: Catalog;
  restored: RestoredStore;
  deployment: Deployment | undefined;
  share: ProcessShare | undefined;
  built: BuiltConsole | undefined;
  mcpOffers: NodeParts["mcpOffers"];
  erasures: NodeLimits["erasures"];
};

function createParts({ catalog, restored, deployment, ...told }: Opened): ServerParts {
  const { share, built, mcpOffers, erasures, ...opened } = told;
  const { config, logger, store, vault, publicUrl } = opened;
  const { sealer } = vault;
  const { db, clock } = store;
  const connections = createConnections({
    max: Math.ceil(config.connectionsMax / config.processes),
    perAddressMax: Math.ceil(config.connectionsPerAddressMax / config.processes),
    addresses: createClientAddresses(config.trustedProxies),
  });
  const bodies = createBodyBudget({ clock, bytesMax: bodyBudgetBytes(config.bodyBytesMax) });
  const admission = createAdmission({ clock });
  const own = createMetrics({
    clock,
    projects: () => figuresOfProjects(admission, node.ingest.quotas),
    countBacklog: () => countPendingDeliveries(db),
    dispatcher: () => node.dispatcher.stats(),
    connections: () => connections.stats(),
    bodies: () => bodies.stats(),
    spentMs: () => node.meter.spentMs(),
    memory: () => node.meter.memory.stats(),
  });
  share?.answerMetrics(own.values);
  const metrics = share === undefined ? own : { ...own, text: share.sumMetrics };
  const counters = createCounters({ clock });
  const observer = createNodeObserver(logger, metrics);
  const node: Node = createNode({
    ...nodePartsOf(config, erasures),
    ...{ db, clock, sealer, nodeId: vault.nodeId, catalog, deployment, publicUrl, version, mcpOffers },
    restored: restored.last,
    // A worker serves none, and tells people where it is.
    ...(config.isConsoleOn && { consoleUrl: () => `${publicUrl()}${consolePath}` }),
    observer: config.isActivityCounted ? countActivity(observer, counters) : observer,
  });
  const keyUse = startKeyUse({
    db,
    clock,
    onError: (err) => logger.warn({ err }, "the use of keys could not be noted"),
  });
  return {
    ...opened,
    node,
    connections,
    intake: createIntake({ connections, bodies }),
    metrics,
    admission,
    audit: createAuditLog({
      ...{ db, clock, sealer },
      onError: (err) => logger.warn({ err }, "the outcome of a call could not be noted in the audit log"),
    }),
    health: createHealth({ db, clock }),
    keys: createKeyCache({ db, clock }),
    keyUse,
    grants: createGrantParts({ config, db, clock, publicUrl }),
    streams: startOpenStreams({
      clock,
      onError: (err) => logger.warn({ err }, "open streams could not be looked after"),
    }),
    activity: config.isActivityCounted
      ? startFlush({ db, clock, counters, onError: (err) => logger.warn({ err }, "counts could not be added") })
      : undefined,
    console: built && createConsoleParts({ ...opened, ...store, built, use: keyUse }),
  };
}

type HttpParts = { shutdownSignal: AbortSignal; timeouts: HttpTimeouts | undefined };

function createHttp(parts: ServerParts, { shutdownSignal, timeouts }: HttpParts): Listeners {
  const { config, logger, metrics, health, store, node, admission, tls, intake, connections } = parts;
  const { apps, ingest } = node;
  const createRequestId = createRequestIds(node.nodeId);
  const onStoreAway = createStoreAlarm(logger, store.clock);
  const mapError = createCallErrorMapper(logger, onStoreAway);
  const { bodyBytesMax, adminListen, publicUrl, hosts } = config;
  const isWorker = config.role === "worker";
  const { clock } = store;
  const router = createRouter({
    keys: parts.keys,
    clock: store.clock,
    sealer: parts.vault.sealer,
    use: parts.keyUse,
    adminToken: config.adminToken,
    sessions: parts.console?.sessions,
    streams: parts.streams,
    mapError,
    admission,
    audit: parts.audit,
    turns: node.meter.turns,
    bodyBytesMax,
    shutdownSignal,
    register: (target) => registerServices(target, parts),
  });
  const onCall: McpOptions["onCall"] = (call, durationMs) => {
    metrics.called(call, durationMs);
    logCall(logger, call, durationMs);
  };
  const rpcOf = (serves: (service: string) => boolean) =>
    createRpcHandler({
      router,
      intake,
      serves,
      bodyBytesMax,
      createRequestId,
      proofOf: parts.console?.origin.proofOf,
      meter: node.meter,
      logger,
      onCall,
    });
  const shared = { tls, connections, isDraining: () => health.isDraining, clock, logger, timeouts };
  const doorOf = (host: string) =>
    createDoor({ publicUrl, hosts, isLoopbackOnly: isLoopbackHost(host), clock, logger });
  const isApart = adminListen !== undefined;
  const main = createHttpServer({
    ...shared,
    door: doorOf(config.host),
    // Health stays where the traffic is: that is what a balancer asks about.
    rpc: rpcOf((service) => !isApart || service !== AdminService.typeName),
    webhooks: isWorker
      ? undefined
      : createWebhookHandler({
          ...{ ingest, intake, bodyBytesMax, createRequestId, logger, onStoreAway },
          onPost: metrics.posted,
        }),
    probes: createProbes({ health, metrics: isApart ? undefined : metrics }),
    pages: new Map([
      ...createPages({ ...apps, publicUrl: parts.publicUrl, intake, logger, audit: parts.audit }),
      ...createSchemas({ program: programSchema, standing: standingSchema }),
      ...createHome({ version }),
      ...(isWorker ? [] : openAuthorization({ ...parts, ...store, sealer: parts.vault.sealer, mapError })),
    ]),
    mcp: isWorker ? undefined : createMcp(parts, { shutdownSignal, mapError, createRequestId, onCall }),
    console: openConsole({ ...parts, ...store, limit: parts.grants.signInLimit, mapError }),
  });
  const admin = isApart
    ? createHttpServer({
        ...shared,
        door: doorOf(adminListen.host),
        rpc: rpcOf((service) => service === AdminService.typeName || service === HealthRpc.typeName),
        probes: createProbes({ health, metrics }),
        webhooks: undefined,
        pages: new Map(),
        mcp: undefined,
        console: undefined,
      })
    : undefined;
  return joinListeners(config, { main, admin });
}

/** The endpoint of agents. */
function createMcp(
  { config, store, vault, keys, keyUse, grants, node, admission, intake, audit }: ServerParts,
  parts: Pick<McpOptions, "shutdownSignal" | "mapError" | "createRequestId" | "onCall">,
): McpHandler {
  const { clock } = store;
  return createMcpHandler({
    ...parts,
    ...{ admission, audit },
    server: node.mcp,
    meter: node.meter,
    door: createMcpDoor({
      ...{ ...grants, use: keyUse, clock, sealer: vault.sealer },
      authenticate: createAuthenticator({
        ...{ keys, use: keyUse, clock, sealer: vault.sealer },
        adminToken: config.adminToken,
      }),
    }),
    intake,
    bodyBytesMax: config.bodyBytesMax,
  });
}

/** The services of the node, and those that are the server's own: health, identity and administration. */
function registerServices(router: ConnectRouter, parts: ServerParts): void {
  const { config, store, vault, node, health, keys, admission } = parts;
  const { sealer } = vault;
  const { db, clock } = store;
  const services = () => new Set(router.handlers.map(({ service }) => service.typeName));
  router.service(HealthRpc, createHealthService({ health, clock, services }), {
    // Options of a service of its own do not inherit which protocols are off.
    ...{ grpc: false, grpcWeb: false },
    readMaxBytes: keylessBodyBytesMax,
  });
  if (config.role === "worker") return;
  router.service(IdentityService, createIdentityService({ db, config, publicUrl: parts.publicUrl }));
  const { publicUrl } = parts;
  router.service(ConsoleService, createConsoleService({ db, clock, publicUrl, sessions: parts.console?.sessions }));
  const onChanged = parts.grants.cache.forget;
  router.service(GrantsService, createGrantsService({ db, clock, sealer, onChanged }));
  node.register(router);
  router.service(StatsService, createStatsService({ db, clock, watches: createWatches({ db, clock }) }));
  const { quarantine, jobs, views, nodeId } = node;
  const forgetProject = (id: ProjectId) => {
    keys.forgetProject(id);
    parts.grants.cache.forgetProject(id);
    parts.console?.sessions.forget({ project: id });
  };
  router.service(
    AdminService,
    createAdminService({
      ...{ db, clock, sealer, quarantine, jobs, nodeId, admission },
      rotateVault: vault.rotate,
      catalog: views.shared,
      posts: node.ingest.quotas,
      isOpenToProjects: isAudienceDeclared(config),
      onRevoked(id) {
        keys.forget(id);
        parts.grants.cache.forget(id);
        parts.console?.sessions.forget({ key: id });
      },
      onQuotas: forgetProject,
      onKeysEnded: forgetProject,
    }),
  );
}

type DrainParts = { http: Listeners; shutdown: AbortController };

/** Time to write the answers of calls that are ended. */
const answeringMs = 1_000;

/** Requests get half of the time at most, what the node has under way what is left of all of it. */
async function drain({ config, store, health, node }: ServerParts, { http, shutdown }: DrainParts): Promise<void> {
  const { clock } = store;
  const until = clock.now() + config.drainMs;
  health.drain();
  const requestsMs = config.drainMs / 2;
  const answered = new AbortController();
  const endsMs = Math.max(requestsMs / 2, requestsMs - answeringMs);
  const aborting = clock.wait(endsMs, answered.signal).then(() => shutdown.abort(toConnectError(endedUnderWay())));
  await http.close(requestsMs);
  answered.abort();
  await aborting;
  await node.drain(until - clock.now());
}
