import { setTimeout as wait } from "node:timers/promises";
import { createCatalogViews } from "@svc/catalog";
import { catalogOf } from "@svc/catalog/testing";
import { type AppTransport, createAccountAccess } from "@svc/connections";
import { type Clock, createId, createSealer, type Id, type KeyId, type ProjectId, type Sealer } from "@svc/core";
import { createTestClock, type TestClock } from "@svc/core/testing";
import {
  activateAccount,
  createProject,
  type Database,
  type Executor,
  findPendingAsk,
  jobsForProject,
  loadJob,
  loadJobSteps,
  lockJob,
  requestJobCancel,
  settleAsk,
  withTransaction,
} from "@svc/db";
import { createLedger, createToolCaller, type ToolCaller } from "@svc/tools";
import { askPort } from "../asks/port.ts";
import type { Decision } from "../asks/types.ts";
import { canonicalHash } from "../program/canonical.ts";
import { parseCheckedProgram } from "../program/read-program.ts";
import type { EngineLimits } from "./context.ts";
import type { ReceiptDocument, StepReceiptDocument } from "./documents.ts";
import { createJobEngine, type JobEngine } from "./engine.ts";
import type { FaultPoint, OnFaultPoint } from "./fault-points.ts";
import { createProgramCache, type PinnedTool } from "./programs.ts";
import { submitJob } from "./submit.ts";
import { createWorld, desk, type World } from "./test-world.ts";

export { createWorld, desk, type World } from "./test-world.ts";

/** Everything a test of jobs needs, over one database. */
export type TestBench = {
  readonly db: Database;
  readonly clock: TestClock;
  readonly world: World;
  readonly caller: ToolCaller;
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly engines: JobEngine[];
  engine(options?: {
    limits?: Partial<EngineLimits>;
    onFaultPoint?: OnFaultPoint;
    clock?: Clock;
    caller?: ToolCaller;
    /** Failures are expected: they are not printed. */
    quiet?: boolean;
  }): JobEngine;
  /**
   * Starts an engine that dies at the `nth` time it comes to a fault point, or in the middle of sending a write: from then on it
   * does nothing more, not even renew its leases. Resolves once it is dead.
   */
  doom(point: FaultPoint | "in-send", nth?: number, matches?: (stepId: string) => boolean): Promise<void>;
  submit(program: object, options?: SubmitOptions): Promise<Id<"job">>;
  answer(jobId: Id<"job">, decision: Partial<Decision> & Pick<Decision, "continuation">): Promise<void>;
  cancel(jobId: Id<"job">): Promise<void>;
  read(jobId: Id<"job">): Promise<JobReading>;
  /** Resolves once the job is in one of the statuses. */
  reach(jobId: Id<"job">, ...statuses: string[]): Promise<JobReading>;
  stop(): Promise<void>;
};

/** What a test submits beside the program. */
export type SubmitOptions = {
  mode?: "live" | "simulate";
  simulateFirst?: boolean;
  needsApproval?: boolean;
  idempotencyKey?: string;
};

/** A job as tests look at it. */
export type JobReading = {
  readonly job: NonNullable<Awaited<ReturnType<typeof loadJob>>>;
  readonly receipt: ReceiptDocument;
  readonly steps: Readonly<Record<string, StepReceiptDocument>>;
  readonly events: readonly {
    seq: number;
    type: string;
    stepId: string;
    payload: Record<string, unknown>;
    chain: string[];
  }[];
};

/** Makes a bench with an account for the entity `ops`. */
export async function createBench(
  db: Database,
  world: World = createWorld(),
  clock = createTestClock(),
): Promise<TestBench> {
  const sealer = createSealer([{ id: "k1", secret: Buffer.alloc(32, 7) }]);
  const catalog = catalogOf({ toolkits: [desk] });
  const nowMs = clock.now();
  const projectId = (await createProject(db, `p${createId("evt", nowMs).slice(-12)}`, nowMs)).id;
  const keyId = createId("key", nowMs);
  await connect(db, sealer, projectId, nowMs);
  const views = createCatalogViews({ catalog, db, clock, onBroken: () => {} });
  const oauth = { clientOf: () => undefined, fetch: () => Promise.reject(new Error("no token endpoint")) };
  const accounts = createAccountAccess({ db, clock, sealer, oauth, isSandbox: true });
  const ledger = createLedger({ db, clock, sealer });
  const context = {
    views,
    accounts,
    transport: world.transport,
    ledger,
    db,
    clock,
    sealer,
    isSandbox: true,
    onUnrecorded: () => {},
  };
  const caller = createToolCaller(context as Parameters<typeof createToolCaller>[0]);
  const tools = new Map<string, PinnedTool>();
  for (const toolkit of catalog.toolkits.values()) {
    for (const action of toolkit.actions) tools.set(action.slug, { toolkit, action });
  }
  const programs = createProgramCache(() => tools);
  const engines: JobEngine[] = [];
  const noTask = () => Promise.reject(new Error("no such task in this test"));
  const bench: TestBench = {
    db,
    clock,
    world,
    caller,
    projectId,
    keyId,
    engines,
    doom(point, nth = 1, matches = () => true) {
      const died = Promise.withResolvers<void>();
      const never = new Promise<never>(() => {});
      let isDead = false;
      let count = 0;
      const die = () => {
        isDead = true;
        died.resolve();
        return never;
      };
      const transport: AppTransport = {
        async send(request, call, options) {
          if (isDead) return never;
          const answer = await world.transport.send(request, call, options);
          return point === "in-send" && call.action.class !== "read" && ++count === nth
            ? die()
            : isDead
              ? never
              : answer;
        },
      };
      bench.engine({
        clock: {
          now: clock.now,
          wait: async (ms, signal) =>
            isDead ? never : clock.wait(ms, signal).then(() => (isDead ? never : undefined)),
        },
        caller: createToolCaller({ ...context, transport } as Parameters<typeof createToolCaller>[0]),
        onFaultPoint: (at, { stepId }) =>
          isDead ? never : at === point && matches(stepId) && ++count === nth ? die() : undefined,
      });
      // The dead are not drained.
      engines.pop();
      return died.promise;
    },
    engine({ limits, onFaultPoint, clock: own = clock, caller: ownCaller = caller, quiet = false } = {}) {
      const engine = createJobEngine({
        db,
        clock: own,
        sealer,
        caller: ownCaller,
        nodeId: createId("node", clock.now()),
        asks: askPort,
        programs,
        handlers: { hop: noTask, reach: noTask, publish: noTask },
        observer: {
          moved: () => {},
          leaseLost: () => {},
          failed: (what, error) =>
            quiet || process.stderr.write(`${what}: ${error instanceof Error ? error.stack : String(error)}\n`),
        },
        ...(limits && { limits }),
        ...(onFaultPoint && { onFaultPoint }),
      });
      engines.push(engine);
      engine.start();
      return engine;
    },
    async submit(program, { mode = "live", simulateFirst = false, needsApproval = false, idempotencyKey } = {}) {
      const programJson = JSON.stringify({ version: 1, title: "Test", ...program });
      const submitted = await submitJob(
        { db, clock, sealer, asks: askPort },
        {
          projectId,
          keyId,
          principalChain: [`key:${keyId}`],
          programJson,
          programHash: canonicalHash(JSON.parse(programJson)),
          program: parseCheckedProgram(programJson),
          pins: "{}",
          mode,
          simulateFirst,
          needsApproval,
          estimate: {},
          input: undefined,
          skillSlug: "",
          idempotencyKey,
          contentDigest: Buffer.from(canonicalHash(programJson), "hex"),
        },
      );
      for (const engine of engines) engine.wake();
      return "id" in submitted ? submitted.id : submitted.earlier.id;
    },
    async answer(jobId, decision) {
      await withTransaction(db, async (tx) => {
        await lockJob(tx, jobId);
        const full: Decision = {
          principalId: "owner",
          keyId,
          surface: "api",
          note: "",
          overridesJson: "",
          at: clock.now(),
          ...decision,
        };
        const pending = await findPendingAsk(tx, jobId);
        const chain = [`key:${keyId}`, `contact:${full.principalId}`];
        const isSettled =
          pending && (await settleAsk(tx, pending.id, { state: "answered", decision: { ...full, chain } }));
        if (isSettled !== true) throw new Error("no ask is pending");
        await engines[0]?.settled(tx, jobId);
      });
      for (const engine of engines) engine.wake();
    },
    async cancel(jobId) {
      await requestJobCancel(db, { jobId, projectId, chain: [`key:${keyId}`], nowMs: clock.now() });
      for (const engine of engines) {
        engine.cancel(jobId);
        engine.wake();
      }
    },
    read: (jobId) => readJob(db, projectId, jobId),
    async reach(jobId, ...statuses) {
      const end = performance.now() + 20_000;
      for (;;) {
        const job = await loadJob(db, jobId);
        if (job !== undefined && statuses.includes(job.status)) return readJob(db, projectId, jobId);
        if (performance.now() > end)
          throw new Error(`the job is ${job?.status} (${job?.lastError}), not ${statuses.join(" or ")}`);
        await wait(2);
      }
    },
    async stop() {
      await Promise.all(engines.map((engine) => engine.drain(0)));
    },
  };
  return bench;
}

/** An account of the desk for the entity `ops`. */
async function connect(db: Database, sealer: Sealer, projectId: ProjectId, nowMs: number): Promise<void> {
  const id = createId("acc", nowMs);
  const credential = sealer.seal(Buffer.from('{"scheme":"none"}'), `${projectId}/connected_accounts/${id}`);
  const account = {
    id,
    projectId,
    toolkitSlug: "desk",
    isPrivate: false,
    isSandbox: true,
    entityId: "ops",
    scheme: "none",
    variables: {},
    credential,
    originDigest: null,
    grantedScopes: [],
    createdAt: nowMs,
    updatedAt: nowMs,
    expiresAt: null,
    refreshAt: null,
  };
  await activateAccount(db, account, { isNew: true, referencesOf: () => [], exclusiveOf: () => [] });
}

async function readJob(db: Executor, projectId: ProjectId, jobId: Id<"job">): Promise<JobReading> {
  // The log last: it then holds whatever the job's row tells of.
  const job = await loadJob(db, jobId);
  const steps = await loadJobSteps(db, jobId);
  const events = await jobsForProject(db, projectId).listEvents(jobId, { afterSeq: 0, limit: 10_000 });
  if (job === undefined) throw new Error("no such job");
  return {
    job,
    receipt: job.receipt as ReceiptDocument,
    steps: Object.fromEntries(steps.map(({ stepId, receipt }) => [stepId, receipt as StepReceiptDocument])),
    events: events.map(({ seq, type, stepId, payload, principalChain: chain }) => {
      return { seq, type, stepId, payload: JSON.parse(payload) as Record<string, unknown>, chain };
    }),
  };
}
