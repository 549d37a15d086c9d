import { createId, type Id } from "@svc/core";
import { findPendingAsk } from "@svc/db/asks/repo";
import { createWorld, type SeenRequest } from "@svc/testing/desk";
import { countTasks, createBenches, fetchItems, sendAll } from "@svc/testing/job-benches";
import { newJobDocuments } from "@svc/testing/job-documents";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import { goOn, isOver, isParked, killDrivers, movesOf, read, retry } from "../test-parks.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } };
const bad = { id: "bad", call: "desk.get_item", entity: "ops", args: { id: "bad" } };
const fails = ({ path }: SeenRequest) => (path === "/items/bad" ? ({ status: 404 } as const) : undefined);

const posts = (seen: readonly SeenRequest[]) =>
  seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);

test("rows that are ok stay ok: another attempt does those again that failed, and the job goes on from there", async () => {
  const world = createWorld({ items: 6 });
  let isDown = true;
  world.script = ({ body }) => (isDown && ["i1", "i4"].includes(String(body["text"])) ? { status: 400 } : undefined);
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const last = { id: "last", reduce: "send", as: { ok: "count ok" } };
  const program = sendAll({}, { limits: { deadline: "1h" } });
  const id = await bench.submit({
    ...program,
    steps: [...program.steps, last],
    result: { ok: { $ref: "steps.last.ok" } },
  });
  const failed = await bench.reach(id, "failed");
  expect(failed.job.lastError).toContain("ROWS_FAILED");
  isDown = false;
  bench.clock.advance(7_200_000);
  expect(await retry(bench, engine, id)).toEqual({ outcome: "done" });
  const ended = await bench.reach(id, "succeeded");
  expect(posts(world.seen).slice(6).toSorted()).toEqual(["i1", "i4"]);
  expect(ended.steps["send"]).toMatchObject({ rows: { in: 6, ok: 6, failed: 0 }, attempts: 2, state: "completed" });
  expect(ended.receipt).toMatchObject({ resultJson: '{"ok":6}', calls: { write: 8 }, lastSeq: ended.events.length });
  expect(ended.job).toMatchObject({ attempt: 2, used: { writes: 8, rows: 6 }, lastError: "" });
  expect(ended.events.map(({ seq }) => seq)).toEqual(ended.events.map((_event, index) => index + 1));
  expect(ended.events.find(({ type }) => type === "job-retried")).toMatchObject({
    payload: { attempt: 2, ended: "failed" },
    chain: [`key:${bench.keyId}`],
  });
  expect(movesOf(ended)).toContainEqual(["failed", "queued", "retried", `key:${bench.keyId}`]);
  expect(await countTasks(bench)).toBe(0);
});

test("a map that was cut short goes on with the rows that had not ended", async () => {
  const world = createWorld({ items: 12 });
  const bench = await benches.bench(world);
  const called = Promise.withResolvers<void>();
  world.script = async ({ body }) => {
    if (Number(String(body["text"]).slice(1)) >= 4) await called.promise;
    return undefined;
  };
  const engine = bench.engine();
  const id = await bench.submit(sendAll());
  await until(() => world.seen.length === 9);
  await bench.cancel(id);
  called.resolve();
  const cancelled = await bench.reach(id, "cancelled");
  expect(cancelled.steps["send"]?.rows?.ok).toBeLessThan(12);
  await retry(bench, engine, id);
  const ended = await bench.reach(id, "succeeded");
  expect(ended.steps["send"]?.rows).toMatchObject({ in: 12, ok: 12 });
  expect(posts(world.seen)).toHaveLength(12);
  expect(new Set(posts(world.seen)).size).toBe(12);
});

test("a write that was under way when its node died is not sent again by another attempt, unless that is wanted", async () => {
  const world = createWorld({ items: 2 });
  const bench = await benches.bench(world);
  const died = bench.doom("in-send");
  const id = await bench.submit({ steps: [note] });
  await untilMoved(() => {
    bench.clock.advance(20);
    return world.seen.length === 1;
  });
  await died;
  bench.clock.advance(31_000);
  await bench.cancel(id);
  const engine = bench.engine();
  await goOn(bench, engine, id, isOver);
  await retry(bench, engine, id);
  const asked = await goOn(bench, engine, id, isParked);
  expect(asked.job.park?.reason).toBe("in_doubt");
  expect(world.seen).toHaveLength(1);
  await bench.answer(id, { continuation: "abort" });
  expect((await bench.reach(id, "aborted")).steps["note"]?.state).toBe("failed");
  // A second retry sends nothing either.
  await retry(bench, engine, id);
  const again = await goOn(bench, engine, id, isParked);
  expect(again.job.park?.reason).toBe("in_doubt");
  await bench.answer(id, { continuation: "abort" });
  await bench.reach(id, "aborted");
  await retry(bench, engine, id, { resendsUnknown: true });
  const ended = await goOn(bench, engine, id, isOver);
  expect(ended.job).toMatchObject({ status: "succeeded", attempt: 4 });
  expect(world.seen).toHaveLength(2);
});

test("rows in doubt stay so without resendUnknown, and are sent again with it, under the same keys of the app", async () => {
  const world = createWorld({ items: 3 });
  let isDown = true;
  world.script = ({ body }) =>
    isDown && body["text"] === "i1" ? "broken" : isDown && body["text"] === "i2" ? { status: 400 } : undefined;
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const id = await bench.submit(sendAll({}, { tool: "desk.send_keyed" }));
  expect((await goOn(bench, engine, id, isOver)).job.lastError).toContain("ROWS_UNKNOWN");
  isDown = false;
  const before = posts(world.seen).filter((text) => text === "i1").length;
  await retry(bench, engine, id);
  const still = await goOn(bench, engine, id, isOver);
  expect(still.job.lastError).toContain("ROWS_UNKNOWN");
  expect(still.steps["send"]?.rows).toMatchObject({ ok: 2, failed: 0, unknown: 1 });
  expect(posts(world.seen).filter((text) => text === "i1")).toHaveLength(before);
  await retry(bench, engine, id, { resendsUnknown: true });
  const ended = await goOn(bench, engine, id, isOver);
  expect(ended.steps["send"]?.rows).toMatchObject({ ok: 3, unknown: 0 });
  const keys = world.seen.filter(({ body }) => body["text"] === "i1").map(({ key }) => key);
  expect(keys.length).toBe(before + 1);
  expect(new Set(keys).size).toBe(1);
});

test("pages that were fetched are not fetched again", async () => {
  const world = createWorld({ items: 9, pageSize: 3 });
  let isDown = true;
  world.script = ({ query }) => (isDown && query.get("page") === "6" ? { status: 400 } : undefined);
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const id = await bench.submit({ steps: [fetchItems()], result: { all: { $ref: "rows.items" } } });
  await bench.reach(id, "failed");
  isDown = false;
  await retry(bench, engine, id);
  const ended = await bench.reach(id, "succeeded");
  expect(world.seen.map(({ query }) => query.get("page"))).toEqual([null, "3", "6", "6"]);
  expect(ended.receipt).toMatchObject({ resultJson: '{"all":9}', rows: { in: 9 } });
});

test("with other params an attempt goes back to a named step, as long as nothing was written since", async () => {
  const world = createWorld({ items: 4 });
  world.script = fails;
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const some = { id: "some", filter: "items", where: "row.n >= params.n" };
  const result = { some: { $ref: "rows.some" } };
  const reading = { params: { n: 1.0 }, steps: [fetchItems(), some, bad], result };
  const [id, wrote] = [
    await bench.submit(reading),
    await bench.submit({ ...reading, steps: [fetchItems(), some, note, bad] }),
  ];
  for (const jobId of [id, wrote]) await bench.reach(jobId, "failed");
  expect(await retry(bench, engine, wrote, { fromStepId: "some", params: { n: 3 } })).toMatchObject({
    outcome: "not_retryable",
    why: expect.stringContaining("would repeat step note"),
  });
  expect(await retry(bench, engine, id, { fromStepId: "nope" })).toMatchObject({ outcome: "step_unknown" });
  expect((await bench.read(id)).job).toMatchObject({ status: "failed", attempt: 1 });
  world.script = () => undefined;
  await retry(bench, engine, id, { fromStepId: "some", params: { n: 3 } });
  const ended = await bench.reach(id, "succeeded");
  expect(ended.receipt.resultJson).toBe('{"some":1}');
  expect(world.seen.filter(({ path }) => path === "/items")).toHaveLength(2);
  expect(ended.events).toContainEqual(
    expect.objectContaining({ type: "overrides-applied", payload: { target: "params", names: ["n"] } }),
  );
});

test("the same name for the same retry begins one attempt, and for another it is refused", async () => {
  const world = createWorld();
  world.script = fails;
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const id = await bench.submit({ steps: [bad] });
  await bench.reach(id, "failed");
  const named = { idempotencyKey: "monday" };
  const both = await Promise.all([retry(bench, engine, id, named), retry(bench, engine, id, named)]);
  expect(both.map(({ outcome }) => outcome).toSorted()).toEqual(["done", "earlier"]);
  await goOn(bench, engine, id, isOver);
  expect(await retry(bench, engine, id, named)).toEqual({ outcome: "earlier" });
  expect(await retry(bench, engine, id, { ...named, params: { n: 1 } })).toEqual({ outcome: "key_reused" });
  expect((await bench.read(id)).job.attempt).toBe(2);
});

test("what has not ended, has succeeded, undid, reached a limit, was simulated or is another project's is not taken on", async () => {
  const world = createWorld({ items: 5 });
  world.script = fails;
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const over = async (program: object, options = {}) => {
    const id = await bench.submit(program, options);
    await goOn(bench, engine, id, isOver);
    return id;
  };
  const waiting = await bench.submit({ steps: [{ id: "rest", wait: "1h" }] });
  const why = async (id: Id<"job">) => await retry(bench, engine, id);
  const cases: [Id<"job">, string][] = [
    [waiting, "is parked"],
    [await over(read), "is succeeded"],
    [await over({ saga: { on: ["failed"] }, steps: [{ ...note, undo }, bad] }), "has begun to undo"],
    [await over(sendAll({}, { limits: { writes: 2 } })), "reached a limit"],
    [await over({ steps: [bad] }, { mode: "simulate" }), "was simulated"],
    [await over({ steps: [bad] }, { simulateFirst: true }), "that run did not succeed"],
  ];
  for (const [id, text] of cases) {
    const before = (await bench.read(id)).job;
    expect(await why(id)).toMatchObject({ outcome: "not_retryable", why: expect.stringContaining(text) });
    expect((await bench.read(id)).job).toEqual(before);
  }
  const foreign = await benches.bench(createWorld());
  const failed = await over({ steps: [bad] });
  expect(await retry(foreign, engine, failed)).toEqual({ outcome: "missing" });
  await bench.db.sql`update jobs set has_lost_rows = true where finished_at is not null`;
  expect(await why(failed)).toMatchObject({ why: expect.stringContaining("has lost its rows") });
  await bench.db.sql`update jobs set has_lost_rows = false, attempt = 20 where finished_at is not null`;
  expect(await why(failed)).toMatchObject({ why: expect.stringContaining("has had 20 attempts") });
});

test("a step that failed though its error was handled begins anew, and so does what handles its error", async () => {
  const world = createWorld();
  let isDown = true;
  world.script = ({ path }) => (isDown && path === "/items/bad" ? { status: 404 } : undefined);
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const tell = { ...note, args: { text: "handled" } };
  // biome-ignore lint/suspicious/noThenProperty: programs have the field.
  const handled = { ...bad, onError: { do: [tell], then: "fail" } };
  const id = await bench.submit({ steps: [handled, { ...note, id: "after", args: { text: "after" } }] });
  await bench.reach(id, "failed");
  expect(await retry(bench, engine, id)).toEqual({ outcome: "done" });
  const again = await bench.reach(id, "failed");
  expect([posts(world.seen), again.steps["bad"]?.attempts]).toEqual([["handled", "handled"], 2]);
  isDown = false;
  expect(await retry(bench, engine, id)).toEqual({ outcome: "done" });
  const { job, steps } = await bench.reach(id, "succeeded");
  expect([job.lastError, posts(world.seen)]).toEqual(["", ["handled", "handled", "after"]]);
  expect(steps["bad"]).toMatchObject({ state: "completed", attempts: 3 });
});

test("a block that failed though its error was handled is not begun anew where it has written", async () => {
  const world = createWorld();
  world.script = fails;
  const bench = await benches.bench(world);
  const engine = bench.engine();
  // biome-ignore lint/suspicious/noThenProperty: programs have the field.
  const block = { id: "any", if: "true", then: [note, bad], onError: { do: [{ ...note, id: "told" }], then: "fail" } };
  const id = await bench.submit({ steps: [block] });
  await bench.reach(id, "failed");
  expect(await retry(bench, engine, id)).toMatchObject({
    outcome: "not_retryable",
    why: "stopped after it handled the error of step any: a retry would repeat step note, which has written",
  });
  expect(posts(world.seen)).toEqual(["x", "x"]);
});

test("what failed while it handled an error goes on there, and the step whose error it handles stays failed", async () => {
  const world = createWorld();
  let isDown = true;
  world.script = ({ path }) =>
    path === "/items/bad" || (isDown && path === "/items/other") ? { status: 404 } : undefined;
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const other = { ...bad, id: "other", args: { id: "other" } };
  // biome-ignore lint/suspicious/noThenProperty: programs have the field.
  const id = await bench.submit({ steps: [{ ...bad, onError: { do: [note, other], then: "continue" } }] });
  await bench.reach(id, "failed");
  isDown = false;
  expect(await retry(bench, engine, id)).toEqual({ outcome: "done" });
  const { job, steps } = await bench.reach(id, "succeeded");
  expect([job.lastError, posts(world.seen)]).toEqual(["", ["x"]]);
  expect([steps["bad"]?.state, steps["other"]?.state]).toEqual(["failed", "completed"]);
});

test("a plan that was approved is asked about again where more may be written or params change, by the key that retries", async () => {
  const world = createWorld();
  world.script = fails;
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const drop = { id: "drop", call: "desk.delete_note", entity: "ops", args: { id: "n", confirm: true } };
  const submit = async () => {
    const id = await bench.submit({ params: { n: 1 }, steps: [drop, bad] }, { needsApproval: true });
    await bench.answer(id, { continuation: "proceed" });
    await bench.reach(id, "failed");
    return id;
  };
  const needsApproval = async () => true;
  const [same, changed] = [await submit(), await submit()];
  // The earlier approval covers the retry, because the rest of the job writes no more than was approved.
  const estimate = JSON.stringify({ ...newJobDocuments.estimate, writesMax: 1 });
  await bench.db.sql`update jobs set estimate = ${estimate}::jsonb where finished_at is not null`;
  await retry(bench, engine, same, { needsApproval });
  expect(movesOf(await goOn(bench, engine, same, isOver)).map(([, to]) => to)).not.toContain("rejected");
  const keyId = createId("key", bench.clock.now());
  await retry(bench, engine, changed, { needsApproval, keyId, chain: [`key:${keyId}`], params: { n: 2 } });
  const asked = await bench.read(changed);
  expect(asked.job).toMatchObject({ status: "pending_plan_approval", attempt: 2, attemptKeyId: keyId });
  const ask = await findPendingAsk(bench.db, changed);
  expect(ask).toMatchObject({ keyId, approvalId: asked.job.planApprovalId });
  expect(movesOf(asked).at(-1)).toEqual(["failed", "pending_plan_approval", "retried", `key:${keyId}`]);
  await bench.answer(changed, { continuation: "abort" });
  const rejected = await bench.reach(changed, "rejected");
  expect(rejected.job.attempt).toBe(2);
  expect(await retry(bench, engine, changed)).toMatchObject({ outcome: "not_retryable", why: "is rejected" });
});

test("a retry that dies before its commit, or is refused its approval, has done nothing; after it, another node goes on", async () => {
  const world = createWorld();
  world.script = fails;
  const bench = await benches.bench(world);
  const id = await bench.submit({ steps: [bad] });
  await goOn(bench, bench.engine(), id, isOver);
  await bench.stop();
  bench.engines.splice(0);
  const before = await bench.read(id);
  let dying: string | undefined = "before-commit";
  const idle = bench.engine({
    limits: { runsMax: 0 },
    quiet: true,
    onFaultPoint: (at) => {
      if (at === dying) throw new Error("the node dies");
    },
  });
  await expect(retry(bench, idle, id)).rejects.toThrow("the node dies");
  expect(await bench.read(id)).toEqual(before);
  dying = undefined;
  const refuse = async () => {
    throw new Error("not an approver's");
  };
  await expect(retry(bench, idle, id, { needsApproval: refuse })).rejects.toThrow("not an approver's");
  expect(await bench.read(id)).toEqual(before);
  expect(await countTasks(bench)).toBe(0);
  world.script = () => undefined;
  await retry(bench, idle, id);
  expect((await bench.read(id)).job).toMatchObject({ status: "queued", receipt: null, finishedAt: null });
  await killDrivers(bench, id, { point: "after-claim", times: 1 });
  bench.clock.advance(31_000);
  expect((await goOn(bench, bench.engine(), id, isOver)).job).toMatchObject({ status: "succeeded", attempt: 2 });
});

test("a job that expired goes on with a deadline of its own, a wait with its time, and a judge asks again", async () => {
  const bench = await benches.bench(createWorld());
  const engine = bench.engine();
  const points = {
    gate: { question: "Go?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] },
  };
  const waits = [
    { id: "rest", wait: "90m" },
    { id: "more", wait: "25m" },
  ];
  const steps = [...waits, { id: "gate", judge: "gate" }, ...read.steps];
  const id = await bench.submit({ limits: { deadline: "2h" }, points, steps });
  await bench.reach(id, "parked");
  bench.clock.advance(90 * 60_000);
  await goOn(bench, engine, id, ({ job }) => job.park?.stepId === "more");
  bench.clock.advance(40 * 60_000);
  engine.wake();
  await bench.reach(id, "expired");
  bench.clock.advance(3_600_000);
  await retry(bench, engine, id);
  const asked = await goOn(bench, engine, id, isParked);
  expect(asked.job.park).toMatchObject({ reason: "judgment", stepId: "gate" });
  await bench.answer(id, { continuation: "abort" });
  await bench.reach(id, "aborted");
  await retry(bench, engine, id);
  const again = await goOn(bench, engine, id, isParked);
  expect(again.job.deadlineLeftMs).toBeGreaterThan(7_190_000);
  await bench.answer(id, { continuation: "proceed" });
  expect((await bench.reach(id, "succeeded")).job).toMatchObject({ attempt: 3, used: { asks: 2 } });
});

test("branches go on where each stands: those at their end stay there, one that failed tries again, one that was given up begins", async () => {
  const world = createWorld();
  let isDown = true;
  world.script = ({ body }) => (isDown && body["text"] === "b" ? { status: 422 } : undefined);
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const send = (id: string) => ({ id, call: "desk.send_note", entity: "ops", args: { text: id } });
  const late = [{ id: "pause", wait: "10m" }, send("late")];
  const ways = { id: "ways", parallel: { first: [send("a"), send("a2")], second: [send("b"), send("b2")], late } };
  const id = await bench.submit({ steps: [ways, send("last")] });
  expect((await bench.reach(id, "failed", "succeeded")).job.lastError).toMatch(/^provider_error: step b:/);
  expect(posts(world.seen).toSorted()).toEqual(["a", "a2", "b"]);
  isDown = false;
  await retry(bench, engine, id);
  await bench.reach(id, "parked", "failed");
  bench.clock.advance(600_000);
  const { job, steps } = await bench.reach(id, "succeeded", "failed");
  expect(job).toMatchObject({ lastError: "", attempt: 2 });
  expect(posts(world.seen).slice(3)).toEqual(["b", "b2", "late", "last"]);
  expect(steps["ways"]).toMatchObject({ state: "completed", attempts: 2 });
  expect(steps["a"]?.attempts).toBe(1);
});
