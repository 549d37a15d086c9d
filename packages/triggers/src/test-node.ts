import type { Client } from "@connectrpc/connect";
import type { Catalog } from "@svc/catalog";
import { createSealer, generateVaultKey, type NodeId, type ProjectId, parseVaultKeys, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { createProject } from "@svc/db/projects/repo";
import type { Restore } from "@svc/db/restores/repo";
import type { Dispatcher, DispatchLimits } from "@svc/delivery";
import { TriggersService } from "@svc/gen/triggers";
import { borrowTestDatabase } from "@svc/testing/borrowed-database";
import { catalogOf } from "@svc/testing/catalog";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { createTestNode as createNode, type TestNode as Node, type Told } from "@svc/testing/node";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import type { Ingest } from "./ingest.ts";
import type { Quarantine } from "./quarantine.ts";
import type { ReplayFaultPoint } from "./replays/step.ts";

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

/** One node as far as its tests look, its delivery engine at work or not. */
export type TriggerNode = AsyncDisposable & {
  readonly nodeId: NodeId;
  readonly dispatcher: Dispatcher;
  readonly ingest: Ingest;
  readonly quarantine: Quarantine;
  /** What the delivery engine told its observer of faults. */
  readonly failures: Told["failures"];
  readonly standing: Node["standing"];
  /** What agents are served. */
  readonly mcp: Node["mcp"];
  /** Steps of paced replays that it took. */
  readonly replaySteps: Told["replaySteps"];
  /** TriggersService for one project's key, over a Connect router. */
  client(projectId: ProjectId): Client<typeof TriggersService>;
};

/** How a node of a test differs from the default: sample catalog and secrets, loopback allowed, engine not started. */
export type TriggerNodeOptions = {
  catalog?: Catalog;
  secretOf?: (name: string) => string | undefined;
  limits?: Partial<DispatchLimits>;
  allowedRanges?: readonly string[];
  isStarted?: boolean;
  /** Whether paced replays go on, with each second of the clock. */
  isReplaying?: boolean;
  onReplayFaultPoint?: (point: ReplayFaultPoint) => void;
  /** The last restore of the store. */
  restored?: () => Restore | undefined;
};

/** Makes a node on a cluster. Disposed, it drains without grace. */
export function createTestNode({ db, clock, sealer }: TestCluster, options: TriggerNodeOptions = {}): TriggerNode {
  const node = createNode(db, {
    clock,
    sealer,
    catalog: options.catalog ?? sampleCatalog(),
    variable: options.secretOf ?? ((name) => sampleSecrets[name]),
    ranges: { endpoints: options.allowedRanges ?? ["127.0.0.0/8"], apps: [] },
    limits: { deliveries: { retryScheduleMs: [1_000, 1_000], ...options.limits } },
    engines: [
      ...(options.isStarted === true ? (["deliveries"] as const) : []),
      ...(options.isReplaying === true ? (["standing"] as const) : []),
    ],
    restored: options.restored,
    ...(options.onReplayFaultPoint && { onReplayFaultPoint: options.onReplayFaultPoint }),
  });
  return {
    ...node,
    failures: node.told.failures,
    replaySteps: node.told.replaySteps,
    client: (projectId) => node.client(TriggersService, { projectId, role: "member" }),
  };
}
