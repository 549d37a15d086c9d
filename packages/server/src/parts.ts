import { appNamesOf, type Catalog, type Deployment } from "@svc/catalog";
import type { KeyId } from "@svc/core";
import { readDeploymentHealth } from "@svc/db/activity/health";
import { countSourcesWithChanges } from "@svc/db/catalog/watched-sources";
import { countPortalSessions } from "@svc/db/console/portal";
import { countPacedDeliveries, countPendingDeliveries } from "@svc/db/deliveries/repo";
import { createNode, type Node, type NodeLimits, type NodeParts } from "@svc/node";
import { type Admission, createAdmission } from "./admission/admission.ts";
import { figuresOfProjects } from "./admission/figures.ts";
import { type AuditLog, createAuditLog } from "./audit/log.ts";
import { createKeyCache, type KeyCache } from "./auth/key-cache.ts";
import { type KeyUse, startKeyUse } from "./auth/key-use.ts";
import { type OpenCalls, startOpenCalls } from "./auth/open-calls.ts";
import { createGrantParts, type GrantParts } from "./authorization/parts.ts";
import { bodyBudgetBytes, createBodyBudget } from "./body/body-budget.ts";
import { createIntake, type Intake } from "./body/intake.ts";
import type { Config } from "./config/settings.ts";
import { consolePath, ofCell, portalPath } from "./console/headers.ts";
import { type ConsoleParts, createConsoleParts } from "./console/parts.ts";
import type { BuiltConsole } from "./console/read-files.ts";
import { createHealth, type Health } from "./health/health.ts";
import { createClientAddresses } from "./listen/client-address.ts";
import { type Connections, createConnections } from "./listen/connections.ts";
import type { Tls } from "./listen/tls.ts";
import type { Logger } from "./logger.ts";
import { createMetrics } from "./metrics/metrics.ts";
import type { Metrics } from "./metrics/types.ts";
import { createNodeObserver } from "./observer.ts";
import { openPeople, type People, type PeopleOptions } from "./people/people.ts";
import { createIdentityProvider } from "./people/provider.ts";
import type { ProcessShare } from "./processes/share.ts";
import { nodePartsOf } from "./start/node-parts.ts";
import type { RestoredStore } from "./start/prepare.ts";
import type { Store } from "./start/store.ts";
import { createCounters } from "./stats/counters.ts";
import { countFailures, createFailureCounters } from "./stats/failures.ts";
import { type Flush, startFlush } from "./stats/flush.ts";
import { countActivity } from "./stats/observe.ts";
import { createExplain } from "./stats/trace/explain.ts";
import type { Vault } from "./vault/open-vault.ts";
import { version } from "./version.ts";

/** Objects that several parts of a server share: its node (which does the work of svc), and the other objects that HTTP requests need. */
export type ServerParts = {
  config: Config;
  /** Returns the address at which callers and apps reach the node: SVC_PUBLIC_URL, or the listening address. */
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
  openCalls: OpenCalls;
  /** Loop that stores activity counts in the database. Undefined if activity is not counted. */
  activity: Flush | undefined;
  admission: Admission;
  audit: AuditLog;
  tls: Tls | undefined;
  /** Objects of the console. Undefined if the console is not served. */
  console: ConsoleParts | undefined;
  /** People who sign in with company accounts. Undefined if the deployment has no identity provider. */
  people: People | undefined;
};

/**
 * Resources that must be open before the objects of the server are created, such as the database and the vault (the store of encrypted
 * credentials).
 */
export type OpenedStore = Pick<ServerParts, "config" | "logger" | "store" | "vault" | "tls" | "publicUrl"> & {
  catalog: Catalog;
  restored: RestoredStore;
  deployment: Deployment | undefined;
  share: ProcessShare | undefined;
  built: BuiltConsole | undefined;
  mcpOffers: NodeParts["mcpOffers"];
  erasures: NodeLimits["erasures"];
};

/**
 * Creates the shared objects from the open resources: the node, and the other objects that HTTP needs. The node does not listen or work
 * yet.
 */
export function createParts(base: OpenedStore): ServerParts {
  const { share, built, config, logger, store, vault, publicUrl, tls } = base;
  const { sealer } = vault;
  const { db, clock } = store;
  const opened = { config, logger, store, vault, publicUrl, tls };
  const gates = createGates(config, store);
  const own = createMetrics({
    clock,
    countBacklog: () => countPendingDeliveries(db),
    countPaced: () => countPacedDeliveries(db, clock.now()),
    countPortalSessions: () => countPortalSessions(db, clock.now()),
    countChangesWaiting: () => countSourcesWithChanges(db, changesCountMax),
    readHealth: () => readDeploymentHealth(db, clock.now()),
    isShared: (slug) => base.catalog.toolkits.has(slug),
    // With several processes, the sum of their metrics has no exemplars.
    isTraced: config.tracing !== undefined && share === undefined,
    ...figuresOf(gates, () => node),
  });
  share?.answerMetrics(own.values);
  const metrics = share === undefined ? own : { ...own, text: share.sumMetrics };
  const counters = createCounters({ clock });
  const failures = createFailureCounters({ clock });
  const observer = createNodeObserver(logger, metrics);
  const counted = config.isActivityCounted
    ? countFailures(countActivity(observer, counters), failures, appNamesOf(base.catalog))
    : observer;
  const node = createOwnNode(base, counted, (ids) => forgetKeys(parts)(ids));
  const warnOf = (what: string) => (err: unknown) => logger.warn({ err }, what);
  const keyUse = startKeyUse({ db, clock, onError: warnOf("the use of keys could not be recorded") });
  const { connections, bodies, admission } = gates;
  const audit = createAuditLog({
    ...{ db, clock, sealer },
    onError: warnOf("the outcome of a call could not be recorded in the audit log"),
  });
  const parts: ServerParts = {
    ...{ ...opened, node, connections, metrics, admission, keyUse },
    intake: createIntake({ connections, bodies }),
    audit,
    health: createHealth({ db, clock }),
    keys: createKeyCache({ db, clock }),
    grants: createGrantParts({ config, db, clock, publicUrl }),
    openCalls: startOpenCalls({ clock, onError: warnOf("open calls could not be checked") }),
    activity: config.isActivityCounted
      ? startFlush({ db, clock, counters, failures, sealer, onError: warnOf("counts could not be written") })
      : undefined,
    console: built && createConsoleParts({ ...opened, ...store, built, use: keyUse }),
    people: openOwnPeople(config, {
      ...{ db, clock, sealer, audit, secrets: node.deploymentSecrets },
      onEnded: (keys, person) => {
        forgetKeys(parts)(keys);
        parts.console?.sessions.forget({ person });
      },
      onError: warnOf("the identity provider could not be asked about a person"),
    }),
  };
  return parts;
}

/** Returns a function that removes ended keys from the caches of this node at once. */
export function forgetKeys({
  keys,
  grants,
  console,
}: Pick<ServerParts, "keys" | "grants" | "console">): (ids: readonly KeyId[]) => void {
  return (ids) => {
    for (const id of ids) {
      keys.forget(id);
      grants.cache.forget(id);
      console?.sessions.forget({ key: id });
    }
  };
}

/** Opens the people who sign in with company accounts; undefined if the deployment has no identity provider. */
function openOwnPeople(
  { oidc: settings, role, environment, providerRanges: allowedRanges, sessionMaxMs }: Config,
  {
    secrets,
    ...options
  }: Omit<PeopleOptions, "settings" | "sessionMaxMs" | "provider"> & { readonly secrets: Node["deploymentSecrets"] },
): People | undefined {
  if (settings === undefined || role === "worker") return undefined;
  const secret = async () =>
    environment.get("SVC_OIDC_CLIENT_SECRET")?.trim() || (await secrets.find("oidc_client_secret"));
  const provider = createIdentityProvider(settings, { clock: options.clock, secret, allowedRanges });
  return openPeople({ ...options, settings, sessionMaxMs, provider });
}

/** Limits that are checked before svc does any work for a caller. */
type Gates = Pick<ServerParts, "connections" | "admission"> & { readonly bodies: ReturnType<typeof createBodyBudget> };

function createGates(config: Config, { clock }: Store): Gates {
  return {
    connections: createConnections({
      max: Math.ceil(config.connectionsMax / config.processes),
      perAddressMax: Math.ceil(config.connectionsPerAddressMax / config.processes),
      addresses: createClientAddresses(config.trustedProxies),
    }),
    bodies: createBodyBudget({ clock, bytesMax: bodyBudgetBytes(config.bodyBytesMax) }),
    admission: createAdmission({ clock }),
  };
}

/** Returns the functions from which the gauges of `/metrics` read the current state of this node, such as its open connections. */
/** Number at which the count of toolkits with waiting changes stops. */
const changesCountMax = 10_000;

function figuresOf({ connections, bodies, admission }: Gates, nodeOf: () => Node) {
  return {
    projects: () => figuresOfProjects(admission, nodeOf().ingest.quotas),
    dispatcher: () => nodeOf().dispatcher.stats(),
    upstreamSessions: () => nodeOf().apps.countUpstreamSessions(),
    connections: () => connections.stats(),
    bodies: () => bodies.stats(),
    spentMs: () => nodeOf().meter.spentMs(),
    memory: () => nodeOf().meter.memory.stats(),
  };
}

function createOwnNode(
  opened: OpenedStore,
  observer: NodeParts["observer"],
  onKeysEnded: NodeParts["onKeysEnded"],
): Node {
  const { config, store, vault, publicUrl, restored, erasures, catalog, deployment, mcpOffers, share } = opened;
  const node = createNode({
    ...nodePartsOf(config, erasures),
    ...{ db: store.db, clock: store.clock, sealer: vault.sealer, nodeId: vault.nodeId },
    ...{ catalog, deployment, publicUrl, version, mcpOffers, observer, onKeysEnded },
    explain: createExplain({
      ...{ db: store.db, clock: store.clock, sealer: vault.sealer },
      messageOf: (call) => node.apps.ledger.openMessage(call),
      appNames: appNamesOf(catalog),
    }),
    ...{ restored: restored.last, cell: config.cell },
    onDueElsewhere: share?.tellWorkDue,
    // A worker node does not serve the console, but it sends the console's address to people.
    ...(config.isConsoleOn && {
      consoleUrl: () => `${publicUrl()}${ofCell(consolePath, config.cell)}`,
      portalUrl: () => `${publicUrl()}${ofCell(portalPath, config.cell)}`,
    }),
  });
  share?.onWorkDue(() => node.wake());
  return node;
}
