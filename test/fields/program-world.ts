import { toJson } from "@bufbuild/protobuf";
import { type Client, ConnectError } from "@connectrpc/connect";
import { createId, type Id, uuidOfId } from "@svc/core";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject, setProjectPolicy } from "@svc/db/projects/repo";
import { ContactsService } from "@svc/gen/contacts";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { JobEventSchema, JobSchema, JobStepSchema, JobsService } from "@svc/gen/jobs";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { catalogOf } from "@svc/testing/catalog";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { connectDesk, desk } from "@svc/testing/desk";
import { createTestNode, testSealer } from "@svc/testing/node";
import { pauseMs, until } from "@svc/testing/until";
import { createProgramApp, type Sent } from "./program-app.ts";

// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever a job holds
type Json = any;

/** The answers that people give each time a point is asked. A question without an answer waits for its deadline. */
export type Answers = Readonly<
  Record<string, readonly { readonly continuation: string; readonly overrides?: object }[]>
>;

/** The result of a program's run: its ended job, or the state it came to. */
export type Ran = {
  readonly job: Json;
  readonly steps: Readonly<Record<string, Json>>;
  readonly log: readonly Json[];
  readonly sent: readonly Sent[];
  readonly widest: number;
  readonly result: Json;
  /** The reason for which an answer was refused. Empty if none was refused. */
  readonly refused: string;
};

/** A service with the test app and a test clock, which always moves to the next due time. */
export type ProgramWorld = {
  readonly jobs: Client<typeof JobsService>;
  /** Returns the answer of CheckProgram. Faults and notes have the form `REASON pointer`. */
  check(program: object): Promise<Json>;
  run(program: object, answers?: Answers): Promise<Ran>;
  /** Returns the reason for which a standing program is paused after it has run a program once. Empty if it is not paused. */
  pauseReason(program: object): Promise<string>;
  close(): Promise<void>;
};

const ended = /SUCCEEDED|FAILED|ABORTED|REJECTED|EXPIRED|CANCELLED/;

/** Returns the text of a program, with the fields that every program needs. */
function textOf(program: object): string {
  return JSON.stringify({ version: 1, title: "A proof", ...program });
}

/**
 * Creates the service, with accounts of the test app for `ops` and for `sales`, the approvers `owner` and `head`, the contact `lead` and
 * two skills.
 */
export async function createProgramWorld(): Promise<ProgramWorld> {
  const database = await createTestDatabase();
  const { db } = database;
  const clock = createTestClock();
  const app = createProgramApp(clock.now);
  const node = createTestNode(db, {
    clock,
    catalog: catalogOf({ toolkits: [desk] }),
    transport: app.transport,
    sandboxMode: "force",
    limits: { jobs: { patienceMs: 0 } },
    engines: ["jobs", "standing"],
  });
  const { id: projectId } = await createProject(db, "proofs", clock.now());
  for (const entity of ["ops", "sales"]) await connectDesk(db, testSealer, projectId, clock.now(), entity);
  await setProjectPolicy(db, projectId, { planApproval: "never", redirectUrls: [], httpHosts: ["api.example.com"] });
  const caller = { projectId, role: "approver", keyId: createId("key", clock.now()) } as const;
  await createApiKey(db, {
    ...{ id: caller.keyId, projectId, role: "approver", name: "", hint: "", createdAt: clock.now() },
    ...{ digest: Buffer.from(caller.keyId), expiresAt: null, revokedAt: null, lastUsedAt: null },
  });
  const jobs = node.client(JobsService, caller);
  const standing = node.client(StandingService, caller);
  const contacts = node.client(ContactsService, caller);
  await contacts.putContact({ contact: { principalId: "lead", name: "Lead" } });
  await contacts.putContact({ contact: { principalId: "head", name: "Head", approver: true } });
  await node.client(SecretsService, caller).putSecret({ name: "token", value: "the-secret-of-the-proofs" });

  /** Answers open questions and moves the clock to the next due time, until the job has ended or waits for a person. */
  const goOn = async (jobId: string, answers: Answers = {}): Promise<Json> => {
    const answered: string[] = [];
    for (
      const startedAt = performance.now();
      ;
      await new Promise((resolve) => setTimeout(resolve, pauseMs(startedAt)))
    ) {
      const { job } = await jobs.getJob({ id: jobId });
      const read = toJson(JobSchema, job!) as Json;
      if (ended.test(read.status)) return read;
      const ask = read.pendingAsk;
      const answer = answers[ask?.pointId]?.[answered.filter((pointId) => pointId === ask.pointId).length];
      if (answer !== undefined) {
        const { continuation, overrides } = answer;
        const overridesJson = overrides === undefined ? "" : JSON.stringify(overrides);
        const principalId = ask.principalId || ask.deliveredPrincipals[0];
        answered.push(ask.pointId);
        await jobs.answerAsk({ jobId, principalId, continuation, overridesJson, requestId: ask.requestId });
        continue;
      }
      const due = await nextDue();
      if (due === undefined && ask !== undefined) return read;
      if (due !== undefined && due > clock.now()) {
        clock.advance(due - clock.now());
        node.jobs.engine.wake();
      }
      if (performance.now() > startedAt + 15_000)
        throw new Error(
          `the job is ${read.status} (${read.lastError}) ${clock.now()} ${JSON.stringify(await db.sql.unsafe("select kind, due_at, lease_owner, lease_until from job_tasks"))}`,
        );
    }
  };
  /** Returns the due time of the first task that is not being worked on. The deadline of a question counts too. */
  const nextDue = async (): Promise<number | undefined> => {
    const [tasks] = await db.sql.unsafe<{ due: number | null; held: number }[]>(
      `select (extract(epoch from min(due_at)) * 1000)::float8 as due, count(lease_owner)::int as held from job_tasks`,
    );
    return tasks === undefined || tasks.due === null ? undefined : tasks.held > 0 ? clock.now() : tasks.due;
  };

  const world: ProgramWorld = {
    jobs,
    async check(program) {
      const checked = await jobs.checkProgram({ programJson: textOf(program) });
      const words = (list: readonly { reason: string; field: string }[]) =>
        list.map(({ reason, field }) => `${reason} ${field.slice("programJson".length)}`);
      return { ...checked, faults: words(checked.faults), notes: words(checked.notes) };
    },
    async run(program, answers) {
      app.sent.length = 0;
      app.widest = 0;
      const startedAt = clock.now();
      const { job: made } = await jobs.submitJob({ programJson: textOf(program) });
      const id = made!.id;
      let refused = "";
      const job = await goOn(id, answers).catch(async (error: unknown) => {
        const [detail] = ConnectError.from(error).findDetails(ErrorDetailSchema);
        if (detail === undefined) throw error;
        refused = detail.reason;
        return toJson(JobSchema, (await jobs.getJob({ id })).job!);
      });
      const { steps } = await jobs.listSteps({ jobId: id });
      const { events } = await jobs.listJobEvents({ jobId: id });
      if (!ended.test(job.status)) await jobs.cancelJob({ id });
      return {
        job,
        steps: Object.fromEntries([
          ...steps.map((step) => [step.stepId, toJson(JobStepSchema, step)]),
          ...(job.stepReceipts ?? []).map((receipt: Json) => [receipt.stepId, receipt]),
        ]),
        log: events.map((event) => toJson(JobEventSchema, event)),
        sent: app.sent.map((request) => ({ ...request, atMs: request.atMs - startedAt })),
        widest: app.widest,
        result: job.receipt?.resultJson ? JSON.parse(job.receipt.resultJson) : undefined,
        refused,
      };
    },
    async pauseReason(program) {
      const source = { schedule: { cron: ["0 9 1 1 *"] } };
      const definitionJson = JSON.stringify({
        version: 1,
        title: "Standing",
        timeZone: "UTC",
        source,
        program: JSON.parse(textOf(program)),
      });
      const { standingProgram } = await standing.createStandingProgram({
        slug: `p${createId("evt", 0).slice(-20)}`,
        definitionJson,
      });
      const id = standingProgram!.id;
      const { run } = await standing.runStandingProgram({ id });
      await until(async () => {
        // The jobs engine looks for work by the clock, so the clock has to move on.
        clock.advance(1_000);
        node.jobs.engine.wake();
        const [counted] = await db.sql<{ is_counted: boolean }[]>`
          select is_counted from standing_runs where id = ${uuidOfId(run!.id as Id<"srn">)} and state = 'ended'`;
        return counted?.is_counted === true;
      });
      return (await standing.getStandingProgram({ id })).standingProgram!.pauseReason;
    },
    async close() {
      await node[Symbol.asyncDispose]();
      await database.drop();
    },
  };
  await makeSkills(world);
  return world;
}

/** Creates two skills: one returns its text, the other returns it with an exclamation mark. */
async function makeSkills({ jobs, run }: ProgramWorld): Promise<void> {
  const inputSchema = {
    type: "object",
    additionalProperties: false,
    properties: { text: { type: "string", default: "skill" } },
  };
  const skills = {
    say: { $ref: "input.text" },
    shout: { $text: "{input.text}!" },
  };
  for (const [slug, text] of Object.entries(skills)) {
    const { job } = await run({
      inputSchema,
      input: { text: "made" },
      steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text } }],
      result: { said: { $ref: "steps.note.text" } },
    });
    await jobs.promoteJob({ jobId: job.id, slug, description: `Leaves a note on the desk, as ${slug} does.` });
  }
}
