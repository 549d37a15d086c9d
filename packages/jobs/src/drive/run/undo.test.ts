import { createWorld } from "@svc/testing/desk";
import { countTasks, createBenches, sendAll, typesOf } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
const note = (id: string, text: string) => ({ id, call: "desk.send_note", entity: "ops", args: { text }, undo });
const saga = { saga: { on: ["failed", "aborted", "cancelled"] } };

test("a failure undoes what was done, the latest first, and the receipt says so", async () => {
  const world = createWorld();
  world.script = ({ body }) => (body["text"] === "c" ? { status: 422 } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({ steps: [note("one", "a"), note("two", "b"), note("three", "c")], ...saga });
  const reading = await bench.reach(id, "failed", "succeeded");
  expect(world.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path)).toEqual([
    "/notes/note-b",
    "/notes/note-a",
  ]);
  expect(reading.receipt.saga).toEqual({ state: "compensated", entries: 2, done: 2, failed: 0 });
  expect(reading.steps["one"]).toMatchObject({ state: "undone", undo: { done: 1, failed: 0 } });
  expect(reading.steps["three"]?.state).toBe("failed");
  expect(reading.job.lastError).toMatch(/^provider_error: step three/);
  expect(typesOf(reading).filter((type) => type === "compensation-step")).toHaveLength(3);
  expect(await countTasks(bench)).toBe(0);
});

test("the rows of a map that ended well are undone when the map fails", async () => {
  const world = createWorld({ items: 5 });
  world.script = ({ body }) => (body["text"] === "i3" ? { status: 422 } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const call = { id: "note", call: "desk.send_note", entity: "ops", args: { text: { $ref: "row.id" } }, undo };
  const id = await bench.submit(sendAll({ do: [call] }, saga));
  const reading = await bench.reach(id, "failed", "succeeded");
  const undone = world.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  expect(undone).toEqual(["/notes/note-i4", "/notes/note-i2", "/notes/note-i1", "/notes/note-i0"]);
  expect(reading.steps["send"]).toMatchObject({ state: "undone", undo: { done: 4, failed: 0 } });
});

test.each([
  ["proceed", "failed", { state: "compensated", entries: 2, done: 1, failed: 1 }],
  ["abort", "failed", { state: "stuck", entries: 2, done: 0, failed: 0 }],
] as const)("an undo that cannot finish asks; %s", async (continuation, status, expected) => {
  const world = createWorld();
  world.script = ({ method, path, body }) => {
    if (path === "/notes/note-b" && method === "DELETE") return { status: 409 };
    return body["text"] === "c" ? { status: 422 } : undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({ steps: [note("one", "a"), note("two", "b"), note("three", "c")], ...saga });
  const parked = await bench.reach(id, "parked");
  expect(parked.job.park).toMatchObject({ reason: "undo_stuck", stepId: "two" });
  expect(parked.job.saga).toMatchObject({ state: "stuck" });
  await bench.answer(id, { continuation });
  const reading = await bench.reach(id, status);
  expect(reading.receipt.saga).toEqual(expected);
});

test("retry-with tries the stuck undo again", async () => {
  const world = createWorld();
  let isBroken = true;
  world.script = ({ method, body }) => {
    if (method === "DELETE" && isBroken) return { status: 409 };
    return body["text"] === "c" ? { status: 422 } : undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({ steps: [note("one", "a"), note("three", "c")], ...saga });
  await bench.reach(id, "parked");
  isBroken = false;
  await bench.answer(id, { continuation: "retry-with" });
  const reading = await bench.reach(id, "failed");
  expect(reading.receipt.saga).toEqual({ state: "compensated", entries: 1, done: 1, failed: 0 });
});

test("a cancelled job compensates first, and a lease that ran out does not undo twice", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const dead = bench.doom("mid-undo");
  const id = await bench.submit({ steps: [note("one", "a"), { id: "rest", wait: "1h" }], ...saga });
  // The engine that is about to die is not woken. It finds its task by polling.
  await untilMoved(async () => {
    bench.clock.advance(100);
    return (await bench.read(id)).job.status === "parked";
  });
  await bench.cancel(id);
  await untilMoved(() => {
    bench.clock.advance(100);
    return world.seen.some(({ method }) => method === "DELETE");
  });
  await dead;
  const second = bench.engine();
  bench.clock.advance(31_000);
  second.wake();
  const reading = await bench.reach(id, "cancelled");
  expect(world.seen.filter(({ method }) => method === "DELETE")).toHaveLength(1);
  expect(reading.receipt.saga).toEqual({ state: "compensated", entries: 1, done: 1, failed: 0 });
});

/** Returns a map step with two calls for each row. The second call of row 1 is postponed once. */
function putOff(bench: { world: { script: unknown } }, world = bench.world as ReturnType<typeof createWorld>) {
  let isPutOff = false;
  world.script = ({ body }) => {
    if (body["text"] !== "note-i1" || isPutOff) return undefined;
    isPutOff = true;
    return { status: 429, headers: { "retry-after": "60" } };
  };
  const first = { id: "first", call: "desk.send_note", entity: "ops", args: { text: { $ref: "row.id" } }, undo };
  const retry = { max: 2, initial: "1s", factor: 2, cap: "60s" };
  const second = { ...first, id: "second", args: { text: { $ref: "calls.first.id" } }, retry };
  return sendAll({ do: [first, second] }, saga);
}

test("a row that is put off goes on at the call that was, and every call is undone once", async () => {
  const world = createWorld({ items: 3 });
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const id = await bench.submit({ ...putOff(bench) });
  await until(async () => engine.stats().held === 0 && (await bench.read(id)).steps["send"]?.rows?.in === 2);
  bench.clock.advance(60_000);
  engine.wake();
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]).toMatchObject({
    state: "completed",
    rows: { in: 3, ok: 3 },
    calls: { write: 7, retried: 1 },
  });
  const sent = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(sent.filter((text) => text === "i1")).toHaveLength(1);
  expect(reading.receipt.saga).toEqual({ state: "armed", entries: 6, done: 0, failed: 0 });
});

test("what a row that is put off has done is undone when the job is cancelled meanwhile", async () => {
  const world = createWorld({ items: 3 });
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const id = await bench.submit({ ...putOff(bench) });
  await until(async () => engine.stats().held === 0 && (await bench.read(id)).steps["send"]?.rows?.in === 2);
  await bench.cancel(id);
  const reading = await bench.reach(id, "cancelled");
  const undone = world.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  expect(new Set(undone)).toEqual(
    new Set(["i0", "i1", "i2", "note-i0", "note-i2"].map((name) => `/notes/note-${name}`)),
  );
  expect(reading.receipt.saga).toEqual({ state: "compensated", entries: 5, done: 5, failed: 0 });
});

/** Returns a step whose write has an unknown outcome, and a step that fails. */
function lostThenFails(lost: object, world = createWorld()) {
  world.script = ({ body }) => (body["text"] === "a" ? "timeout" : body["text"] === "c" ? { status: 422 } : undefined);
  return { world, program: { steps: [{ ...note("one", "a"), ...lost }, note("three", "c")], ...saga } };
}

const literal = { id: { $cel: "'note-' + 'a'" }, confirm: true };

test.each([
  ["fixed", { id: "note-a", confirm: true }, "proceed", 1, { state: "compensated", entries: 1, done: 1, failed: 0 }],
  ["computed", literal, "proceed", 1, { state: "compensated", entries: 1, done: 1, failed: 0 }],
  ["of the lost answer", undo.args, "proceed", 0, { state: "compensated", entries: 1, done: 0, failed: 1 }],
  ["fixed", { id: "note-a", confirm: true }, "skip", 0, { state: "armed", entries: 0, done: 0, failed: 0 }],
] as const)("a write in doubt whose undo is %s (%o) is undone as the answer says: %s", async (...row) => {
  const [, args, continuation, deletions, expected] = row;
  const { world, program } = lostThenFails({ undo: { ...undo, args } });
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(program);
  await bench.reach(id, "parked");
  await bench.answer(id, { continuation });
  const reading = await bench.reach(id, "failed");
  expect(world.seen.filter(({ method }) => method === "DELETE")).toHaveLength(deletions);
  expect(reading.receipt.saga).toMatchObject(expected);
  expect(reading.steps["one"]?.undo ?? { done: 0, failed: 0 }).toEqual({
    done: expected.done,
    failed: expected.failed,
  });
});

test.each([
  ["undone where their undo tells how", { $text: "note-{row.id}" }, ["i2", "i1", "i3", "i0"], { done: 4, failed: 0 }],
  ["undos that failed where it names the answer", { $ref: "output.id" }, ["i3", "i0"], { done: 2, failed: 2 }],
] as const)("rows in doubt that are treated as done are %s", async (_what, named, notes, counts) => {
  const world = createWorld({ items: 4 });
  world.script = ({ body }) => {
    if (body["text"] === "i1" || body["text"] === "i2") return "timeout";
    return body["text"] === "c" ? { status: 422 } : undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const args = { id: named, confirm: true };
  const call = {
    id: "note",
    call: "desk.send_note",
    entity: "ops",
    args: { text: { $ref: "row.id" } },
    undo: { ...undo, args },
  };
  const doubt = { question: "Done?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] };
  const each = sendAll({ do: [call], onRows: { unknown: "doubt" } });
  const id = await bench.submit({ ...each, steps: [...each.steps, note("last", "c")], points: { doubt }, ...saga });
  await bench.reach(id, "parked");
  await bench.answer(id, { continuation: "proceed" });
  const reading = await bench.reach(id, "failed");
  const undone = world.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  // The rows may end in any order.
  expect(undone.toSorted()).toEqual(notes.map((name) => `/notes/note-${name}`).toSorted());
  expect(reading.receipt.saga).toEqual({ state: "compensated", entries: 4, ...counts });
  const state = counts.failed === 0 ? "undone" : "completed";
  expect(reading.steps["send"]).toMatchObject({ state, rows: { ok: 4, unknown: 0 }, undo: counts });
});

test("a row in doubt that is treated as done is undone once, whichever node dies meanwhile", async () => {
  const world = createWorld({ items: 2 });
  world.script = ({ body }) => {
    if (body["text"] === "i1") return "timeout";
    return body["text"] === "c" ? { status: 422 } : undefined;
  };
  const bench = await benches.bench(world);
  let isAnswered = false;
  const dead = bench.doom("after-commit", 1, (stepId) => isAnswered && stepId === "send");
  const args = { id: { $text: "note-{row.id}" }, confirm: true };
  const call = { id: "note", call: "desk.send_note", entity: "ops", args: { text: { $ref: "row.id" } } };
  const doubt = { question: "Done?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] };
  const each = sendAll({ do: [{ ...call, undo: { ...undo, args } }], onRows: { unknown: "doubt" } });
  const id = await bench.submit({ ...each, steps: [...each.steps, note("last", "c")], points: { doubt }, ...saga });
  dead.engine.wake();
  await bench.reach(id, "parked");
  isAnswered = true;
  bench.engines.push(bench.idle());
  await bench.answer(id, { continuation: "proceed" });
  dead.engine.wake();
  await dead;
  bench.clock.advance(31_000);
  bench.engine();
  const reading = await bench.reach(id, "failed");
  expect(world.seen.filter(({ method }) => method === "DELETE")).toHaveLength(2);
  expect(reading.receipt.saga).toEqual({ state: "compensated", entries: 2, done: 2, failed: 0 });
});

test("a call whose answer becomes rows is undone, too", async () => {
  const world = createWorld();
  world.script = ({ body }) => (body["text"] === "c" ? { status: 422 } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const rows = { from: "tags[]", keep: ["id"] };
  const id = await bench.submit({ steps: [{ ...note("one", "a"), rows }, note("three", "c")], ...saga });
  const reading = await bench.reach(id, "failed");
  expect(reading.receipt.saga).toEqual({ state: "compensated", entries: 1, done: 1, failed: 0 });
});
