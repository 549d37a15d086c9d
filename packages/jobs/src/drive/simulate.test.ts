import { createWorld } from "@svc/testing/desk";
import { countTasks, createBenches, sendAll, typesOf } from "@svc/testing/job-benches";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

test("a simulated job reads, and sends no write", async () => {
  const world = createWorld({ items: 7 });
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(sendAll(), { mode: "simulate" });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.job.lastError).toBe("");
  expect(world.seen.every(({ method }) => method === "GET")).toBe(true);
  expect(reading.steps["items"]?.state).toBe("completed");
  expect(reading.steps["send"]).toMatchObject({ state: "simulated", rows: { in: 7, ok: 7 } });
  expect(reading.receipt.calls).toMatchObject({ read: 1, write: 0 });
});

test("a simulation shows what its first writes would send, and how many there are", async () => {
  await using node = createTestNode((await benches.bench()).db, { world: createWorld({ items: 30 }) });
  const { client } = await node.project();
  const long = { id: "long", call: "desk.send_note", entity: "ops", args: { text: "x".repeat(500) } };
  const program = sendAll();
  const programJson = programText({ steps: [...program.steps, long] });
  const { id } = jobOf(await client.submitJob({ programJson, mode: "simulate" }));
  await node.reach(id, "succeeded", "failed");
  const [, send, last] = (await client.listSteps({ jobId: id })).steps;
  expect(send).toMatchObject({ state: "simulated", simulatedWrites: 30 });
  expect(send?.simulatedCalls.map(({ ordinal }) => ordinal)).toEqual(Array.from({ length: 10 }, (_, n) => n));
  expect(send?.simulatedCalls[1]).toMatchObject({
    callId: "note",
    toolSlug: "desk.send_note",
    entityId: "ops",
    argumentsJson: '{"text":"i1"}',
  });
  expect(last?.simulatedCalls.map(({ argumentsJson }) => argumentsJson)).toEqual([`{"text":"${"x".repeat(200)}…"}`]);
  const live = jobOf(await client.submitJob({ programJson }));
  await node.reach(live.id, "succeeded", "failed");
  expect((await client.listSteps({ jobId: live.id })).steps[1]).toMatchObject({
    simulatedWrites: 0,
    simulatedCalls: [],
  });
});

test("simulated points answer themselves, and one that can neither proceed nor skip ends the simulation", async () => {
  const bench = await benches.bench();
  bench.engine();
  const judged = (continuations: string[]) => ({
    params: { n: 1 },
    steps: [
      { id: "gate", judge: "ok" },
      { id: "last", call: "desk.get_item", entity: "ops", args: { id: "x" } },
    ],
    points: {
      ok: {
        question: "Go?",
        continuations,
        escalation: [{ principal: "owner" }],
        overrides: { target: "params", rerunFrom: "gate" },
        answerSchema: { type: "object", additionalProperties: false, properties: { n: { type: "number" } } },
      },
    },
  });
  const proceeds = await bench.reach(
    await bench.submit(judged(["proceed", "abort"]), { mode: "simulate" }),
    "succeeded",
    "failed",
    "parked",
  );
  expect(proceeds.job.status).toBe("succeeded");
  expect(proceeds.steps["last"]?.state).toBe("completed");
  expect(proceeds.steps["gate"]).toMatchObject({ state: "simulated", decision: { surface: "simulation" } });
  const ends = await bench.reach(
    await bench.submit(judged(["retry-with", "abort"]), { mode: "simulate" }),
    "succeeded",
    "failed",
    "parked",
  );
  expect(ends.receipt.outcome).toBe("partial");
  expect(ends.steps["last"]).toBeUndefined();
});

test("simulateFirst runs a twin, then asks for approval, then runs for real", async () => {
  const world = createWorld({ items: 2 });
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(sendAll(), { simulateFirst: true, needsApproval: true });
  const pending = await bench.reach(id, "pending_plan_approval", "failed");
  expect(pending.job.lastError).toBe("");
  expect(pending.job.park?.judgment?.question).toBe('Approve the plan "Test"? At most 0 calls: no writes.');
  expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(0);
  expect(pending.events.find(({ type }) => type === "simulation-finished")?.payload).toMatchObject({
    status: "succeeded",
    outcome: "complete",
  });
  await bench.answer(id, { continuation: "proceed" });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(2);
  expect(typesOf(reading)[0]).toBe("job-submitted");
  expect(await countTasks(bench)).toBe(0);
});

test("a simulation that fails fails the job, which executed nothing", async () => {
  const world = createWorld();
  world.script = () => ({ status: 500 });
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(sendAll(), { simulateFirst: true });
  const reading = await bench.reach(id, "failed", "succeeded");
  expect(reading.job.lastError).toMatch(/^SIMULATION_FAILED: /);
  expect(reading.receipt.outcome).toBe("none");
  expect(await countTasks(bench)).toBe(0);
});
