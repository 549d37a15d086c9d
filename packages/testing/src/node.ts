import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { type BlockedLoop, createSealer, type ProjectId, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import {
  type AttemptObservation,
  type CallObservation,
  createNode,
  type EmbeddingsCall,
  type Node,
  type NodeLimits,
  type NodeObserver,
  type NodeParts,
  type ReplayStep,
  type SearchOutcome,
} from "@svc/node";
import { catalogOf } from "./catalog.ts";
import { createTestClock } from "./clock.ts";
import { createProjectClient, type TestCaller } from "./project-client.ts";

/** The parts of a node that a test replaces. Of `limits` and `observer`, only the given members are replaced. */
export type TestParts = Partial<Omit<NodeParts, "db" | "limits" | "observer">> & {
  readonly limits?: Partial<Omit<NodeLimits, "deliveries">> & {
    readonly deliveries?: Partial<NodeLimits["deliveries"]>;
  };
  readonly observer?: Partial<NodeObserver>;
};

/** Everything that the engines of a node reported to their observer, collected for the test. */
export type Told = {
  readonly attempts: AttemptObservation[];
  readonly failures: { readonly what: string; readonly error: unknown }[];
  leasesLost: number;
  /** Ids of calls whose outcome could not be recorded. */
  readonly unrecorded: string[];
  /** Finished calls of tools. */
  readonly calls: CallObservation[];
  /** Steps of throttled replays (requests to deliver events again slowly), in the order in which the node made them. */
  readonly replaySteps: ReplayStep[];
  /** Reports about work that blocked the event loop. */
  readonly held: BlockedLoop[];
  /** Finished calls to the embeddings endpoint. */
  readonly embedded: EmbeddingsCall[];
  /** For each search by meaning: where the embedding vector of its words came from (the endpoint or memory), or why there was none. */
  readonly searches: SearchOutcome[];
  /** Private toolkits (apps defined by a project) that were not served because they break rules of this version. */
  readonly broken: { readonly projectId: ProjectId; readonly slug: string; readonly message: string }[];
};

/** A node for a test. When the test disposes the node, the node ends at once and aborts its unfinished work. */
export type TestNode = Node &
  AsyncDisposable & {
    readonly parts: NodeParts;
    readonly told: Told;
    /** Ends, when aborted, every unfinished call that a client of this test node has made. */
    readonly shutdown: AbortController;
    /** Returns a client for one of the node's services, with a key of the project. */
    client<Service extends DescService>(service: Service, caller: TestCaller): Client<Service>;
  };

/** Encrypts and decrypts for all test nodes. They have the same key, so nodes on one database can decrypt each other's values. */
export const testSealer: Sealer = createSealer([{ id: "a", secret: Buffer.alloc(32, 7) }]);

const dayMs = 86_400_000;

/**
 * Creates a node like that of `svc serve`, with `changes` applied. Unlike with `svc serve`, its clock does not move, and it has no toolkits
 * (apps with tools). It may connect to loopback, retries fast and without jitter, and starts only the engines that `changes` names.
 */
export function createTestNode(db: Database, changes: TestParts = {}): TestNode {
  const told: Told = {
    attempts: [],
    calls: [],
    failures: [],
    leasesLost: 0,
    unrecorded: [],
    replaySteps: [],
    held: [],
    embedded: [],
    searches: [],
    broken: [],
  };
  const shutdown = new AbortController();
  const { limits, observer, ...others } = changes;
  const parts: NodeParts = {
    db,
    clock: createTestClock(),
    sealer: testSealer,
    catalog: catalogOf({ toolkits: [] }),
    variable: () => undefined,
    publicUrl: () => "https://svc.example.com",
    version: "1.2.3",
    ranges: { endpoints: ["127.0.0.0/8"], apps: ["127.0.0.0/8"] },
    sandboxMode: "off",
    engines: [],
    random: () => 0.5,
    ...others,
    limits: {
      retention: { eventsMs: 30 * dayMs, callsMs: 7 * dayMs, jobRowsMs: 7 * dayMs, jobsMs: undefined },
      ...limits,
      deliveries: { endpointConcurrency: 16, retryScheduleMs: [1_000, 1_000, 1_000], ...limits?.deliveries },
    },
    observer: { ...observerOf(told), ...observer },
  };
  const node = createNode(parts);
  node.start();
  return {
    ...node,
    parts,
    told,
    shutdown,
    client: (service, caller) => createProjectClient(service, node.register, caller, shutdown.signal),
    async [Symbol.asyncDispose]() {
      await node.ingest.drain();
      await node.drain(0);
      await node.close();
    },
  };
}

function observerOf(told: Told): NodeObserver {
  const failed = (what: string, error: unknown) => void told.failures.push({ what, error });
  return {
    deliveries: {
      attempted: (attempt) => told.attempts.push(attempt),
      authenticated: () => {},
      leasesLost: (count) => {
        told.leasesLost += count;
      },
      failed,
    },
    calls: { ended: (call) => void told.calls.push(call) },
    renewals: { renewed: () => {} },
    jobs: { ended: () => {}, parked: () => {}, leaseLost: () => {}, failed },
    asks: { settled: () => {} },
    standing: { decided: () => {}, polled: () => {}, paused: () => {}, rearmed: () => {}, failed },
    replays: { stepped: (step) => void told.replaySteps.push(step), failed: (error) => failed("replay", error) },
    heldLoop: (held) => void told.held.push(held),
    embeddings: {
      called: (call) => void told.embedded.push(call),
      searched: (outcome) => void told.searches.push(outcome),
      failed: (what, error) => failed(`embeddings of ${what}`, error),
    },
    toolkitBroken: (projectId, slug, { message }) => told.broken.push({ projectId, slug, message }),
    callUnrecorded: (callId) => told.unrecorded.push(callId),
    renewalFailed: (error) => failed("renewal", error),
    sweepFailed: failed,
  };
}
