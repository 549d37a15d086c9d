import { setTimeout as wait } from "node:timers/promises";
import { askPort } from "@svc/asks";
import type { AppTransport } from "@svc/connections";
import { createId, type HeldMemory, type Id, type KeyId, type MemoryBounds, type ProjectId } from "@svc/core";
import { findPendingAsk } from "@svc/db/asks/repo";
import { settleAsk } from "@svc/db/asks/settle";
import { type Database, type Executor, withTransaction } from "@svc/db/connect";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import { lockJob, requestJobCancel } from "@svc/db/jobs/hold";
import { loadJob, loadJobSteps } from "@svc/db/jobs/load";
import { jobsForProject } from "@svc/db/jobs/repo";
import { createProject } from "@svc/db/projects/repo";
import type { EngineLimits, FaultPoint, JobEngine } from "@svc/jobs";
import { createProgramCache, submitJob } from "@svc/jobs/testing";
import { canonicalHash, parseCheckedProgram, pinsOf, programDigest } from "@svc/program";
import type { ToolCaller } from "@svc/tools";
import { catalogOf } from "./catalog.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { connectDesk, createWorld, desk, type World } from "./desk.ts";
import { newJobDocuments } from "./job-documents.ts";
import { createTestNode, type TestParts, testSealer } from "./node.ts";
import { patienceMs } from "./until.ts";

/** Setup for tests of jobs: one project, and functions that start nodes and submit, answer and read jobs. All nodes share one database. */
export type TestBench = {
  readonly db: Database;
  readonly clock: TestClock;
  readonly world: World;
  readonly caller: ToolCaller;
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly engines: JobEngine[];
  /** Starts a node of which only the job engine runs. */
  engine(
    options?: Pick<TestParts, "clock" | "transport" | "onFaultPoint"> & {
      limits?: Partial<EngineLimits>;
      /** Memory limits for the row sets of job steps. A row set is the list of rows that one step has made. */
      memory?: MemoryBounds;
      /** True if the test expects failures, so that they are not printed. */
      quiet?: boolean;
      /** List to which the bench adds the cause of each lease (a node's time-limited right to run a job) that this engine loses. */
      leasesLost?: string[];
    },
  ): JobEngine & { readonly memory: HeldMemory };
  /** Returns the job engine of a node without starting it. */
  idle(): JobEngine;
  /**
   * Starts an engine that simulates a crash. It stops when it reaches the fault point `point` (a place in the code) for the `nth` time, or
   * while it sends a write if `point` is `in-send`. `matches`: says for which steps this counts; default: for all steps. After the crash,
   * the engine does nothing and does not renew its leases (time-limited rights to run jobs). The promise resolves when the engine has
   * stopped.
   */
  doom(
    point: FaultPoint | "in-send",
    nth?: number,
    matches?: (stepId: string) => boolean,
  ): Promise<void> & { readonly engine: JobEngine };
  submit(program: object, options?: SubmitOptions): Promise<Id<"job">>;
  answer(jobId: Id<"job">, decision: Partial<DecisionDocument> & Pick<DecisionDocument, "continuation">): Promise<void>;
  cancel(jobId: Id<"job">): Promise<void>;
  read(jobId: Id<"job">): Promise<JobReading>;
  /** Resolves with the job as soon as the job has one of the given statuses. */
  reach(jobId: Id<"job">, ...statuses: string[]): Promise<JobReading>;
  stop(): Promise<void>;
};

/** Options of a submission, in addition to the program. */
export type SubmitOptions = {
  mode?: "live" | "simulate";
  simulateFirst?: boolean;
  needsApproval?: boolean;
  idempotencyKey?: string;
  /** The programs of the skills that the job runs, by slug. Each becomes the first version of its skill. */
  skills?: Readonly<Record<string, object>>;
  /**
   * The engine of the node that receives the submission. Default: none. The job is then stored by a node that runs no jobs, and all engines
   * of the bench are woken to look for it.
   */
  engine?: Pick<JobEngine, "reserve" | "wake">;
};

/** The fields of a job that tests read. */
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

function textOf(program: object): string {
  return JSON.stringify({ version: 1, title: "Test", ...program });
}

function hashOf(programJson: string): string {
  return canonicalHash(JSON.parse(programJson));
}

/** Creates a test bench: engines for jobs and a test app, with a connected account for the entity (customer or user) `ops`. */
export async function createBench(
  db: Database,
  world: World = createWorld(),
  clock = createTestClock(),
): Promise<TestBench> {
  const catalog = catalogOf({ toolkits: [desk] });
  const nowMs = clock.now();
  const projectId = (await createProject(db, `p${createId("evt", nowMs).slice(-12)}`, nowMs)).id;
  const keyId = createId("key", nowMs);
  await connectDesk(db, testSealer, projectId, nowMs);
  const parts: TestParts = { clock, catalog, transport: world.transport, sandboxMode: "force" };
  const { caller } = createTestNode(db, parts).apps;
  const actions = [...catalog.toolkits.values()].flatMap((toolkit) => toolkit.actions);
  const tools = pinsOf(actions, catalog);
  const pins = JSON.stringify(tools);
  const engines: JobEngine[] = [];
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
      const engine = bench.engine({
        clock: {
          now: clock.now,
          wait: async (ms, signal) =>
            isDead ? never : clock.wait(ms, signal).then(() => (isDead ? never : undefined)),
        },
        transport,
        onFaultPoint: (at, { stepId }) =>
          isDead ? never : at === point && matches(stepId) && ++count === nth ? die() : undefined,
      });
      // An engine that is dead is not stopped at the end of the test.
      engines.pop();
      return Object.assign(died.promise, { engine });
    },
    engine({ limits = {}, memory, quiet = false, leasesLost = [], ...changes } = {}) {
      const failed = (what: string, error: unknown) =>
        void (quiet || process.stderr.write(`${what}: ${error instanceof Error ? error.stack : String(error)}\n`));
      const leaseLost = (_jobId: string, cause: string) => void leasesLost.push(cause);
      const observer = { jobs: { ended: () => {}, parked: () => {}, leaseLost, failed } };
      const bounds = { jobs: limits, ...(memory && { memory }) };
      const node = createTestNode(db, { ...parts, ...changes, limits: bounds, observer, engines: ["jobs"] });
      const { engine } = node.jobs;
      engines.push(engine);
      return Object.assign(engine, { memory: node.meter.memory });
    },
    idle: () => createTestNode(db, parts).jobs.engine,
    async submit(program, options = {}) {
      const { mode = "live", simulateFirst = false, needsApproval = false, idempotencyKey, engine } = options;
      const programJson = textOf(program);
      const skills = Object.entries(options.skills ?? {}).map(([slug, skill]) => [slug, textOf(skill)] as const);
      const skillPins = skills.map(([slug, text]) => {
        const digest = programDigest(text, pins).toString("hex");
        const estimate = { ...newJobDocuments.estimate, callsMax: 3, writesMax: 1, rowsMax: 6, asksMax: 1 };
        return [`skills.${slug}`, { slug, version: 1, digest, estimate }] as const;
      });
      const submitted = await submitJob(
        {
          db,
          clock,
          sealer: testSealer,
          asks: askPort,
          programs: createProgramCache(testSealer),
          ...(engine && { engine }),
        },
        {
          projectId,
          keyId,
          binding: null,
          principalChain: [`key:${keyId}`],
          programJson,
          programHash: hashOf(programJson),
          program: parseCheckedProgram(programJson),
          pins: skills.length === 0 ? pins : JSON.stringify({ ...tools, skills: Object.fromEntries(skillPins) }),
          skills: skills.map(([, text]) => ({ programJson: text, programHash: hashOf(text), pins })),
          mode,
          simulateFirst,
          needsApproval,
          estimate: newJobDocuments.estimate,
          input: undefined,
          skillSlug: "",
          idempotencyKey,
          isSandbox: true,
          contentDigest: Buffer.from(canonicalHash(programJson), "hex"),
        },
      );
      if (engine === undefined) for (const other of engines) other.wake();
      if ("quotaReached" in submitted) throw new Error("the project has as many jobs as it may");
      return "job" in submitted ? submitted.job.id : submitted.earlier.id;
    },
    async answer(jobId, decision) {
      await withTransaction(db, async (tx) => {
        await lockJob(tx, jobId);
        const full: DecisionDocument = {
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
      const end = performance.now() + patienceMs;
      for (let looks = 1; ; looks++) {
        const job = await loadJob(db, jobId);
        if (job !== undefined && statuses.includes(job.status)) return readJob(db, projectId, jobId);
        if (performance.now() > end)
          throw new Error(`the job is ${job?.status} (${job?.lastError}), not ${statuses.join(" or ")}`);
        // The pauses between polls grow, because less polling leaves more processor time for the job.
        await wait(Math.min(2 * looks, 10));
      }
    },
    async stop() {
      await Promise.all(engines.map((engine) => engine.drain(0)));
    },
  };
  return bench;
}

async function readJob(db: Executor, projectId: ProjectId, jobId: Id<"job">): Promise<JobReading> {
  // The log is read last, so that it contains everything that the job's row reflects.
  const job = await loadJob(db, jobId);
  const steps = await loadJobSteps(db, jobId);
  const events = await jobsForProject(db, projectId).listEvents(jobId, { afterSeq: 0, limit: 10_000 });
  if (job === undefined) throw new Error("no such job");
  return {
    job,
    get receipt() {
      if (job.receipt === null) throw new Error("the job has no receipt yet");
      return job.receipt;
    },
    steps: Object.fromEntries(steps.map(({ stepId, receipt }) => [stepId, receipt])),
    events: events.map(({ seq, type, stepId, payload, principalChain: chain }) => {
      return { seq, type, stepId, payload: JSON.parse(payload) as Record<string, unknown>, chain };
    }),
  };
}
