import { toolCallsForProject } from "@svc/db/calls/repo";
import { contactsForProject } from "@svc/db/contacts/repo";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { type AskBench, createAskBench } from "./test-asks.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

async function reachable(toolSlug = "desk.send_note"): Promise<AskBench> {
  const bench = await createAskBench(db);
  const args = { text: "{question} Answer {requestId} of {jobId}, {{please}." };
  for (const principalId of ["lead", "a/b"]) {
    const reach = { toolSlug, entityId: "ops", args };
    const contact = { principalId, name: principalId, isApprover: false, reach, createdAt: 1 };
    await contactsForProject(db, bench.projectId).put(contact, 1_000);
  }
  return bench;
}

const kinds = async (bench: AskBench, jobId: Awaited<ReturnType<AskBench["job"]>>) =>
  (await bench.log(jobId)).slice(1).map(({ type, payload }) => {
    const { to = "", code = "" } = JSON.parse(payload) as { to?: string; code?: string };
    return [type, to, code].filter((part) => part !== "").join(" ");
  });

test("a contact is told by its tool, through the ledger, and the ask says by which call", async () => {
  const bench = await reachable();
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  expect(await bench.work()).toEqual(["reach"]);
  expect(bench.world.seen.map(({ body }) => body)).toEqual([{ text: `Continue? Answer ${id} of ${jobId}, {please}.` }]);
  const ask = await bench.ask(jobId, id);
  expect(ask).toMatchObject({ toolSlug: "desk.send_note", entityId: "ops", deliveredAt: bench.clock.now() });
  const call = await toolCallsForProject(db, bench.projectId).find(ask.toolCallId as never);
  expect(call).toMatchObject({ toolSlug: "desk.send_note", outcome: "ok", jobId, stepId: "gate" });
  expect(await kinds(bench, jobId)).toEqual(["ask-delivery-changed delivered"]);
});

test("the next hop is told too, and the ask then tells of that call alone", async () => {
  const bench = await reachable();
  const jobId = await bench.job();
  const escalation = [
    { principal: "lead", timeoutMs: 60_000 },
    { principal: "a/b", timeoutMs: undefined },
  ];
  const id = await bench.raise(jobId, { escalation });
  await bench.work();
  const first = (await bench.ask(jobId, id)).toolCallId;
  bench.clock.advance(60_000);
  expect(await bench.work()).toEqual(["hop", "reach"]);
  const second = (await bench.ask(jobId, id)).toolCallId;
  expect([first, second].every((text) => text.startsWith("call_"))).toBe(true);
  expect(second).not.toBe(first);
  expect(bench.world.seen).toHaveLength(2);
});

test("a failing reach is tried three times more, then given up; the contact may answer all the same", async () => {
  const bench = await reachable();
  bench.world.script = () => ({ status: 429, body: {} });
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  for (const waitMs of [0, 10_000, 60_000, 300_000, 3_000_000]) {
    bench.clock.advance(waitMs);
    await bench.work();
  }
  expect(bench.world.seen).toHaveLength(4);
  const retried = "call-retried rate_limited";
  const delivery = "ask-delivery-changed failed rate_limited";
  expect((await kinds(bench, jobId)).filter((kind) => !kind.startsWith("ask-escalated"))).toEqual([
    retried,
    retried,
    retried,
    delivery,
  ]);
  expect(await bench.ask(jobId, id)).toMatchObject({
    toolSlug: "",
    toolCallId: "",
    deliveredAt: null,
    state: "pending",
  });
  await bench.answer(jobId);
});

test("a call whose answer was lost is not sent again, and the log says so", async () => {
  const bench = await reachable();
  bench.world.script = () => "broken";
  const jobId = await bench.job();
  await bench.raise(jobId);
  await bench.work();
  bench.clock.advance(1_000_000);
  expect(await bench.work()).toEqual([]);
  expect(bench.world.seen).toHaveLength(1);
  expect(await kinds(bench, jobId)).toEqual(["call-in-doubt outcome_unknown"]);
});

test("a node that takes the task over learns from the ledger that the contact was told", async () => {
  const bench = await reachable();
  const jobId = await bench.job();
  const id = await bench.raise(jobId);
  const [lost] = await bench.claim();
  // The lease of the task expires just after the first node made the call, and another node claims the task.
  bench.clock.advance(10);
  const [taken] = await bench.claim();
  await lost?.run();
  expect((await bench.ask(jobId, id)).deliveredAt).toBeNull();
  await taken?.run();
  expect(bench.world.seen).toHaveLength(1);
  expect((await bench.ask(jobId, id)).toolCallId).toMatch(/^call_/);
  expect(await bench.tasks(jobId)).toEqual(["hop"]);
});

test("a settled ask reaches nobody any more", async () => {
  const bench = await reachable();
  const jobId = await bench.job();
  await bench.raise(jobId);
  const [task] = await bench.claim();
  await bench.answer(jobId);
  await task?.run();
  expect(bench.world.seen).toEqual([]);
  expect(await bench.tasks(jobId)).toEqual(["run"]);
});

test("a tool that is gone by then is tried again like any failure; one that became destructive is held", async () => {
  const gone = await reachable("desk.no_such_tool");
  const jobId = await gone.job();
  await gone.raise(jobId);
  await gone.work();
  expect(await kinds(gone, jobId)).toEqual(["call-retried tool_not_found"]);
  const destructive = await reachable("desk.delete_note");
  const other = await destructive.job();
  await destructive.raise(other);
  await destructive.work();
  expect(destructive.world.seen).toEqual([]);
});
