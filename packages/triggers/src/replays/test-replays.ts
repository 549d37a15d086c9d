import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { createId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import type { TriggersService } from "@svc/gen/triggers";
import { until } from "@svc/testing/until";
import {
  createTestCluster,
  createTestNode,
  type TestCluster,
  type TriggerNode,
  type TriggerNodeOptions,
} from "../test-node.ts";

/** A project with subscriptions and events for tests, on a node that advances replays when the test moves the clock. */
export type ReplayWorld = AsyncDisposable & {
  readonly cluster: TestCluster;
  readonly node: TriggerNode;
  readonly projectId: ProjectId;
  readonly client: Client<typeof TriggersService>;
  /** A time before every event of the test. */
  readonly since: ReturnType<typeof timestampFromMs>;
  /** Creates a subscription to all events, or to those that the given filter selects. */
  subscribe(filter?: { toolkitSlug?: string; endpointUrl?: string }): Promise<SubscriptionId>;
  /** Stores `count` events of two toolkits (apps) in turn, one second apart. The newest event has the current time. */
  store(count: number): Promise<void>;
  /** Moves the clock forward by a second until replays have made the given number of steps. */
  tick(steps?: number): Promise<void>;
  /** Returns the pairs of event and subscription for which replays have queued deliveries, in the order in which they were queued. */
  pairs(): Promise<string[]>;
};

/** Creates a project for tests of replays. Its deliveries are sent only if `isStarted` is true. */
export async function createReplayWorld(options: TriggerNodeOptions = {}): Promise<ReplayWorld> {
  const cluster = await createTestCluster();
  const projectId = await cluster.project();
  const node = createTestNode(cluster, { isReplaying: true, ...options });
  const client = node.client(projectId);
  const startMs = cluster.clock.now();
  return {
    ...{ cluster, node, projectId, client, since: timestampFromMs(startMs) },
    async subscribe({ toolkitSlug = "", endpointUrl = "https://example.com/hook" } = {}) {
      const made = await client.createSubscription({ endpointUrl, toolkitSlug });
      cluster.clock.advance(1);
      return made.subscription?.id as SubscriptionId;
    },
    async store(count) {
      const fromMs = cluster.clock.now();
      await storeEvents(cluster, projectId, count, fromMs);
      cluster.clock.advance(count * 1_000 + 1);
    },
    async tick(steps = 1) {
      for (let left = steps; left > 0; left--) {
        const before = node.replaySteps.length;
        cluster.clock.advance(1_000);
        await until(() => {
          node.standing.engine.wake();
          return node.replaySteps.length > before;
        });
      }
    },
    async pairs() {
      const rows = await cluster.db.sql<{ pair: string }[]>`
        select event_id || ' ' || subscription_id as pair from deliveries where replayed order by id`;
      return rows.map(({ pair }) => pair);
    },
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/**
 * Stores events of a project without deliveries. They belong to two toolkits (apps) in turn and are one second apart, beginning at a start
 * time.
 */
async function storeEvents(
  { db }: Pick<TestCluster, "db">,
  projectId: ProjectId,
  count: number,
  fromMs: number,
): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => {
    const atMs = fromMs + index * 1_000;
    const toolkit = index % 2 === 0 ? "code_host" : "payments";
    return { id: uuidOfId(createId("evt", atMs)), at: new Date(atMs).toISOString(), toolkit };
  });
  await db.sql`insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
    select ${uuidOfId(projectId)}::uuid, (r->>'id')::uuid, 'event', r->>'toolkit', r->>'toolkit' || '.happened', '', '{}', (r->>'at')::timestamptz, (r->>'at')::timestamptz, ''
    from json_array_elements(${JSON.stringify(rows)}::json) r`;
}
