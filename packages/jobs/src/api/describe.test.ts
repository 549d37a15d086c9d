import { JobsService, ProgramReadKind } from "@svc/gen/jobs";
import { canonicalHash } from "@svc/program";
import { catalogOf } from "@svc/testing/catalog";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { refusalsOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const program = {
  inputSchema: { type: "object", required: ["greeting"], properties: { greeting: { type: "string" } } },
  input: { greeting: "hidden words" },
  steps: [
    { id: "fetch", call: "desk.list_items", entity: "ops", rows: { from: "items[]", key: "id", keep: ["id"] } },
    {
      id: "send",
      map: "fetch",
      do: [
        { id: "note", call: "desk.send_note", entity: "ops", args: { text: { $text: "{input.greeting} {row.id}" } } },
      ],
    },
    { id: "sum", reduce: "send", as: { sent: "count ok" } },
  ],
  result: { sent: { $ref: "steps.sum.sent" } },
};

test("a program is described by its text and by its job, with its data flow and without its values", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client, as } = await node.project();
  const programJson = programText(program);
  const described = await as("member").describeProgram({ programJson });
  expect(described).toMatchObject({
    ...{ faults: [], omittedFaults: 0, programHash: canonicalHash(JSON.parse(programJson)), title: "Test" },
    steps: [
      {
        stepId: "fetch",
        kind: "call",
        title: "List items",
        toolSlug: "desk.list_items",
        accessClass: "read",
        reads: [],
      },
      { stepId: "send", kind: "map", reads: [{ from: "fetch", path: "", what: ProgramReadKind.ROWS }] },
      { stepId: "note", parentStepId: "send", branch: "do", accessClass: "write" },
      { stepId: "sum", reads: [{ from: "send", path: "", what: ProgramReadKind.ROWS }] },
    ],
    result: [{ name: "sent", type: "number", reads: [{ from: "sum", path: "sent", what: ProgramReadKind.VALUE }] }],
  });
  expect(described.steps[2]?.reads).toMatchObject([
    { from: "input", path: "greeting", what: ProgramReadKind.INPUT },
    { from: "fetch", path: "id", what: ProgramReadKind.ROWS },
  ]);
  expect(described.steps[2]?.scope).toContainEqual(expect.objectContaining({ name: "input.greeting", type: "string" }));
  expect(JSON.stringify(described)).not.toContain("hidden words");
  const { id: jobId } = jobOf(await client.submitJob({ programJson }));
  expect(await client.describeProgram({ jobId })).toEqual(described);
  expect((await client.listJobs({})).jobs).toHaveLength(1);
});

test("the errors of a program are those of CheckProgram, and it is described as far as it can be read", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client } = await node.project();
  const faulty = [
    "{",
    programText({ steps: [{ id: "a", call: "desk.get_item", entity: "nobody", args: { id: "{row.id}" } }] }),
    programText({
      steps: [
        { id: "a", wait: "1m" },
        { id: "b", filter: "nope", where: "row.x" },
      ],
    }),
    programText({ steps: Array.from({ length: 101 }, (_, index) => ({ id: `s${index}`, wait: "1m" })) }),
    " ".repeat(262_145),
  ];
  const steps: string[][] = [];
  for (const programJson of faulty) {
    const { faults, omittedFaults, programHash, ...described } = await client.describeProgram({ programJson });
    const checked = await client.checkProgram({ programJson });
    expect(faults.length).toBeGreaterThan(0);
    expect({ faults, omittedFaults, programHash }).toEqual({
      ...{ faults: checked.faults, omittedFaults: checked.omittedFaults, programHash: checked.programHash },
    });
    steps.push(described.steps.map(({ stepId }) => stepId));
  }
  expect(steps).toEqual([[], ["a"], ["a", "b"], [], []]);
});

test("the program of a job is described although its tools have since been removed", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client, projectId, keyId } = await node.project();
  const { id: jobId } = jobOf(await client.submitJob({ programJson: programText(program) }));
  const before = await client.describeProgram({ jobId });
  await using later = createTestNode(database.db, { isStarted: false, catalog: catalogOf({ toolkits: [] }) });
  const after = await later.client(JobsService, { projectId, keyId, role: "member" }).describeProgram({ jobId });
  expect(after).toMatchObject({ faults: [], programHash: before.programHash, title: "Test" });
  expect(after.steps.map(({ stepId, reads }) => ({ stepId, reads }))).toEqual(
    before.steps.map(({ stepId, reads }) => ({ stepId, reads })),
  );
});

test("DescribeProgram asks for a program or a job, and knows no job of another project", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client } = await node.project();
  const other = await node.project();
  const programJson = programText(program);
  const { id: jobId } = jobOf(await other.client.submitJob({ programJson }));
  const reasonOf = async (request: object) => (await refusalsOf(client.describeProgram(request))).details;
  expect(await reasonOf({})).toEqual([{ reason: "DESCRIBED_PROGRAM_UNCLEAR", field: "programJson" }]);
  expect(await reasonOf({ programJson, jobId })).toEqual([
    { reason: "DESCRIBED_PROGRAM_UNCLEAR", field: "programJson" },
  ]);
  expect(await reasonOf({ jobId })).toEqual([{ reason: "JOB_NOT_FOUND", field: "jobId" }]);
  expect(await reasonOf({ jobId: "nope" })).toEqual([{ reason: "ID_MALFORMED", field: "jobId" }]);
});

test("DescribeProgram returns the words of expressions only when they are asked for", async () => {
  await using node = createTestNode(database.db, { isStarted: false });
  const { client } = await node.project();
  const programJson = programText(program);
  expect((await client.describeProgram({ programJson })).words).toEqual([]);
  const { words } = await client.describeProgram({ programJson, withWords: true });
  expect(words.find(({ name }) => name === "startsWith")).toMatchObject({
    signature: "string.startsWith(string): bool",
    summary: "True if the text starts with another text.",
    isMethod: true,
  });
});

test("the time for the check and the description of a program is charged to the project of the caller", async () => {
  await using node = createTestNode(database.db);
  const { client, projectId } = await node.project();
  const spentMs = () => node.meter.spentMs().get(projectId) ?? 0;
  const before = spentMs();
  await client.checkProgram({ programJson: programText({ steps: [{ id: "nap", wait: "2h" }] }) });
  const checked = spentMs();
  expect(checked).toBeGreaterThan(before);
  const { job } = await client.submitJob({ programJson: programText({ steps: [{ id: "nap", wait: "1h" }] }) });
  await node.reach(job?.id ?? "", "parked");
  const submitted = spentMs();
  await client.describeProgram({ jobId: job?.id ?? "" });
  expect(spentMs()).toBeGreaterThan(submitted);
});
