import type { Client } from "@connectrpc/connect";
import type { Catalog } from "@svc/catalog";
import { createId, type KeyId, type ProjectId, type Role, systemClock } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { loadJob } from "@svc/db/jobs/load";
import { createProject } from "@svc/db/projects/repo";
import { type Job, JobsService } from "@svc/gen/jobs";
import { catalogOf } from "./catalog.ts";
import { connectDesk, createWorld, desk, type World } from "./desk.ts";
import { createTestNode as createNode, type TestNode as Node, testSealer } from "./node.ts";
import { pauseMs } from "./until.ts";

/**
 * A project for tests. It has one key for each role. It also has a connected account of the test app `desk` for the entity `ops` (a
 * customer or user).
 */
export type TestProject = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly client: Client<typeof JobsService>;
  /** Returns a client for the same project that calls with a key of another role. `keyId`: the id of this key. */
  as(role: Role, keyId?: KeyId): Client<typeof JobsService>;
};

/**
 * A test node that can call `desk` (an app made for tests). Of the node's engines, only the job engine runs. The node uses the machine's
 * clock.
 */
export type TestNode = Pick<
  Node,
  "views" | "meter" | "apps" | "jobs" | "shutdown" | "client" | typeof Symbol.asyncDispose
> & {
  readonly world: World;
  project(): Promise<TestProject>;
  /** Waits until the database shows that a job has one of these statuses. */
  reach(jobId: string, ...statuses: string[]): Promise<void>;
};

let projects = 0;

/** Creates a node on a database. If `isStarted` is false, its job engine does not run, so that submitted jobs do not change. */
export function createTestNode(
  db: Database,
  {
    world = createWorld(),
    isStarted = true,
    catalog = catalogOf({ toolkits: [desk] }),
    watchPollMs = 20,
  }: { world?: World; isStarted?: boolean; catalog?: Catalog; watchPollMs?: number } = {},
): TestNode {
  const clock = systemClock;
  const failed = (what: string, error: unknown) =>
    void process.stderr.write(`${what}: ${error instanceof Error ? error.stack : error}\n`);
  const node = createNode(db, {
    clock,
    catalog,
    transport: world.transport,
    sandboxMode: "force",
    limits: { jobs: { pollMs: 20 }, watchPollMs },
    observer: { jobs: { ended: () => {}, parked: () => {}, leaseLost: () => {}, failed } },
    engines: isStarted ? ["jobs"] : [],
  });
  return {
    ...node,
    world,
    async project() {
      const nowMs = clock.now();
      const { id: projectId } = await createProject(db, `jobs-${++projects}`, nowMs);
      await connectDesk(db, testSealer, projectId, nowMs);
      const keyId = createId("key", nowMs);
      const as = (role: Role, key = keyId) => node.client(JobsService, { projectId, keyId: key, role });
      return { projectId, keyId, client: as("approver"), as };
    },
    async reach(jobId, ...statuses) {
      const startedAt = performance.now();
      for (;;) {
        const job = await loadJob(db, jobId as Parameters<typeof loadJob>[1]);
        if (job !== undefined && statuses.includes(job.status)) return;
        if (performance.now() > startedAt + 15_000) throw new Error(`the job is ${job?.status} (${job?.lastError})`);
        await clock.wait(pauseMs(startedAt));
      }
    },
  };
}

/**
 * Returns a program as JSON text, with a version and a title added. If the program has undo calls, an `approval` that asks no person is
 * added too. Otherwise, the undo calls would need a person's approval, because most of them are destructive.
 */
export function programText(program: object): string {
  const approval = /"(?:saga|undo)":/.test(JSON.stringify(program)) ? { approval: { plan: "never" } } : {};
  return JSON.stringify({ version: 1, title: "Test", ...approval, ...program });
}

/** Returns the job in an API response. Throws an error if the response has no job, so that tests need not check this. */
export function jobOf({ job }: { readonly job?: Job | undefined }): Job {
  if (job === undefined) throw new Error("the response has no job");
  return job;
}
