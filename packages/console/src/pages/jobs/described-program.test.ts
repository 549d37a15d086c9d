import { create } from "@bufbuild/protobuf";
import { DescribeProgramResponseSchema, JobSchema, JobStatus, JobStepSchema, ProgramReadKind } from "@svc/gen/jobs";
import { expect, test } from "vitest";
import { toGraphProgram, toGraphRun } from "./described-program.ts";

const startedAt = { seconds: 1_700_000_000n, nanos: 0 };
const finishedAt = { seconds: 1_700_000_000n, nanos: 98_000_000 };

test("a description becomes a graph with the names of the input, and a kind of read that is not known is left out", () => {
  const answer = create(DescribeProgramResponseSchema, {
    programHash: "hash",
    steps: [
      {
        ...{
          stepId: "deals",
          kind: "call",
          title: "List deals",
          toolSlug: "sales_crm.list_deals",
          toolkitName: "Sales CRM",
        },
        reads: [
          { from: "input", path: "chat", what: ProgramReadKind.INPUT },
          { from: "x", path: "", what: 99 as ProgramReadKind },
        ],
        scope: [{ name: "input.chat" }, { name: "input.chat.id" }, { name: "params.least" }],
      },
    ],
    result: [{ name: "all", reads: [{ from: "deals", what: ProgramReadKind.COUNT }] }],
  });
  expect(toGraphProgram(answer)).toEqual({
    ...{ key: "hash", input: ["chat"] },
    steps: [
      {
        ...{ id: "deals", kind: "call", parentId: "", branch: "", title: "List deals" },
        ...{ tool: "sales_crm.list_deals", app: "Sales CRM", reads: [{ from: "input", path: "chat", what: "input" }] },
      },
    ],
    result: [{ name: "all", reads: [{ from: "deals", path: "", what: "count" }] }],
  });
});

test("a step shows its rows and its time, and the rows that later steps get", () => {
  const job = create(JobSchema, {
    status: JobStatus.RUNNING,
    stepReceipts: [{ stepId: "each", rows: { in: 3, ok: 2, failed: 1 } }],
  });
  const steps = [
    { stepId: "deals", state: "completed", rowsDone: 3, startedAt, finishedAt },
    { stepId: "large", state: "completed", rowsDone: 3, rowsMade: 1, startedAt, finishedAt },
    { stepId: "each", state: "partial", rowsDone: 3, rowsMade: 3, startedAt, finishedAt },
    { stepId: "tasks", state: "running", rowsDone: 800, rowsRemaining: 1_600, startedAt },
    { stepId: "gate", state: "waiting" },
  ].map((step) => create(JobStepSchema, step));
  const { looks, hasStarted, hasSucceeded } = toGraphRun(job, steps, 1_700_000_002_500);
  expect([hasStarted, hasSucceeded]).toEqual([true, false]);
  expect([...looks].map(([id, { facts, rowsOut, progress }]) => [id, facts, rowsOut, progress])).toEqual([
    ["deals", "3 rows · 98 ms", 3, undefined],
    ["large", "1 of 3 · 98 ms", 1, undefined],
    ["each", "3 rows · 1 failed · 98 ms", 3, undefined],
    ["tasks", "800 of 2,400 · 2.5 s", 800, 1 / 3],
    ["gate", "", undefined, undefined],
  ]);
});
