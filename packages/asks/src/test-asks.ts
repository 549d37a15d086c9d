import { createId, Fault, type Id, type KeyId, type ProjectId, type Sealer, uuidOfId } from "@svc/core";
import { type AskRecord, findAsk } from "@svc/db/asks/repo";
import { type Database, withTransaction } from "@svc/db/connect";
import { claimJobTasks, putJobTasks } from "@svc/db/job-tasks/queue";
import { lockJob } from "@svc/db/jobs/hold";
import { insertJobs } from "@svc/db/jobs/insert";
import { appendJobEvents } from "@svc/db/jobs/log";
import type { JobEventRecord } from "@svc/db/jobs/record";
import { jobsForProject } from "@svc/db/jobs/repo";
import { createProject } from "@svc/db/projects/repo";
import { catalogOf } from "@svc/testing/catalog";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { connectDesk, createWorld, desk, type World } from "@svc/testing/desk";
import { newJobDocuments } from "@svc/testing/job-documents";
import { createTestNode, type TestNode, type TestParts } from "@svc/testing/node";
import { answerAsk } from "./answer.ts";
import type { AskContext } from "./context.ts";
import { createAskHandlers } from "./handlers.ts";
import { prepareAsk } from "./raise.ts";
import type { AnswerRequest, AskInput } from "./types.ts";

/** A test bench for asks (questions of jobs to people): a database with jobs that wait for people, and no engine that continues them. */
export type AskBench = {
  readonly db: Database;
  readonly clock: TestClock;
  readonly sealer: Sealer;
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly world: World;
  readonly node: TestNode;
  readonly context: AskContext;
  /** Stores a job that waits for a person's answer. The job belongs to the test's own project, unless the caller passes another project. */
  job(projectId?: ProjectId): Promise<Id<"job">>;
  /**
   * Asks a test question. The person `lead` has an hour to answer; after that, svc asks the person `head`, who has unlimited time.
   * `changes` replaces parts of the question.
   */
  raise(jobId: Id<"job">, changes?: Partial<AskInput>): Promise<Id<"ask">>;
  /**
   * Answers the job's question as the person `lead`. Uses the key with the role approver that submitted the job. `changes` replaces parts
   * of the answer.
   */
  answer(jobId: Id<"job">, changes?: Partial<AnswerRequest>): Promise<void>;
  ask(jobId: Id<"job">, id: Id<"ask">): Promise<AskRecord>;
  log(jobId: Id<"job">): Promise<JobEventRecord[]>;
  /** Claims the due tasks of asks (questions to people) in the test. Returns each task with a function that runs it. */
  claim(): Promise<{ readonly kind: string; run(): Promise<void> }[]>;
  /** Runs the due tasks of asks (questions of jobs to people) one after the other until none is left. Returns their kinds. */
  work(): Promise<string[]>;
  /** Returns the kinds of a job's stored tasks (such as `hop` and `publish`), sorted. */
  tasks(jobId: Id<"job">): Promise<string[]>;
};

/**
 * Creates a test bench with its own project, the contact `owner` (an approver), and accounts of the entity `ops` (a customer or user). Its
 * node runs no engine, unless `changes` has one.
 */
export async function createAskBench(db: Database, changes: TestParts = {}): Promise<AskBench> {
  const world = createWorld();
  const clock = createTestClock();
  const catalog = catalogOf({ toolkits: [desk] });
  const node = createTestNode(db, { clock, catalog, transport: world.transport, sandboxMode: "force", ...changes });
  const { sealer } = node.parts;
  const { guard, nodeId, dispatcher } = node;
  const nowMs = clock.now();
  const projectId = await addProject(db, nowMs);
  const keyId = createId("key", nowMs);
  await connectDesk(db, sealer, projectId, nowMs);
  // Without `moveJob`, an answer only makes a task of the job due, so that tests can check this task.
  const context: AskContext = {
    ...{ db, clock, sealer, guard, nodeId, dispatcher },
    caller: node.apps.caller,
    observer: node.parts.observer.asks,
    consoleUrl: () => "https://svc.example.com/console/",
    onDue: () => {},
    onLogged: () => {},
  };
  const handlers = createAskHandlers(context);
  const bench: AskBench = {
    db,
    clock,
    sealer,
    projectId,
    keyId,
    world,
    node,
    context,
    async job(owner = projectId) {
      const nowMs = clock.now();
      const id = createId("job", nowMs);
      const digest = Buffer.alloc(32, 1);
      const program = { projectId: owner, digest, program: "{}", sealedProgram: null, programHash: "", pins: "{}" };
      const job = {
        id,
        projectId: owner,
        status: "parked",
        mode: "live",
        programDigest: digest,
        ...newJobDocuments,
        keyId,
        principalChain: [`key:${keyId}`],
        contentDigest: digest,
        createdAt: nowMs,
        updatedAt: nowMs,
      } as const;
      await insertJobs(
        db,
        program,
        [{ job: { ...job, principalChain: [`key:${keyId}`] }, events: [], tasks: [] }],
        nowMs,
      );
      return id;
    },
    async raise(jobId, input = {}) {
      const nowMs = clock.now();
      const prepared = await prepareAsk(db, {
        jobId,
        projectId,
        keyId,
        stepId: "gate",
        pointId: "many",
        kind: "judge",
        question: "Continue?",
        continuations: ["proceed", "retry-with", "abort"],
        answerSchemaJson: JSON.stringify(answerSchema),
        escalation: [
          { principal: "lead", timeoutMs: 3_600_000 },
          { principal: "head", timeoutMs: undefined },
        ],
        approvers: [],
        defaultContinuation: undefined,
        counts: undefined,
        standingProgramId: "",
        principalChain: [`key:${keyId}`],
        nowMs,
        ...input,
      });
      await withTransaction(db, async (tx) => {
        await lockJob(tx, jobId);
        await prepared.write(tx);
        await putJobTasks(tx, prepared.tasks);
        await appendJobEvents(tx, jobId, prepared.events, nowMs);
      });
      return prepared.id;
    },
    answer: (jobId, request = {}) =>
      answerAsk(context, {
        projectId,
        keyId,
        role: "approver",
        jobId,
        requestId: "",
        principalId: "lead",
        continuation: "proceed",
        overridesJson: "",
        note: "",
        deliveryId: "",
        ...request,
      }),
    async ask(jobId, id) {
      const ask = await findAsk(db, jobId, id);
      if (ask === undefined) throw new Error("no such ask");
      return ask;
    },
    log: (jobId) => jobsForProject(db, projectId).listEvents(jobId, { afterSeq: 0, limit: 10_000 }),
    async claim() {
      const nowMs = clock.now();
      const tasks = await claimJobTasks(db, {
        owner: context.nodeId,
        nowMs,
        leaseUntilMs: nowMs + 1,
        limit: 50,
        share: 50,
        fullProjects: new Set(),
      });
      return tasks.flatMap((task) => {
        const { kind } = task;
        return kind === "run" || kind === "deadline" ? [] : [{ kind, run: () => handlers[kind](task) }];
      });
    },
    async work() {
      const done: string[] = [];
      for (;;) {
        const tasks = await bench.claim();
        if (tasks.length === 0) return done;
        for (const { kind, run } of tasks) {
          await run();
          done.push(kind);
        }
      }
    },
    async tasks(jobId) {
      const found = await db.sql<{ kind: string }[]>`
        select kind from job_tasks where job_id = ${uuidOfId(jobId)} order by kind, subject`;
      return found.map(({ kind }) => kind);
    },
  };
  return bench;
}

/** Schema of the values that a person may change when answering the question of these tests. */
const answerSchema = {
  type: "object",
  additionalProperties: false,
  properties: { minGuests: { type: "number" } },
};

/** Adds a project to the database of a test that already has one. */
export async function addProject(db: Database, nowMs: number): Promise<ProjectId> {
  return (await createProject(db, `other-${createId("evt", nowMs)}`, nowMs)).id;
}

/** Returns the code and the reason with which a call is refused. Both are empty texts if the call succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<{ code: string; reason: string }> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error === undefined) return { code: "", reason: "" };
  if (!(error instanceof Fault)) throw error;
  return { code: error.code, reason: error.details[0]?.reason ?? "" };
}
