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

/** Database, clock and vault key that the nodes of one test share. */
export type TestCluster = AsyncDisposable & {
  readonly db: Database;
  readonly clock: TestClock;
  readonly sealer: Sealer;
  /** Adds a project and returns its id. */
  project(name?: string): Promise<ProjectId>;
  /** Returns the number of rows in a table. */
  count(table: CountedTable): Promise<number>;
};

type CountedTable = "events" | "deliveries" | "delivery_tasks" | "quarantined_posts" | "subscriptions";

/** Creates a test cluster: an empty database with svc's tables, and a clock that only the test moves. */
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

/**
 * Returns a catalog with every sample toolkit (app). All projects receive the webhook posts of every app, unless `deployment` says
 * otherwise.
 */
export function sampleCatalog(deployment?: object): Catalog {
  const toolkits = Object.values(sampleToolkits);
  return catalogOf(deployment === undefined ? { toolkits } : { toolkits, deployment });
}

/**
 * Returns the sample catalog in which only projects with a matching account receive webhook posts. This is the default of a deployment file
 * (audience `accounts`).
 */
export function accountsCatalog(): Catalog {
  const bindings = { provider_base_url: "https://api.example.com", auth_url: "https://auth.example.com" };
  const payments = {
    ...bindings,
    token_url: "https://auth.example.com/token",
    scope_base: "https://scopes.example.com",
  };
  return sampleCatalog({ toolkits: { payments } });
}

/** The webhook secrets of the sample toolkits (apps), by variable. */
export const sampleSecrets: Record<string, string> = {
  SVC_WEBHOOK_SECRET_CODE_HOST: "code-host-secret",
  SVC_WEBHOOK_SECRET_PAYMENTS: "payments-secret",
  SVC_WEBHOOK_SECRET_TEAM_CHAT: "team-chat-secret",
  SVC_WEBHOOK_SECRET_WATCHER: "watcher-token",
};

/** A test node, with everything that tests of triggers read from it. Its delivery engine runs only if the options say so. */
export type TriggerNode = AsyncDisposable & {
  readonly nodeId: NodeId;
  readonly dispatcher: Dispatcher;
  readonly ingest: Ingest;
  readonly quarantine: Quarantine;
  /** Errors that the delivery engine reported. */
  readonly failures: Told["failures"];
  readonly standing: Node["standing"];
  /** The MCP server of the node, for agents. */
  readonly mcp: Node["mcp"];
  /** Steps of throttled replays that this node made. */
  readonly replaySteps: Told["replaySteps"];
  /** TriggersService for one project's key, over a Connect router. */
  client(projectId: ProjectId): Client<typeof TriggersService>;
};

/**
 * Options of a test node. By default, it has the sample catalog and secrets, may connect to loopback, and does not start its delivery
 * engine.
 */
export type TriggerNodeOptions = {
  catalog?: Catalog;
  secretOf?: (name: string) => string | undefined;
  limits?: Partial<DispatchLimits>;
  allowedRanges?: readonly string[];
  isStarted?: boolean;
  /** True if throttled replays (repeated deliveries that are spread over time) advance with each second of the test's clock. */
  isReplaying?: boolean;
  onReplayFaultPoint?: (point: ReplayFaultPoint) => void;
  /** Returns the last restore of the database from a backup. */
  restored?: () => Restore | undefined;
};

/** Creates a node on a test database. When the node is disposed, its work is aborted at once. */
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
