import { type Id, idOfUuid, uuidOfId } from "@svc/core";
import { createWorld, type World } from "@svc/testing/desk";
import type { JobReading, TestBench } from "@svc/testing/job-bench";
import { countTasks, createBenches, fetchItems, typesOf } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

// Tests of skills that the branches of a `parallel` step run.

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const inputSchema = { type: "object", required: ["text"], properties: { text: { type: "string" } } };
const input = { text: "x" };
const send = { id: "send", call: "desk.send_note", entity: "ops", args: { text: { $ref: "input.text" } } };
const points = {
  go: { question: "Go?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] },
};
const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
const saga = { on: ["failed", "aborted", "cancelled"] };
const skills = {
  note: { inputSchema, input, steps: [send], result: { id: { $ref: "steps.send.id" } } },
  undone: { inputSchema, input, saga, steps: [{ ...send, undo }] },
  asks: { inputSchema, input, points, steps: [{ id: "gate", judge: "go" }, send] },
  rests: {
    inputSchema,
    input,
    saga,
    steps: [
      { ...send, undo },
      { id: "pause", wait: "1h" },
    ],
  },
  reads: { inputSchema, input, steps: [fetchItems()], result: { rows: { $ref: "rows.items" } } },
};

const run = (id: string, skill: keyof typeof skills, text = id) => ({ id, run: `skills.${skill}`, input: { text } });
const call = (id: string) => ({ id, call: "desk.send_note", entity: "ops", args: { text: id } });
const texts = ({ seen }: World) => seen.flatMap(({ method, body }) => (method === "POST" ? [body["text"]] : []));
const gone = ({ seen }: World) => seen.flatMap(({ method, path }) => (method === "DELETE" ? [path] : []));

async function childrenOf({ db }: TestBench, jobId: Id<"job">): Promise<Id<"job">[]> {
  const rows = await db.sql<{ id: string }[]>`
    select id from jobs where parent_job_id = ${uuidOfId(jobId)}::uuid order by id`;
  return rows.map(({ id }) => idOfUuid("job", id));
}

/** Waits until a job has one of these statuses. The engine is woken all the time, as it would be while time passes. */
async function reach(bench: TestBench, jobId: Id<"job">, ...statuses: string[]): Promise<JobReading> {
  let reading = await bench.read(jobId);
  await until(async () => {
    for (const engine of bench.engines) engine.wake();
    reading = await bench.read(jobId);
    return statuses.includes(reading.job.status);
  });
  return reading;
}

/** Waits until one child of a job has this status, and returns this child. */
async function childThat(bench: TestBench, jobId: Id<"job">, status: string): Promise<Id<"job">> {
  let found: Id<"job"> | undefined;
  await until(async () => {
    const readings = await Promise.all((await childrenOf(bench, jobId)).map((child) => bench.read(child)));
    for (const engine of bench.engines) engine.wake();
    found = readings.find(({ job }) => job.status === status)?.job.id;
    return found !== undefined;
  });
  return found as Id<"job">;
}

test("branches run skills at the same time, and their results are known behind", async () => {
  const world = createWorld();
  const both = Promise.withResolvers<undefined>();
  world.script = () => {
    if (world.seen.length === 2) both.resolve(undefined);
    // Neither request is answered before both have arrived.
    return world.seen.length > 2 ? undefined : both.promise;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const last = { ...call("last"), args: { text: { $text: "{steps.left.id} {steps.right.id}" } } };
  const steps = [{ id: "ways", parallel: { a: [run("left", "note")], b: [run("right", "note")] } }, last];
  const id = await bench.submit({ steps }, { skills });
  const { job, steps: receipts, receipt, events } = await reach(bench, id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(texts(world).at(-1)).toBe("note-left note-right");
  expect(receipts["left"]).toMatchObject({ kind: "run", state: "completed", calls: { write: 1 } });
  expect(receipt.calls.write).toBe(3);
  expect(job.used).toMatchObject({ toolCalls: 3, writes: 3 });
  const started = events.flatMap(({ type, stepId }) => (type === "child-started" ? [stepId] : []));
  expect(started.toSorted()).toEqual(["left", "right"]);
  expect(await childrenOf(bench, id)).toHaveLength(2);
  expect(await countTasks(bench)).toBe(0);
});

test("a map in a branch runs a skill for each row, beside a skill of another", async () => {
  const bench = await benches.bench(createWorld({ items: 5, pageSize: 10 }));
  bench.engine();
  const each = { id: "each", map: "items", concurrency: 2, do: [run("tell", "note")] };
  const steps = [{ id: "ways", parallel: { a: [fetchItems(), each], b: [run("one", "note"), call("more")] } }];
  const id = await bench.submit({ steps }, { skills });
  const { job, steps: receipts } = await reach(bench, id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(receipts["each"]).toMatchObject({ state: "completed", rows: { in: 5, ok: 5 } });
  expect(await childrenOf(bench, id)).toHaveLength(6);
  expect(job.used).toMatchObject({ toolCalls: 8, writes: 7, rows: 5 });
});

test("a child that asks parks the job once nothing else goes on; the other branch is done meanwhile", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const steps = [{ id: "ways", parallel: { a: [run("asked", "asks")], b: [run("told", "note"), call("more")] } }];
  const id = await bench.submit({ steps }, { skills });
  const parked = await reach(bench, id, "parked", "failed");
  const child = await childThat(bench, id, "parked");
  expect(parked.job.park).toMatchObject({ reason: "child", stepId: "asked", childJobId: child });
  expect(parked.job.deadlineAt).toBeNull();
  expect(texts(world)).toEqual(["told", "more"]);
  await bench.answer(child, { continuation: "proceed" });
  const { job, events } = await reach(bench, id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(job.used.asks).toBe(1);
  const moves = events.flatMap(({ type, payload }) => (type === "job-status-changed" ? [payload["reason"]] : []));
  expect(moves).toEqual(["started", "child", "child", "finished"]);
});

test("a question of a branch and one of another's child are both open, and each answer moves its own", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const steps = [
    { id: "ways", parallel: { a: [run("asked", "asks")], b: [{ id: "own", judge: "go" }, call("more")] } },
  ];
  const id = await bench.submit({ points, steps }, { skills });
  const parked = await reach(bench, id, "parked", "failed");
  const child = await childThat(bench, id, "parked");
  expect(parked.job.park).toMatchObject({ reason: "judgment", stepId: "own" });
  await bench.answer(id, { continuation: "proceed" });
  await until(async () => (await bench.read(id)).job.park?.reason === "child");
  expect(texts(world)).toEqual(["more"]);
  await bench.answer(child, { continuation: "proceed" });
  const { job } = await reach(bench, id, "succeeded", "failed");
  expect([job.lastError, job.used.asks]).toEqual(["", 2]);
  // The same with the two branches in the opposite order.
  const second = await bench.submit({ points, steps }, { skills });
  await reach(bench, second, "parked", "failed");
  await bench.answer(await childThat(bench, second, "parked"), { continuation: "proceed" });
  await childThat(bench, second, "succeeded");
  await until(async () => {
    const { job: now } = await bench.read(second);
    return now.status === "parked" && now.used.writes === 1;
  });
  await bench.answer(second, { continuation: "proceed" });
  expect((await reach(bench, second, "succeeded", "failed")).job.lastError).toBe("");
});

test("an answer is taken while the child of another branch is at work and the job is left to it", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const steps = [
    { id: "ways", parallel: { a: [run("late", "rests")], b: [{ id: "own", judge: "go" }, call("more")] } },
  ];
  const id = await bench.submit({ points, steps }, { skills });
  await childThat(bench, id, "parked");
  await until(async () => typesOf(await bench.read(id)).includes("ask-raised"));
  // The child only waits for a time, so no task for it is due.
  await until(async () => (await countTasks(bench)) <= 2);
  expect((await bench.read(id)).job.status).toBe("running");
  await bench.answer(id, { continuation: "proceed" });
  await until(() => texts(world).includes("more"));
  bench.clock.advance(3_600_000);
  const { job } = await reach(bench, id, "succeeded", "failed");
  expect(job.lastError).toBe("");
});

test("an answer that aborts ends the children of other branches first, which undo what they did", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const ways = { a: [run("late", "rests")], b: [{ id: "own", judge: "go" }], c: [run("done", "undone")] };
  const id = await bench.submit({ points, saga, steps: [{ id: "ways", parallel: ways }] }, { skills });
  await childThat(bench, id, "parked");
  await childThat(bench, id, "succeeded");
  await until(async () => typesOf(await bench.read(id)).includes("ask-raised"));
  await bench.answer(id, { continuation: "abort" });
  const { job, receipt } = await reach(bench, id, "aborted", "failed", "succeeded");
  expect(job.saga).toMatchObject({ state: "compensated", entries: 1, done: 1 });
  const children = await Promise.all((await childrenOf(bench, id)).map((child) => bench.read(child)));
  expect(children.map(({ job: child }) => child.status).toSorted()).toEqual(["cancelled", "succeeded"]);
  expect(gone(world).toSorted()).toEqual(["/notes/note-done", "/notes/note-late"]);
  expect(receipt.calls.write).toBe(2);
  expect(await countTasks(bench)).toBe(0);
});

test("a job that is cancelled ends once the children of all its branches have", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const ways = { a: [run("one", "rests")], b: [run("two", "asks")], c: [run("three", "rests")] };
  const id = await bench.submit({ steps: [{ id: "ways", parallel: ways }] }, { skills });
  await until(async () => {
    const found = await Promise.all((await childrenOf(bench, id)).map((child) => bench.read(child)));
    return found.length === 3 && found.every(({ job }) => job.status === "parked");
  });
  await bench.cancel(id);
  const { job, steps } = await reach(bench, id, "cancelled", "failed");
  const children = await Promise.all((await childrenOf(bench, id)).map((child) => bench.read(child)));
  expect(children.map(({ job: child }) => child.status)).toEqual(["cancelled", "cancelled", "cancelled"]);
  expect(gone(world).toSorted()).toEqual(["/notes/note-one", "/notes/note-three"]);
  expect(job.used).toMatchObject({ toolCalls: 2, writes: 2 });
  expect(steps["one"]?.state).toBe("failed");
  expect(await countTasks(bench)).toBe(0);
});

test("a child that fails fails its branch; the child of another goes on to its end, and is undone with the job", async () => {
  const world = createWorld();
  const slow = Promise.withResolvers<undefined>();
  world.script = ({ body }) =>
    body["text"] === "bad" ? { status: 422 } : body["text"] === "slow" ? slow.promise : undefined;
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const ways = { a: [run("bad", "note")], b: [run("slow", "undone"), call("after")], c: [{ id: "rest", wait: "1h" }] };
  const id = await bench.submit({ saga, steps: [{ id: "ways", parallel: ways }] }, { skills });
  await childThat(bench, id, "failed");
  // The failed branch waits for the other child, and is not checked again and again.
  await until(async () => (await bench.read(id)).steps["bad"]?.state === "failed" && engine.stats().held === 1);
  slow.resolve(undefined);
  const { job, steps } = await reach(bench, id, "failed", "succeeded");
  expect(job.lastError).toMatch(/^CHILD_FAILED: step bad: skills\.note/);
  expect(texts(world)).toEqual(expect.arrayContaining(["bad", "slow", "after"]));
  expect(gone(world)).toEqual(["/notes/note-slow"]);
  expect(steps["rest"]?.state).toBe("skipped");
});

test("children of branches share the limits: where both may use more than is left, one waits for the other", async () => {
  const world = createWorld({ items: 6, pageSize: 3 });
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const limits = { toolCalls: 20, writes: 3, rows: 18 };
  const ways = { a: [run("one", "note")], b: [run("two", "note")], c: [call("three")], d: [run("rows", "reads")] };
  const also = { e: [fetchItems({ id: "own" })], f: [run("again", "reads")] };
  const id = await bench.submit({ limits, steps: [{ id: "ways", parallel: { ...ways, ...also } }] }, { skills });
  await untilMoved(async () => {
    bench.clock.advance(1_000);
    engine.wake();
    return (await bench.read(id)).job.finishedAt !== null;
  });
  const { job } = await bench.read(id);
  expect([job.status, job.lastError]).toEqual(["succeeded", ""]);
  expect(job.used).toMatchObject({ writes: 3, rows: 18 });
  expect(texts(world).toSorted()).toEqual(["one", "three", "two"]);
});

test("what a branch may not use any more fails it, and what its children used counts", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const ways = { a: [run("one", "note")], b: [run("two", "note")] };
  const program = { limits: { writes: 2 }, steps: [{ id: "ways", parallel: ways }, call("last")] };
  const id = await bench.submit(program, { skills });
  await untilMoved(async () => {
    bench.clock.advance(1_000);
    engine.wake();
    return (await bench.read(id)).job.finishedAt !== null;
  });
  const { job } = await bench.read(id);
  expect(job.lastError).toMatch(/^LIMIT_REACHED: step last/);
  expect(texts(world)).toHaveLength(2);
});
