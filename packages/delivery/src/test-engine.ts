import {
  createId,
  createSealer,
  type DeliveryId,
  type EventId,
  generateSigningSecret,
  generateVaultKey,
  type NodeId,
  type ProjectId,
  parseVaultKeys,
  type SubscriptionId,
} from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type Delivery, deliveriesForProject } from "@svc/db/deliveries/repo";
import type { AttemptEntry } from "@svc/db/documents/calls";
import { type NewEvent, recordEvents } from "@svc/db/events/record";
import { createProject } from "@svc/db/projects/repo";
import { type Subscription, subscriptionsForProject } from "@svc/db/subscriptions/repo";
import { borrowTestDatabase } from "@svc/testing/borrowed-database";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { createTestNode, type Told } from "@svc/testing/node";
import type { Dispatcher } from "./dispatcher.ts";
import { signingSecretContext } from "./endpoint.ts";
import type { DispatchLimits } from "./limits.ts";
import type { AttemptObservation } from "./observer.ts";
import type { OutgoingDelivery } from "./outgoing.ts";

/** Database, clock, vault key and project of a test. Several engines of the test share them. */
export type TestStore = AsyncDisposable & {
  readonly db: Database;
  readonly clock: TestClock;
  readonly sealer: ReturnType<typeof createSealer>;
  readonly projectId: ProjectId;
  /** Adds a subscription, for the events of every toolkit (app) if none is given. */
  subscribe(url: string, toolkitSlug?: string): Promise<{ id: SubscriptionId; secret: string }>;
  /**
   * Stores `count` events (default 1). Each has one due delivery for every subscription. If `leased.owner` is given, the deliveries are
   * leased to (reserved for) this node.
   */
  publish(
    subscriptions: readonly SubscriptionId[],
    options?: { count?: number; payload?: string; leased?: { owner: NodeId; untilMs: number } },
  ): Promise<DeliveryId[]>;
  /**
   * Returns stored deliveries in the form that `dispatcher.submit` takes. `leaseUntilMs`: time until which a node has reserved the
   * deliveries, in epoch milliseconds.
   */
  firstSends(
    dispatcher: Dispatcher,
    subscription: SubscriptionId,
    deliveries: readonly DeliveryId[],
    leaseUntilMs: number,
  ): Promise<OutgoingDelivery[]>;
  delivery(id: DeliveryId): Promise<Delivery>;
  attemptsOf(id: DeliveryId): Promise<readonly AttemptEntry[]>;
  subscription(id: SubscriptionId): Promise<Subscription>;
  /** Returns the number of deliveries that are in the given state. */
  count(state: Delivery["state"]): Promise<number>;
};

/** Creates a test database with one project. Its clock moves only when the test moves it. */
export async function createTestStore(): Promise<TestStore> {
  const database = await borrowTestDatabase();
  return { ...(await storeOn(database.db)), [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

/**
 * Creates a project in a test database, and returns functions to work with it. The caller opens and closes the database. If `shared` is
 * given, its clock and its vault key are used.
 */
export async function storeOn(
  db: Database,
  shared?: Pick<TestStore, "clock" | "sealer">,
): Promise<Omit<TestStore, typeof Symbol.asyncDispose>> {
  const clock = shared?.clock ?? createTestClock();
  const sealer = shared?.sealer ?? createSealer(parseVaultKeys(generateVaultKey()));
  const name = shared === undefined ? "default" : createId("prj", clock.now()).slice(-20);
  const { id: projectId } = await createProject(db, name, clock.now());
  const deliveries = deliveriesForProject(db, projectId);
  const subscriptions = subscriptionsForProject(db, projectId);
  return {
    db,
    clock,
    sealer,
    projectId,
    async subscribe(endpointUrl, toolkitSlug = "") {
      const id = createId("sub", clock.now());
      const secret = generateSigningSecret();
      const signingSecret = sealer.seal(Buffer.from(secret, "utf8"), signingSecretContext(projectId, id));
      const createdAt = clock.now();
      await subscriptions.create({ id, endpointUrl, toolkitSlug, triggerSlug: "", createdAt, signingSecret });
      return { id, secret };
    },
    async publish(ids, { count = 1, payload = '{"n":1}', leased } = {}) {
      const events = Array.from({ length: count }, () =>
        newEvent(projectId, ids, { nowMs: clock.now(), payload, leased: leased !== undefined }),
      );
      await recordEvents(db, events, undefined, leased ?? { owner: createId("node", 0), untilMs: 0 });
      return events.flatMap((event) => event.deliveries.map((delivery) => delivery.id));
    },
    async firstSends(dispatcher, subscriptionId, ids, leaseUntilMs) {
      const { endpointUrl, signingSecret } = found(await subscriptions.find(subscriptionId));
      const source = { id: subscriptionId, projectId, endpointUrl, signingSecret };
      const endpoint = found(dispatcher.endpoints.of(source));
      const [nowMs, body] = [clock.now(), Buffer.from("{}")];
      return ids.map((id) => ({
        id,
        projectId,
        subscriptionId,
        queuedForMs: nowMs,
        attempts: 0,
        behind: false,
        probe: false,
        endpoint,
        messageId: id,
        body,
        receivedAtMs: nowMs,
        leaseUntilMs,
        traceparent: null,
      }));
    },
    delivery: async (id) => found(await deliveries.find(id)),
    attemptsOf: async (id) => found(await deliveries.findAttempts(id)),
    subscription: async (id) => found(await subscriptions.find(id)),
    async count(state) {
      const [row] = await db.sql<{ count: number }[]>`
        select count(*)::int4 as count from deliveries where state = ${state}`;
      return found(row).count;
    },
  };
}

function newEvent(
  projectId: ProjectId,
  subscriptions: readonly SubscriptionId[],
  { nowMs, payload, leased }: { nowMs: number; payload: string; leased: boolean },
): NewEvent {
  const id: EventId = createId("evt", nowMs);
  return {
    id,
    projectId,
    kind: "event",
    toolkitSlug: "code_host",
    triggerSlug: "code_host.issue_opened",
    entityId: "",
    payload,
    occurredAtMs: nowMs,
    receivedAtMs: nowMs,
    dedupeKey: "",
    deliveries: subscriptions.map((subscriptionId) => ({ id: createId("dlv", nowMs), subscriptionId, leased })),
  };
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("no such row");
  return value;
}

/** A node that runs only its delivery engine. It keeps what the engine reports. */
export type TestEngine = AsyncDisposable & {
  readonly nodeId: NodeId;
  readonly dispatcher: Dispatcher;
  readonly attempts: AttemptObservation[];
  readonly failures: Told["failures"];
  /** Returns the number of leases (a node's time-limited rights to send deliveries) that the engine has reported as lost. */
  leasesLost(): number;
};

/**
 * Settings of a test engine. In contrast to a real engine, it may call addresses on this machine, retries after 1 s, and does not vary this
 * wait.
 */
export type TestEngineOptions = {
  limits?: Partial<DispatchLimits>;
  allowedRanges?: readonly string[];
  isStarted?: boolean;
};

/** Starts a delivery engine. At the end of the test, the engine stops without waiting: it aborts its attempts. */
export function startTestEngine(
  { db, clock, sealer }: Pick<TestStore, "db" | "clock" | "sealer">,
  { limits = {}, allowedRanges = ["127.0.0.0/8"], isStarted = true }: TestEngineOptions = {},
): TestEngine {
  const node = createTestNode(db, {
    clock,
    sealer,
    ranges: { endpoints: allowedRanges, apps: [] },
    limits: { deliveries: limits },
    engines: isStarted ? ["deliveries"] : [],
  });
  const { nodeId, dispatcher, told } = node;
  return {
    nodeId,
    dispatcher,
    attempts: told.attempts,
    failures: told.failures,
    leasesLost: () => told.leasesLost,
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  };
}
