import { type Client, Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import type { Catalog } from "@svc/catalog";
import { catalogOf, sampleToolkits } from "@svc/catalog/testing";
import {
  createAddressGuard,
  createId,
  createSealer,
  generateVaultKey,
  type NodeId,
  type ProjectId,
  parseVaultKeys,
  principalContext,
  type Sealer,
} from "@svc/core";
import { createTestClock, type TestClock } from "@svc/core/testing";
import { createProject, type Database } from "@svc/db";
import { createDispatcher, type Dispatcher, type DispatchLimits } from "@svc/delivery";
import { borrowTestDatabase } from "@svc/delivery/testing";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { TriggersService } from "@svc/gen/triggers";
import { createIngest, type Ingest } from "./ingest.ts";
import { createQuarantine, type Quarantine } from "./quarantine.ts";
import { createRouting } from "./routing.ts";
import { createTriggersService } from "./service.ts";

/** What the nodes of one test share: database, clock and vault key. */
export type TestCluster = AsyncDisposable & {
  readonly db: Database;
  readonly clock: TestClock;
  readonly sealer: Sealer;
  /** Adds a project. */
  project(name?: string): Promise<ProjectId>;
  /** How many rows a table has. */
  count(table: CountedTable): Promise<number>;
};

type CountedTable = "events" | "deliveries" | "delivery_tasks" | "quarantined_posts" | "subscriptions";

/** Makes an empty database with the schema; the clock stands still until the test moves it. */
export async function createTestCluster(): Promise<TestCluster> {
  const database = await borrowTestDatabase();
  const { db } = database;
  const clock = createTestClock();
  let projects = 0;
  return {
    db,
    clock,
    sealer: createSealer(parseVaultKeys(generateVaultKey())),
    async project(name = `project-${++projects}`) {
      return (await createProject(db, name, clock.now())).id;
    },
    async count(table) {
      const [row] = await db.sql<{ count: number }[]>`select count(*)::int4 as count from ${db.sql(table)}`;
      return row?.count ?? 0;
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** Every sample toolkit; every webhook's audience is every project, unless the deployment says otherwise. */
export function sampleCatalog(deployment?: object): Catalog {
  const toolkits = Object.values(sampleToolkits);
  return catalogOf(deployment === undefined ? { toolkits } : { toolkits, deployment });
}

/** The same with audience `accounts`, as with a deployment file that says nothing of webhooks. */
export function accountsCatalog(): Catalog {
  const bindings = { provider_base_url: "https://api.example.com", auth_url: "https://auth.example.com" };
  const payments = {
    ...bindings,
    token_url: "https://auth.example.com/token",
    scope_base: "https://scopes.example.com",
  };
  return sampleCatalog({ toolkits: { payments } });
}

/** The secrets of the sample toolkits, by variable. */
export const sampleSecrets: Record<string, string> = {
  SVC_WEBHOOK_SECRET_CODE_HOST: "code-host-secret",
  SVC_WEBHOOK_SECRET_PAYMENTS: "payments-secret",
  SVC_WEBHOOK_SECRET_TEAM_CHAT: "team-chat-secret",
  SVC_WEBHOOK_SECRET_WATCHER: "watcher-token",
};

/** One node: ingest, quarantine, service and delivery engine, put together as the service does. */
export type TestNode = AsyncDisposable & {
  readonly nodeId: NodeId;
  readonly dispatcher: Dispatcher;
  readonly ingest: Ingest;
  readonly quarantine: Quarantine;
  /** What the delivery engine told its observer of faults. */
  readonly failures: { what: string; error: unknown }[];
  /** TriggersService for one project's key, over a Connect router. */
  client(projectId: ProjectId): Client<typeof TriggersService>;
};

/** How a node of a test differs from the default: sample catalog and secrets, loopback allowed, engine not started. */
export type TestNodeOptions = {
  catalog?: Catalog;
  secretOf?: (name: string) => string | undefined;
  limits?: Partial<DispatchLimits>;
  allowedRanges?: readonly string[];
  isStarted?: boolean;
};

/** Makes a node on a cluster. Disposed, it drains without grace. */
export function createTestNode(cluster: TestCluster, options: TestNodeOptions = {}): TestNode {
  const { db, clock, sealer } = cluster;
  const { catalog = sampleCatalog(), secretOf = (name) => sampleSecrets[name] } = options;
  const nodeId = createId("node", clock.now());
  const guard = createAddressGuard({ allowedRanges: options.allowedRanges ?? ["127.0.0.0/8"] });
  const failures: { what: string; error: unknown }[] = [];
  const dispatcher = createDispatcher({
    db,
    clock,
    sealer,
    guard,
    nodeId,
    observer: {
      attempted: () => {},
      leasesLost: () => {},
      failed: (what, error) => failures.push({ what, error }),
    },
    limits: { endpointConcurrency: 16, retryScheduleMs: [1_000, 1_000], ...options.limits },
    random: () => 0.5,
  });
  if (options.isStarted === true) dispatcher.start();
  const ingest = createIngest({ db, catalog, clock, sealer, nodeId, dispatcher, secretOf });
  const store = { clock, nodeId, routing: createRouting(), dispatcher };
  const context = { db, catalog, clock, sealer, guard, dispatcher, store, secretOf };
  return {
    nodeId,
    dispatcher,
    ingest,
    failures,
    quarantine: createQuarantine(context),
    client: (projectId) => createProjectClient(createTriggersService(context), projectId),
    async [Symbol.asyncDispose]() {
      await ingest.drain();
      await dispatcher.drain(0);
    },
  };
}

/** How a call was refused, once it was; a call that succeeds is a fault of the test. */
export async function refusalOf(call: Promise<unknown>): Promise<{ code: string; reason: string; field: string }> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => ConnectError.from(cause),
  );
  if (error === undefined) throw new Error("the call was not refused");
  const [detail] = error.findDetails(ErrorDetailSchema);
  return { code: Code[error.code], reason: detail?.reason ?? "", field: detail?.field ?? "" };
}

/** The auth gate's part is played by an interceptor: it names the calling project. */
function createProjectClient(service: ReturnType<typeof createTriggersService>, projectId: ProjectId) {
  const keyId = createId("key", 0);
  const transport = createRouterTransport(({ service: register }) => register(TriggersService, service), {
    router: {
      interceptors: [
        (next) => (req) => {
          req.contextValues.set(principalContext, { kind: "project", projectId, keyId, role: "member" });
          return next(req);
        },
      ],
    },
  });
  return createClient(TriggersService, transport);
}
