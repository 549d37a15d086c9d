import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, jobOf, programText, type TestNode, type TestProject } from "@svc/testing/jobs-node";
import { repeats } from "@svc/testing/sample";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

// No way around the approval of a plan exists: not by cancelling, retrying, rerunning, changing or answering, with any key.

let database: TestDatabase;
let node: TestNode;

beforeAll(async () => {
  database = await createTestDatabase();
  node = createTestNode(database.db);
});
afterAll(async () => {
  await node?.[Symbol.asyncDispose]();
  await database?.drop();
});

const bad = { id: "bad", call: "desk.get_item", entity: "ops", args: { id: "bad" } };
const params = { note: "n1" };
const programJson = programText({
  params,
  approval: { plan: "destructive" },
  steps: [
    { id: "drop", call: "desk.delete_note", entity: "ops", args: { id: { $ref: "params.note" }, confirm: true } },
    bad,
  ],
});

/** The same program as a skill inside a branch. The outer program claims that it needs no approval. */
const skillJson = programText({
  inputSchema: { type: "object", required: ["note"], properties: { note: { type: "string" } } },
  input: { note: "n0" },
  steps: [{ id: "gone", call: "desk.delete_note", entity: "ops", args: { id: { $ref: "input.note" }, confirm: true } }],
});
const branchJson = programText({
  params,
  approval: { plan: "never" },
  steps: [
    {
      id: "ways",
      parallel: {
        one: [{ id: "drop", run: "skills.drop", input: { note: { $ref: "params.note" } } }],
        two: [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: "x" } }],
      },
    },
    bad,
  ],
});

/** Submits one of the two programs to a new project. */
async function submit(project: TestProject, isSkill: boolean): Promise<string> {
  if (!isSkill) return jobOf(await project.client.submitJob({ programJson })).id;
  const { id: jobId } = jobOf(await project.client.submitJob({ programJson: skillJson }));
  await project.client.answerAsk({ jobId, principalId: "owner", continuation: "proceed" });
  await node.reach(jobId, "succeeded");
  await project.client.promoteJob({ jobId, slug: "drop", description: "Deletes a note." });
  return jobOf(await project.client.submitJob({ programJson: branchJson })).id;
}

const ended = ["succeeded", "failed", "aborted", "rejected", "expired", "cancelled"];

type Act =
  | "cancel"
  | "retry"
  | "retryFirst"
  | "retryChanged"
  | "rerun"
  | "rerunRepinned"
  | "approve"
  | "reject"
  | "pause";
const acts = fc.array(
  fc.record({
    act: fc.constantFrom<Act>(
      "cancel",
      "retry",
      "retryFirst",
      "retryChanged",
      "rerun",
      "rerunRepinned",
      "approve",
      "reject",
      "pause",
    ),
    role: fc.constantFrom("approver", "member", "other"),
  }),
  { minLength: 2, maxLength: 8 },
);

test("nothing is deleted that was not approved as it is", { timeout: 900_000 }, async () => {
  node.world.script = ({ path }) => (path === "/items/bad" ? { status: 404 } : undefined);
  const done = new Set<string>();
  let deleted = 0;
  await fc.assert(
    fc.asyncProperty(acts, fc.boolean(), async (list, isSkill) => {
      const project = await node.project();
      const other = project.as("approver", undefined);
      const clients = { approver: project.client, member: project.as("member"), other };
      let id = await submit(project, isSkill);
      const from = node.world.seen.length;
      /** Approvals given so far: the job, and the value that the plan had then. */
      const approved: string[] = [];
      let note = "n1";
      for (const { act, role } of list) {
        const { jobs } = { jobs: clients[role] };
        const before = note;
        try {
          if (act === "cancel") await jobs.cancelJob({ id });
          if (act === "pause") {
            await jobs.pauseJob({ id });
            await jobs.resumeJob({ id });
          }
          if (act === "retry") await jobs.retryJob({ id, resendUnknown: true });
          if (act === "retryFirst") await jobs.retryJob({ id, fromStepId: "drop" });
          if (act === "retryChanged") {
            note = `n${Number(note.slice(1)) + 1}`;
            await jobs.retryJob({ id, paramsJson: JSON.stringify({ note }) });
          }
          if (act === "rerun" || act === "rerunRepinned") {
            note = `n${Number(note.slice(1)) + 1}`;
            const repin = act === "rerunRepinned";
            id = (await jobs.rerunJob({ id, paramsJson: JSON.stringify({ note }), repin })).job?.id ?? "";
          }
          if (act === "approve" || act === "reject") {
            const continuation = act === "approve" ? "proceed" : "abort";
            await jobs.answerAsk({ jobId: id, principalId: "owner", continuation });
            if (act === "approve") approved.push(note);
          }
          done.add(`${act} by ${role}`);
        } catch {
          note = before;
        }
        await node.reach(id, "pending_plan_approval", ...ended);
      }
      const gone = node.world.seen.slice(from).flatMap(({ method, path }) => (method === "DELETE" ? [path] : []));
      deleted += gone.length;
      // Each deleted note was in an approved plan, and was deleted at most once for each such approval.
      for (const path of gone)
        expect([approved, path]).toEqual([expect.arrayContaining([path.slice("/notes/".length)]), path]);
      expect(gone.length).toBeLessThanOrEqual(approved.length);
    }),
    { numRuns: repeats({ sample: 20, whole: 200 }), seed: 20_261_124 },
  );
  expect(deleted).toBeGreaterThan(0);
  for (const what of ["approve by approver", "retry by member", "retryChanged by approver", "rerun by approver"]) {
    expect(done).toContain(what);
  }
  for (const what of ["rerun by member", "retryChanged by member", "approve by member"])
    expect(done).not.toContain(what);
});
