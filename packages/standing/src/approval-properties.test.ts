import type { KeyId, Role } from "@svc/core";
import { AskState, JobStatus } from "@svc/gen/jobs";
import { StandingState } from "@svc/gen/standing";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  clearing,
  createStandingWorld,
  definitionText,
  type StandingProject,
  type StandingWorld,
  settled,
} from "./test-standing.ts";

let database: TestDatabase;
let world: StandingWorld;
beforeAll(async () => {
  database = await createTestDatabase();
  world = createStandingWorld(database.db);
});
afterAll(async () => {
  await world.node[Symbol.asyncDispose]();
  await database.drop();
});

// Number of random walks. It is small here; `npm run test:crash` runs more.
const rounds = Number(process.env["SVC_STANDING_ROUNDS"] ?? 3);
/** With few walks, some may have no effect. So the sample always has the same seed. */
const sample = process.env["SVC_STANDING_ROUNDS"] === undefined ? { seed: 1 } : {};

/** The caller's key: of a member, of the approver who makes versions, or of another approver. */
type Caller = "member" | "approver" | "other";

type Action = {
  readonly call: "create" | "update" | "run" | "pause" | "resume" | "retry" | "answer" | "cancel" | "time";
  readonly by: Caller;
  readonly variant: number;
  readonly says: "proceed" | "abort";
};

const actions = fc.array(
  fc.record<Action>({
    call: fc.constantFrom(
      "update",
      "update",
      "run",
      "run",
      "pause",
      "resume",
      "retry",
      "answer",
      "answer",
      "cancel",
      "time",
    ),
    by: fc.constantFrom("member", "approver", "approver", "other"),
    variant: fc.nat(2),
    says: fc.constantFrom("proceed", "proceed", "abort"),
  }),
  { minLength: 8, maxLength: 24 },
);

let named = 0;

test(`${rounds} times, nothing is destroyed that an approver did not approve, whatever is called in whatever order`, {
  timeout: 600_000,
}, async () => {
  world.goTo("2026-05-01T09:00:30Z");
  let destroyed = 0;
  await fc.assert(
    fc.asyncProperty(actions, async (walk) => {
      const project = await world.project();
      const notes = [0, 1, 2].map(() => `note-${++named}`);
      const approved = new Set<string>();
      const other = await project.key();
      const facts = { project, notes, approved, other };
      await take(facts, { call: "create", by: "approver", variant: 0, says: "proceed" });
      for (const action of [...walk, last]) {
        await take(facts, action);
        const seen = world.world.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path.slice(7));
        const own = seen.filter((note) => notes.includes(note));
        expect(own.filter((note) => !approved.has(note))).toEqual([]);
        destroyed += own.length;
      }
      const { standingPrograms } = await project.standing.listStandingPrograms({});
      for (const { id } of standingPrograms) await project.standing.deleteStandingProgram({ id, cancelRunning: true });
    }),
    { ...sample, numRuns: rounds, endOnFailure: true },
  );
  // Without a deletion, the test would have checked nothing.
  expect(destroyed).toBeGreaterThan(0);
});

const last: Action = { call: "time", by: "approver", variant: 0, says: "abort" };

type Facts = {
  readonly project: StandingProject;
  readonly notes: readonly string[];
  /** Ids of versions that the approver who made them has approved. */
  readonly approved: Set<string>;
  readonly other: KeyId;
};

async function take({ project, notes, approved, other }: Facts, { call, by, variant, says }: Action): Promise<void> {
  const { as, jobsAs, standing, jobs, keyId } = project;
  const role: Role = by === "member" ? "member" : "approver";
  const key = by === "other" ? other : keyId;
  const note = notes[variant] ?? "";
  const id = "clears";
  // Only this program deletes the note. So if the note was deleted, the program must have been approved.
  const definitionJson = definitionText({
    program: clearing(note),
    source: { schedule: { every: "1m" } },
    overlap: { policy: "allow" },
  });
  // Most calls are refused. The reasons do not matter here.
  const tried = (promise: Promise<unknown>) => promise.catch(() => undefined);
  const client = as(role, key);
  switch (call) {
    case "create":
      return void (await tried(client.createStandingProgram({ slug: id, definitionJson })));
    case "update":
      return void (await tried(client.updateStandingProgram({ id, definitionJson })));
    case "run":
      return void (await tried(client.runStandingProgram({ id })));
    case "pause":
      return void (await tried(client.pauseStandingProgram({ id })));
    case "resume":
      return void (await tried(client.resumeStandingProgram({ id })));
    case "retry": {
      const { jobs: list } = await jobs.listJobs({ standingProgramId: (await idOfProgram(standing)) ?? "" });
      for (const job of list) await tried(jobsAs(role, key).retryJob({ id: job.id }));
      return;
    }
    case "cancel": {
      const { jobs: list } = await jobs.listJobs({ status: JobStatus.PENDING_PLAN_APPROVAL, mode: "rehearse" });
      for (const job of list) await tried(jobsAs(role, key).cancelJob({ id: job.id }));
      return;
    }
    case "answer": {
      const { asks } = await jobs.listAsks({ state: AskState.PENDING });
      for (const { jobId, requestId, question } of asks) {
        const answer = { jobId, requestId, principalId: "owner", continuation: says };
        const asked = notes.find((one) => question.includes(`"Clear ${one}"`));
        // The approval is noted before the answer, because the allowed run may already start when the answer arrives.
        const isNew = role === "approver" && says === "proceed" && asked !== undefined && !approved.has(asked);
        if (isNew) approved.add(asked);
        const isTaken = await jobsAs(role, key)
          .answerAsk(answer)
          .then(
            () => true,
            () => false,
          );
        if (isNew && !isTaken) approved.delete(asked);
      }
      return;
    }
    case "time": {
      world.goTo(world.now() + 61_000);
      await settled(async () => {
        const { standingProgram } = await standing.getStandingProgram({ id });
        const [next] = standingProgram?.nextTimes ?? [];
        const isDue = next !== undefined && Number(next.seconds) * 1000 <= world.now();
        return standingProgram?.state !== StandingState.ACTIVE || (!isDue && standingProgram.counts?.underWay === 0);
      });
    }
  }
}

async function idOfProgram(standing: StandingProject["standing"]): Promise<string | undefined> {
  return (await standing.listStandingPrograms({})).standingPrograms[0]?.id;
}
