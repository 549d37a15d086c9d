import type { Client } from "@connectrpc/connect";
import { createId, createOffsetClock, type KeyId, type ProjectId, type Role, systemClock } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import { AskState, JobsService } from "@svc/gen/jobs";
import { type StandingRun, StandingRunState, StandingService } from "@svc/gen/standing";
import { catalogOf } from "@svc/testing/catalog";
import { connectDesk, createWorld, desk, type World } from "@svc/testing/desk";
import { createTestNode, type TestNode, type TestParts, testSealer } from "@svc/testing/node";
import { silentStandingObserver } from "./observer.ts";
import { alerts, alertsToken } from "./test-alerts.ts";

/** A project of a test with a stored key, and clients of the services that it calls. */
export type StandingProject = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly standing: Client<typeof StandingService>;
  readonly jobs: Client<typeof JobsService>;
  as(role: Role, keyId?: KeyId): Client<typeof StandingService>;
  jobsAs(role: Role, keyId?: KeyId): Client<typeof JobsService>;
  /** Answers the approval question of a program. */
  decide(id: string, continuation: "proceed" | "abort", keyId?: KeyId): Promise<void>;
  /** Returns the runs of a program, oldest first, as soon as there are as many as expected. */
  runs(id: string, count: number): Promise<StandingRun[]>;
  /** Stores a second key of the test's project, and returns the key's id. */
  key(): Promise<KeyId>;
};

/** Nodes of a test. They share a clock that the test moves. */
export type StandingWorld = {
  readonly node: TestNode;
  readonly world: World;
  /** Moves the clock to a time, in epoch milliseconds or as RFC 3339 text. */
  goTo(time: number | string): void;
  now(): number;
  project(): Promise<StandingProject>;
  /** Adds a node that uses the same database. */
  addNode(changes?: TestParts): TestNode;
};

let projects = 0;

/**
 * Lease of jobs in milliseconds (the time in which only one node may run a job). It is longer than any time by which a test moves the
 * clock, so that no running job loses its node.
 */
const leaseMs = 60 * 86_400_000;

/** Prints failures that are retried, so that a test that waits without success shows the reason. */
const report = (what: string, error: unknown) =>
  void process.stderr.write(`${what}: ${error instanceof Error ? error.stack : error}\n`);

/** Creates a node and starts its engines for jobs and standing programs (schedules). */
export function createStandingWorld(db: Database, changes: TestParts = {}): StandingWorld {
  const clock = createOffsetClock(systemClock);
  clock.setOffset(Date.UTC(2026, 0, 5) - systemClock.now());
  const world = createWorld();
  const addNode = (more: TestParts = {}) =>
    createTestNode(db, {
      clock,
      catalog: catalogOf({ toolkits: [desk, alerts] }),
      variable: (name) => (name === "SVC_WEBHOOK_SECRET_ALERTS" ? alertsToken : undefined),
      // All apps other than the test app are emulated by the sandbox.
      ...(changes.catalog === undefined && { transport: world.transport }),
      sandboxMode: "force",
      engines: ["jobs", "standing"],
      observer: { standing: { ...silentStandingObserver, failed: report } },
      ...changes,
      ...more,
      limits: {
        jobs: { pollMs: 20, leaseMs },
        standing: { pollMs: 20, ...changes.limits?.standing, ...more.limits?.standing },
        deliveries: { ...changes.limits?.deliveries },
      },
    });
  const node = addNode();
  return {
    node,
    world,
    now: () => clock.now(),
    goTo: (time) => clock.setOffset((typeof time === "string" ? Date.parse(time) : time) - systemClock.now()),
    addNode,
    async project() {
      const nowMs = clock.now();
      const { id: projectId } = await createProject(db, `standing-${++projects}`, nowMs);
      await connectDesk(db, testSealer, projectId, nowMs);
      const key = async () => {
        const id = createId("key", nowMs);
        await createApiKey(db, {
          ...{ id, projectId, role: "approver", name: "", hint: "", createdAt: nowMs },
          digest: Buffer.from(id),
          expiresAt: null,
          revokedAt: null,
          lastUsedAt: null,
        });
        return id;
      };
      const keyId = await key();
      const as = (role: Role, of = keyId) => node.client(StandingService, { projectId, keyId: of, role });
      const standing = as("approver");
      return {
        projectId,
        keyId,
        standing,
        jobs: node.client(JobsService, { projectId, keyId, role: "approver" }),
        as,
        jobsAs: (role, of = keyId) => node.client(JobsService, { projectId, keyId: of, role }),
        async decide(id, continuation, of = keyId) {
          const client = node.client(JobsService, { projectId, keyId: of, role: "approver" });
          const ask = await settled(async () => {
            const { asks } = await client.listAsks({ standingProgramId: id, state: AskState.PENDING });
            return asks.find(({ approvalId }) => approvalId !== "");
          });
          const { jobId, requestId } = ask;
          await client.answerAsk({ jobId, requestId, principalId: "owner", continuation });
        },
        key,
        runs: (id, count) =>
          settled(async () => {
            const { runs } = await standing.listStandingRuns({ standingProgramId: id, pageSize: 500 });
            return runs.length >= count && runs.reverse();
          }),
      };
    },
  };
}

/** Calls `ask` until its result is defined, and returns this result. Fails after 15 seconds. */
export async function settled<T>(ask: () => Promise<T | false | undefined>): Promise<T> {
  const end = performance.now() + 15_000;
  for (;;) {
    const found = await ask();
    if (found !== false && found !== undefined) return found;
    if (performance.now() > end) throw new Error("it did not come to that");
    await systemClock.wait(10);
  }
}

/** Returns a program that deletes a note. People must approve this program before it runs. */
export function clearing(note: string) {
  const steps = [{ id: "clear", call: "desk.delete_note", entity: "ops", args: { id: note, confirm: true } }];
  return { version: 1, title: `Clear ${note}`, approval: { plan: "destructive" }, steps };
}

/** A program that reads one item and ends. */
const quick = {
  version: 1,
  title: "Look at an item",
  steps: [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: "i1" } }],
};

/** Returns the definition of a test's schedule as JSON text. Adds the required fields. */
export function definitionText(definition: object): string {
  return JSON.stringify({ version: 1, source: { schedule: { every: "15m" } }, program: quick, ...definition });
}

/** Returns the state and the reason of a run as one text, so that tests can compare it. */
export function stateOf({ state, reason }: StandingRun): string {
  const name =
    Object.entries(StandingRunState)
      .find(([, value]) => value === state)?.[0]
      .toLowerCase() ?? "";
  return reason === "" ? name : `${name} ${reason}`;
}
