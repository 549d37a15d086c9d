import { createId } from "@svc/core";
import { findPendingAsk } from "@svc/db/asks/repo";
import { contactsForProject } from "@svc/db/contacts/repo";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { askPort } from "./context.ts";
import { addProject, createAskBench, refusalOf } from "./test-asks.ts";
import type { AnswerRequest } from "./types.ts";

const { db, drop } = await createTestDatabase({ connectionsMax: 20 });
afterAll(drop);
const bench = await createAskBench(db);
const { clock, projectId, keyId } = bench;

/**
 * Invalid answers, in the order in which the API documents the errors. Each answer also breaks as many of the later rules as possible, so
 * that only the order decides which error is returned.
 */
const bad = {
  requestId: "ask_01h455vb4pex5vsknk084sn02q",
  principalId: "head",
  continuation: "skip",
  overridesJson: "{",
  note: "x".repeat(2_001),
} satisfies Partial<AnswerRequest>;
const refusals: [reason: string, code: string, answer: Partial<AnswerRequest>][] = [
  ["ASK_STALE", "failed_precondition", bad],
  ["ASK_STALE", "failed_precondition", { ...bad, requestId: "no id at all \0" }],
  ["PRINCIPAL_NOT_REACHED", "permission_denied", { ...bad, requestId: "" }],
  ["PRINCIPAL_NOT_REACHED", "permission_denied", { ...bad, requestId: "", principalId: "\0" }],
  ["CONTINUATION_NOT_DECLARED", "invalid_argument", { ...bad, requestId: "", principalId: "lead" }],
  ["OVERRIDES_INVALID", "invalid_argument", { overridesJson: "{", note: bad.note }],
  ["OVERRIDES_INVALID", "invalid_argument", { overridesJson: "{}" }],
  ["OVERRIDES_INVALID", "invalid_argument", { continuation: "retry-with", overridesJson: "{" }],
  ["OVERRIDES_INVALID", "invalid_argument", { continuation: "retry-with", overridesJson: "[]" }],
  ["OVERRIDES_INVALID", "invalid_argument", { continuation: "retry-with", overridesJson: '{"minGuests":"2"}' }],
  ["OVERRIDES_INVALID", "invalid_argument", { continuation: "retry-with", overridesJson: '{"more":1}' }],
  [
    "OVERRIDES_INVALID",
    "invalid_argument",
    { continuation: "retry-with", overridesJson: `{"a":${"[".repeat(9_000)}${"]".repeat(9_000)}}` },
  ],
  ["NOTE_TOO_LONG", "invalid_argument", { note: bad.note }],
];

test.each(refusals)("%s (%s) is logged and moves nothing", async (reason, code, answer) => {
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  const before = await bench.ask(jobId, id);
  expect(await refusalOf(bench.answer(jobId, answer))).toEqual({ code, reason });
  expect(await bench.ask(jobId, id)).toEqual({ ...before, refusedAnswers: 1 });
  expect(await bench.tasks(jobId)).toEqual(["hop"]);
  const [, refused, ...others] = await bench.log(jobId);
  expect(others).toEqual([]);
  expect(refused).toMatchObject({ type: "answer-refused", stepId: "gate", principalChain: [`key:${keyId}`] });
  expect(JSON.parse(refused?.payload ?? "")).toMatchObject({ reason, requestId: id });
});

test("an approval is refused to keys and contacts that may not give it, in that order", async () => {
  const jobId = await bench.job();
  await contactsForProject(db, projectId).put(
    { principalId: "clerk", name: "Clerk", isApprover: false, reach: null, createdAt: 1 },
    1_000,
  );
  const approvers = ["owner", "clerk", "gone"];
  const plan = { kind: "approval", pointId: "approval", stepId: "", escalation: [], approvers } as const;
  const id = await bench.raise(jobId, { ...plan, continuations: ["proceed", "abort"], answerSchemaJson: "" });
  const other = createId("key", 7);
  const answers: [string, Partial<AnswerRequest>][] = [
    ["CONTINUATION_NOT_DECLARED", { principalId: "clerk", continuation: "skip", role: "member" }],
    ["NOTE_TOO_LONG", { principalId: "clerk", role: "member", note: "x".repeat(2_001) }],
    ["APPROVER_ROLE_REQUIRED", { principalId: "clerk", role: "member", keyId: other }],
    ["APPROVAL_KEY_MISMATCH", { principalId: "clerk", keyId: other }],
    ["PRINCIPAL_NOT_APPROVER", { principalId: "clerk" }],
    ["PRINCIPAL_NOT_APPROVER", { principalId: "gone" }],
    ["PRINCIPAL_NOT_REACHED", { principalId: "lead" }],
  ];
  for (const [reason, answer] of answers) {
    expect(await refusalOf(bench.answer(jobId, answer)), reason).toMatchObject({ reason });
  }
  expect(await bench.ask(jobId, id)).toMatchObject({ state: "pending", refusedAnswers: answers.length });
  const reasons = (await bench.log(jobId)).slice(1).map(({ payload }) => JSON.parse(payload).reason);
  expect(reasons).toEqual(answers.map(([reason]) => reason));
  await bench.answer(jobId, { principalId: "owner" });
  expect(await bench.ask(jobId, id)).toMatchObject({ state: "answered", decision: { principalId: "owner", keyId } });
});

test("an answer settles the ask once: what names it afterwards is settled, what names another is stale", async () => {
  const jobId = await bench.job();
  const first = await bench.raise(jobId);
  await bench.answer(jobId, { requestId: first, note: "fine\0\ud800" });
  const refuse = async (requestId: string) => (await refusalOf(bench.answer(jobId, { requestId }))).reason;
  expect(await refuse(first)).toBe("ASK_SETTLED");
  expect(await refuse("")).toBe("ASK_SETTLED");
  clock.advance(1);
  const second = await bench.raise(jobId);
  expect(await refuse(first)).toBe("ASK_SETTLED");
  await bench.db.sql`update job_asks set state = 'withdrawn' where state = 'pending'`;
  expect(await refuse(second)).toBe("ASK_STALE");
  expect(await refuse("")).toBe("ASK_SETTLED");
  expect(await bench.ask(jobId, first)).toMatchObject({
    state: "answered",
    deadlineAt: null,
    refusedAnswers: 3,
    decision: { continuation: "proceed", principalId: "lead", keyId, surface: "api", note: "fine\ufffd\ufffd" },
  });
});

test("a settlement makes the job's run due and is logged with who caused it", async () => {
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  const key = createId("key", 9);
  const overridesJson = '{"minGuests": 2}';
  await bench.answer(jobId, { keyId: key, role: "member", continuation: "retry-with", overridesJson });
  expect(await bench.tasks(jobId)).toEqual(["run"]);
  const settled = (await bench.log(jobId)).at(-1);
  const chain = [`key:${keyId}`, `key:${key}`, "contact:lead"];
  expect(settled).toMatchObject({ type: "ask-settled", principalChain: chain });
  expect(JSON.parse(settled?.payload ?? "")).toEqual({
    requestId: id,
    pointId: "many",
    by: "contact:lead",
    continuation: "retry-with",
    surface: "api",
  });
  expect(await askPort.find(db, jobId, id, bench.sealer)).toEqual({
    id,
    stepId: "gate",
    pointId: "many",
    kind: "judge",
    state: "answered",
    approvalId: "",
    refusedAnswers: 0,
    principalChain: chain,
    overridesJson,
    decision: {
      continuation: "retry-with",
      principalId: "lead",
      keyId: key,
      surface: "api",
      note: "",
      overridesJson,
      at: clock.now(),
    },
  });
});

test("of one ask a hundred refusals are logged, and the others counted", async () => {
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  for (let count = 0; count < 103; count++) await refusalOf(bench.answer(jobId, { principalId: "nobody" }));
  expect((await bench.log(jobId)).filter(({ type }) => type === "answer-refused")).toHaveLength(100);
  expect(await bench.ask(jobId, id)).toMatchObject({ refusedAnswers: 103, state: "pending" });
});

test("answers to a job that never asked are logged a hundred times at most", async () => {
  const jobId = await bench.job();
  for (let count = 0; count < 102; count++) {
    expect(await refusalOf(bench.answer(jobId))).toMatchObject({ reason: "ASK_SETTLED" });
  }
  expect(await bench.log(jobId)).toHaveLength(100);
});

test("another project's job reads as missing, and nothing is logged", async () => {
  const jobId = await bench.job();
  await bench.raise(jobId);
  const stranger = await addProject(db, clock.now());
  const refused = { code: "not_found", reason: "JOB_NOT_FOUND" };
  expect(await refusalOf(bench.answer(jobId, { projectId: stranger }))).toEqual(refused);
  expect(await refusalOf(bench.answer(createId("job", 1)))).toEqual(refused);
  expect(await bench.log(jobId)).toHaveLength(1);
});

test("a withdrawn ask leaves no task and tells so", async () => {
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  const chain = ["key:x"];
  const events = await askPort.withdraw(db, { jobId, nowMs: clock.now(), principalChain: chain });
  expect(events).toMatchObject([{ type: "ask-withdrawn", stepId: "gate", principalChain: chain }]);
  expect(await askPort.withdraw(db, { jobId, nowMs: clock.now(), principalChain: chain })).toEqual([]);
  expect(await bench.tasks(jobId)).toEqual([]);
  expect(await findPendingAsk(db, jobId)).toBeUndefined();
  expect(await askPort.list(db, jobId)).toMatchObject([{ id, state: "withdrawn", decision: undefined }]);
});
