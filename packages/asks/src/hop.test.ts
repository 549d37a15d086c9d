import { idOfUuid, uuidOfId } from "@svc/core";
import { contactsForProject } from "@svc/db/contacts/repo";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { askPort } from "./context.ts";
import { createAskBench } from "./test-asks.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
const minute = 60_000;

const ladder = [
  { principal: "lead", timeoutMs: minute },
  { principal: "head", timeoutMs: 2 * minute },
];

test("a ladder is climbed hop by hop, each with its own time, and every hop reached may answer", async () => {
  const bench = await createAskBench(db);
  const jobId = await bench.job();
  const id = await bench.raise(jobId, { escalation: [...ladder, { principal: "board", timeoutMs: undefined }] });
  const startedAt = bench.clock.now();
  expect(await bench.ask(jobId, id)).toMatchObject({
    hopIndex: 0,
    principalId: "lead",
    deliveredPrincipals: ["lead"],
    deadlineAt: startedAt + minute,
    escalation: [
      { principalId: "lead", timeoutSeconds: 60 },
      { principalId: "head", timeoutSeconds: 120 },
      { principalId: "board", timeoutSeconds: 0 },
    ],
  });
  bench.clock.advance(minute - 1);
  expect(await bench.work()).toEqual([]);
  // The worker was down for a while. The next contact still has the full time to answer.
  bench.clock.advance(10 * minute);
  expect(await bench.work()).toEqual(["hop"]);
  expect(await bench.ask(jobId, id)).toMatchObject({
    hopIndex: 1,
    principalId: "head",
    deliveredPrincipals: ["lead", "head"],
    deadlineAt: bench.clock.now() + 2 * minute,
  });
  bench.clock.advance(2 * minute);
  expect(await bench.work()).toEqual(["hop"]);
  const last = { hopIndex: 2, principalId: "board", deliveredPrincipals: ["lead", "head", "board"], deadlineAt: null };
  expect(await bench.ask(jobId, id)).toMatchObject({ ...last, exhausted: false });
  expect(await bench.tasks(jobId)).toEqual([]);
  const escalated = (await bench.log(jobId)).filter(({ type }) => type === "ask-escalated");
  expect(escalated.map(({ payload }) => JSON.parse(payload))).toMatchObject([
    { from: "lead", to: "head", hopIndex: 1 },
    { from: "head", to: "board", hopIndex: 2 },
  ]);
  expect(escalated[0]?.principalChain).toEqual([`key:${bench.keyId}`, "clock"]);
  await bench.answer(jobId, { principalId: "lead" });
  expect(await bench.ask(jobId, id)).toMatchObject({ state: "answered", principalId: "board" });
});

test("after the last hop the clock applies the declared default", async () => {
  const bench = await createAskBench(db);
  const jobId = await bench.job();
  const id = await bench.raise(jobId, { escalation: ladder, defaultContinuation: "abort" });
  bench.clock.advance(minute);
  await bench.work();
  bench.clock.advance(2 * minute);
  await bench.work();
  expect(await askPort.find(db, jobId, id, bench.sealer)).toMatchObject({
    state: "defaulted",
    decision: { continuation: "abort", principalId: "", keyId: "", surface: "timeout", at: bench.clock.now() },
    principalChain: [`key:${bench.keyId}`, "clock"],
  });
  expect(await bench.ask(jobId, id)).toMatchObject({ exhausted: false, deadlineAt: null });
  const settled = (await bench.log(jobId)).at(-1);
  expect(JSON.parse(settled?.payload ?? "")).toMatchObject({ by: "clock", continuation: "abort", surface: "timeout" });
  expect(await bench.tasks(jobId)).toEqual(["run"]);
});

test("a ladder that is over without a default stays answerable for ever by everyone reached", async () => {
  const bench = await createAskBench(db);
  const jobId = await bench.job();
  const id = await bench.raise(jobId, { escalation: ladder });
  bench.clock.advance(minute);
  await bench.work();
  bench.clock.advance(2 * minute);
  await bench.work();
  expect(await bench.ask(jobId, id)).toMatchObject({
    state: "pending",
    exhausted: true,
    deadlineAt: null,
    hopIndex: 1,
  });
  expect(await bench.tasks(jobId)).toEqual([]);
  expect((await bench.log(jobId)).at(-1)).toMatchObject({ type: "ask-exhausted" });
  bench.clock.advance(10_000 * minute);
  await bench.answer(jobId, { principalId: "lead" });
  expect(await bench.ask(jobId, id)).toMatchObject({ state: "answered", exhausted: true });
});

test("a contact that a ladder names twice is reached once and asked twice", async () => {
  const bench = await createAskBench(db);
  const jobId = await bench.job();
  const id = await bench.raise(jobId, {
    escalation: [...ladder.slice(0, 1), { principal: "lead", timeoutMs: minute }],
  });
  bench.clock.advance(minute);
  expect(await bench.work()).toEqual(["hop"]);
  expect(await bench.ask(jobId, id)).toMatchObject({ hopIndex: 1, deliveredPrincipals: ["lead"] });
  expect(await bench.tasks(jobId)).toEqual(["hop"]);
});

test("approvals go at once to those named, or else to every approver, and no clock runs", async () => {
  const bench = await createAskBench(db);
  const contacts = contactsForProject(db, bench.projectId);
  for (const [index, principalId] of ["zoe", "amy"].entries()) {
    const contact = { principalId, name: principalId, isApprover: principalId === "zoe", reach: null };
    await contacts.put({ ...contact, createdAt: bench.clock.now() + index + 1 }, 1_000);
  }
  const approval = { kind: "approval", pointId: "approval", escalation: [], defaultContinuation: "proceed" } as const;
  const [first, second] = [await bench.job(), await bench.job()];
  const all = await bench.raise(first, approval);
  expect(await bench.ask(first, all)).toMatchObject({
    principalId: "owner",
    deliveredPrincipals: ["owner", "zoe"],
    deadlineAt: null,
    defaultContinuation: "",
    approvalId: idOfUuid("apr", uuidOfId(all)),
    escalation: [],
  });
  const named = await bench.raise(second, { ...approval, approvers: ["amy", "zoe"] });
  expect(await bench.ask(second, named)).toMatchObject({
    principalId: "amy",
    deliveredPrincipals: ["amy", "zoe"],
    escalation: [
      { principalId: "amy", timeoutSeconds: 0 },
      { principalId: "zoe", timeoutSeconds: 0 },
    ],
  });
  expect(await bench.tasks(second)).toEqual([]);
  const third = await bench.job();
  const doubt = await bench.raise(third, { kind: "in_doubt", pointId: "in_doubt", escalation: [] });
  expect(await bench.ask(third, doubt)).toMatchObject({ deliveredPrincipals: ["owner", "zoe"], approvalId: "" });
});
