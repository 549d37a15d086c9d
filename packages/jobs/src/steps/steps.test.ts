import { createWorld } from "@svc/testing/desk";
import { countTasks, createBenches, fetchItems, sendAll, typesOf } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

test("pages become one set; filter, map and reduce work on it, and nothing of a row is in log or receipt", async () => {
  const world = createWorld({ items: 130, pageSize: 40 });
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({
    params: { least: 10.0 },
    steps: [
      fetchItems(),
      { id: "some", filter: "items", where: "row.n >= params.least" },
      {
        id: "send",
        map: "some",
        concurrency: 8,
        do: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: { $text: "{row.id}!" } } }],
      },
      {
        id: "sum",
        reduce: "send",
        as: { all: "count", sent: "count ok", total: "sum n", least: "min n", mean: "avg n" },
      },
    ],
    result: { sent: { $ref: "steps.sum.sent" }, total: { $ref: "steps.sum.total" } },
  });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.job.lastError).toBe("");
  expect(world.seen.filter(({ path }) => path === "/items").map(({ query }) => query.get("page"))).toEqual([
    null,
    "40",
    "80",
    "120",
  ]);
  const sent = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(new Set(sent).size).toBe(120);
  expect(sent).toHaveLength(120);
  expect(reading.steps["items"]).toMatchObject({ state: "completed", rows: { in: 130 }, calls: { read: 4 } });
  expect(reading.steps["some"]).toMatchObject({ rows: { in: 130, ok: 120, skipped: 10 } });
  expect(reading.steps["send"]).toMatchObject({
    state: "completed",
    rows: { in: 120, ok: 120 },
    calls: { write: 120 },
  });
  expect(JSON.parse(reading.receipt.resultJson)).toEqual({ sent: 120, total: ((10 + 129) * 120) / 2 });
  expect(reading.receipt).toMatchObject({
    outcome: "complete",
    rows: { in: 130, ok: 120 },
    actual: { calls: 124, writes: 120 },
  });
  expect(JSON.stringify(reading)).not.toContain("marker-");
  expect(JSON.stringify(reading.events)).not.toMatch(/i12\d/);
  expect(reading.events.map(({ seq }) => seq)).toEqual(reading.events.map((_, index) => index + 1));
  expect(await countTasks(bench)).toBe(0);
});

test("a set over no rows runs to its end", async () => {
  const bench = await benches.bench(createWorld({ items: 0 }));
  bench.engine();
  const id = await bench.submit(sendAll());
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]).toMatchObject({ state: "completed", rows: { in: 0 } });
});

test("if takes one branch, and the other one's steps do not begin", async () => {
  const bench = await benches.bench();
  bench.engine();
  const read = (id: string) => ({ id, call: "desk.get_item", entity: "ops", args: { id } });
  const branches = (condition: string) => ({
    params: { n: 2.0 },
    // biome-ignore lint/suspicious/noThenProperty: that is what programs call it
    steps: [{ id: "which", if: condition, then: [read("yes")], else: [read("no")] }, read("last")],
  });
  const yes = await bench.reach(await bench.submit(branches("params.n > 1.0")), "succeeded", "failed");
  expect(Object.keys(yes.steps)).toEqual(["which", "yes", "last"]);
  const no = await bench.reach(await bench.submit(branches("params.n > 2.0")), "succeeded", "failed");
  expect(Object.keys(no.steps)).toEqual(["which", "no", "last"]);
});

test("wait parks the job until its time and no longer", async () => {
  const bench = await benches.bench();
  const engine = bench.engine();
  const id = await bench.submit({ steps: [{ id: "rest", wait: "10m" }] });
  const parked = await bench.reach(id, "parked");
  expect(parked.job.park).toMatchObject({ reason: "wait", stepId: "rest", wakeAt: bench.clock.now() + 600_000 });
  bench.clock.advance(599_000);
  engine.wake();
  expect((await bench.read(id)).job.status).toBe("parked");
  bench.clock.advance(2_000);
  engine.wake();
  const done = await bench.reach(id, "succeeded");
  expect(done.job.park).toBeNull();
  expect(done.events.find(({ payload }) => payload["to"] === "running" && payload["from"] === "parked")?.chain).toEqual(
    ["clock"],
  );
});

test("a token left over after the last page fails the step", async () => {
  const bench = await benches.bench(createWorld({ items: 10, pageSize: 2 }));
  bench.engine();
  const rows = { from: "items[]", keep: ["id"], page: { arg: "page", from: "next", max: 3 } };
  const id = await bench.submit({ steps: [fetchItems({ rows })] });
  const reading = await bench.reach(id, "failed", "succeeded");
  expect(reading.job.lastError).toMatch(/^PAGE_LIMIT: /);
  expect(reading.steps["items"]).toMatchObject({ state: "failed", errors: [{ code: "PAGE_LIMIT", count: 1 }] });
});

test.each([
  ["rows", { rows: 5 }, sendAll(), 0],
  ["toolCalls", { toolCalls: 4 }, sendAll(), 3],
  ["writes", { writes: 2 }, sendAll(), 2],
] as const)(
  "a limit on %s fails the step before the act that would pass it, and says so",
  async (limit, limits, program, writes) => {
    const world = createWorld({ items: 8 });
    const bench = await benches.bench(world);
    bench.engine();
    const id = await bench.submit({ ...program, limits });
    const reading = await bench.reach(id, "failed", "succeeded");
    expect(reading.job.lastError).toMatch(/^LIMIT_REACHED: /);
    expect(reading.events.find(({ type }) => type === "limit-reached")?.payload).toMatchObject({ limit });
    expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(writes);
    expect(reading.receipt).toMatchObject({ outcome: "partial", calls: { write: writes } });
  },
);

test("retries wait as the step says or as the app asks, and are counted", async () => {
  const world = createWorld();
  world.script = (_request, count) =>
    count < 3 ? { status: 429, headers: { "retry-after": count === 1 ? "30" : "1" } } : undefined;
  const bench = await benches.bench(world);
  const engine = bench.engine({ limits: { patienceMs: 2_000, leaseMs: 3_600_000 } });
  const retry = { max: 3, initial: "1s", factor: 2, cap: "60s" };
  const id = await bench.submit({
    steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" }, retry }],
  });
  // For the longer wait, the driver gives the job back. For the shorter wait, it keeps the job.
  await until(async () => engine.stats().held === 0 && world.seen.length === 1);
  bench.clock.advance(29_000);
  engine.wake();
  await until(() => bench.clock.waiting() >= 2);
  expect(world.seen).toHaveLength(1);
  await untilMoved(() => {
    bench.clock.advance(50);
    return world.seen.length === 3;
  });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.job.lastError).toBe("");
  expect(world.seen).toHaveLength(3);
  expect(reading.steps["note"]).toMatchObject({ state: "completed", calls: { write: 3, retried: 2 } });
  expect(typesOf(reading)).toContain("call-retried");
});

test("a call that fails for good fails its step and the job, and the receipt says which", async () => {
  const world = createWorld();
  world.script = () => ({ status: 422, body: { error: "no" } });
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({
    steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } }],
  });
  const reading = await bench.reach(id, "failed");
  expect(reading.job.lastError).toMatch(/^provider_error: step note: the app answered 422/);
  expect(reading.steps["note"]).toMatchObject({ state: "failed", errors: [{ code: "provider_error" }] });
  expect(reading.receipt.outcome).toBe("partial");
});

test("rows that an app refuses inside of a success say that its answer reports an error", async () => {
  const world = createWorld({ items: 1 });
  world.script = ({ body }) =>
    body["text"] === undefined ? undefined : { status: 200, body: { error: "marker-1 is bad" } };
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(sendAll());
  const reading = await bench.reach(id, "failed", "awaiting_judgment", "succeeded");
  expect(reading.steps["send"]?.errors).toMatchObject([
    { sample: "the app answered 200, but its answer reports an error" },
    { code: "ROWS_FAILED" },
  ]);
});

test("failed rows within what is tolerated leave the job a partial success", async () => {
  const world = createWorld({ items: 10 });
  world.script = ({ body }) =>
    body["text"] === "i3" ? { status: 422, body: { error: "marker-3 is bad" } } : undefined;
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(sendAll({ tolerate: { count: 1, percent: 10 } }));
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]).toMatchObject({ state: "partial", rows: { in: 10, ok: 9, failed: 1 } });
  expect(reading.steps["send"]?.errors).toEqual([
    { code: "provider_error", count: 1, firstOrdinal: 3, sample: "the app answered 422" },
  ]);
  expect(reading.receipt.outcome).toBe("partial");
  expect(JSON.stringify(reading)).not.toContain("marker-");
});

test("failed rows beyond it fail the step where no point is declared", async () => {
  const world = createWorld({ items: 10 });
  world.script = ({ body }) => (body["text"] === "i3" ? { status: 422 } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const reading = await bench.reach(await bench.submit(sendAll()), "succeeded", "failed");
  expect(reading.job.lastError).toBe("ROWS_FAILED: step send: 1 of 10 rows failed");
});

test("the deadline ends a job that still waits when it passes", async () => {
  const bench = await benches.bench();
  const engine = bench.engine();
  const id = await bench.submit({
    limits: { deadline: "1h" },
    steps: [
      { id: "nap", wait: "40m" },
      { id: "rest", wait: "15m" },
    ],
  });
  await bench.reach(id, "parked");
  bench.clock.advance(2_400_000);
  engine.wake();
  await until(async () => (await bench.read(id)).job.park?.["stepId"] === "rest");
  bench.clock.advance(1_200_000);
  engine.wake();
  const reading = await bench.reach(id, "expired");
  expect(reading.receipt).toMatchObject({ outcome: "none", limits: { used: { deadlineSeconds: 3600 } } });
  expect(reading.steps["rest"]).toMatchObject({ state: "failed", errors: [{ code: "DEADLINE_EXCEEDED" }] });
  expect(await countTasks(bench)).toBe(0);
});

test("a wait that would end behind the deadline fails at once, and one while the deadline's clock runs on parks", async () => {
  const bench = await benches.bench();
  bench.engine();
  const limits = { deadline: "1h" };
  const wait = (hours: string) => ({ id: "rest", wait: { until: { $cel: `now + duration('${hours}')` } } });
  const id = await bench.submit({ limits, steps: [wait("48h")] });
  const { job, steps } = await bench.reach(id, "failed", "parked");
  const [wakes, expires] = [48, 1].map((hours) => new Date(bench.clock.now() + hours * 3_600_000).toISOString());
  expect(job.lastError).toBe(
    `WAIT_BEYOND_DEADLINE: step rest: it would wait until ${wakes}, but the job expires at ${expires}: raise limits.deadline`,
  );
  expect(steps["rest"]).toMatchObject({ state: "failed", errors: [{ code: "WAIT_BEYOND_DEADLINE", count: 1 }] });
  const short = await bench.submit({ limits, steps: [wait("59m")] });
  expect((await bench.reach(short, "failed", "parked")).job.status).toBe("parked");
});

test.each([
  ["named", { until: { $ref: "input.at" } }],
  ["written", { until: "2999-01-01T00:00:00Z" }],
  ["joined", { until: { $text: "{input.day}T00:00:00Z" } }],
])(
  "a time behind the deadline that is %s fails the wait at once, and the block around it may handle that",
  async (_way, wait) => {
    const bench = await benches.bench();
    bench.engine();
    const input = { at: "2999-01-01T00:00:00Z", day: "2999-01-01" };
    const rest = { id: "rest", wait };
    const { job } = await bench.reach(await bench.submit({ input, steps: [rest] }), "failed", "parked");
    expect(job.lastError).toMatch(/^WAIT_BEYOND_DEADLINE: step rest: it would wait until 2999-/);
    // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
    const onError = { codes: ["WAIT_BEYOND_DEADLINE"], then: "continue" };
    // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
    const block = { id: "block", if: "1 == 1", then: [rest], onError };
    expect((await bench.reach(await bench.submit({ input, steps: [block] }), "succeeded", "parked")).job.status).toBe(
      "succeeded",
    );
  },
);

test("a wait for longer than a job has left fails at once", async () => {
  const bench = await benches.bench();
  const engine = bench.engine();
  const steps = [
    { id: "nap", wait: "20m" },
    { id: "rest", wait: "30m" },
  ];
  const id = await bench.submit({ limits: { deadline: "1h" }, steps });
  await bench.reach(id, "parked");
  bench.clock.advance(2_400_000);
  engine.wake();
  const { job } = await bench.reach(id, "failed", "expired");
  expect(job.lastError).toMatch(/^WAIT_BEYOND_DEADLINE: step rest: /);
});

test("an until that is a duration is told how a duration is waited for", async () => {
  const bench = await benches.bench();
  bench.engine();
  const id = await bench.submit({ input: { t: "2d" }, steps: [{ id: "rest", wait: { until: { $cel: "input.t" } } }] });
  const { job } = await bench.reach(id, "failed", "parked");
  expect(job.lastError).toMatch(/^TIME_INVALID: step rest: until is not a timestamp .*; a duration .* "wait": "2d"/);
});

test.each(["task 12", "2026", "2027-02-30T09:00:00Z", "2027-01-01T24:00:00Z", "2027-01-01T09:00:00", "Fri Jan 1 2027"])(
  "an until that names %s fails",
  async (at) => {
    const bench = await benches.bench();
    bench.engine();
    const steps = [{ id: "rest", wait: { until: { $ref: "input.at" } } }];
    const id = await bench.submit({ input: { at }, steps });
    const { job } = await bench.reach(id, "failed", "parked");
    expect(job.lastError).toMatch(/^TIME_INVALID: step rest: until is not a timestamp/);
  },
);

test("a cancelled map finishes what is in flight, begins nothing more, and ends", async () => {
  const world = createWorld({ items: 40 });
  const bench = await benches.bench(world);
  const released = Promise.withResolvers<void>();
  world.script = async ({ method }) => {
    if (method === "POST") await released.promise;
    return undefined;
  };
  bench.engine();
  const id = await bench.submit(sendAll({ concurrency: 2 }));
  while (world.seen.length < 3) await new Promise((resolve) => setImmediate(resolve));
  await bench.cancel(id);
  released.resolve();
  const reading = await bench.reach(id, "cancelled");
  expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(2);
  expect(reading.steps["send"]).toMatchObject({ rows: { in: 2, ok: 2 }, state: "failed" });
  expect(reading.receipt.calls.write).toBe(2);
  expect(await countTasks(bench)).toBe(0);
});

test("two engines share the work, and no row is sent twice", async () => {
  const world = createWorld({ items: 60 });
  const bench = await benches.bench(world);
  bench.engine();
  bench.engine();
  const ids = await Promise.all(Array.from({ length: 6 }, () => bench.submit(sendAll())));
  for (const id of ids) await bench.reach(id, "succeeded");
  expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(360);
});

test("the same idempotency key answers the job of the first time", async () => {
  const bench = await benches.bench();
  const program = { steps: [{ id: "rest", wait: "10m" }] };
  const [a, b] = await Promise.all([
    bench.submit(program, { idempotencyKey: "k" }),
    bench.submit(program, { idempotencyKey: "k" }),
  ]);
  expect(a).toBe(b);
});
