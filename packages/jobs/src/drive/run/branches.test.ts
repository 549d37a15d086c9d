import { createWorld, type World } from "@svc/testing/desk";
import { countTasks, createBenches, fetchItems, typesOf } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const send = (id: string, more: object = {}) => {
  return { id, call: "desk.send_note", entity: "ops", args: { text: id }, ...more };
};
const points = {
  gate: { question: "Go on?", continuations: ["proceed", "skip", "abort"], escalation: [{ principal: "owner" }] },
};
const ways = (parallel: object, more: object = {}) => ({
  points,
  steps: [{ id: "ways", parallel, ...more }, send("last")],
});

/** Returns the texts of the notes that were sent. */
const sent = ({ seen }: World) => seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);

test("branches call at the same time, and what they made is known behind them", async () => {
  const world = createWorld();
  const both = Promise.withResolvers<undefined>();
  world.script = async ({ body }) => {
    if (world.seen.length === 2) both.resolve(undefined);
    // Neither request is answered before both have arrived.
    return body["text"] === "last" ? undefined : both.promise;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const last = send("last", { args: { text: { $text: "{steps.left.id} {steps.right.id}" } } });
  const id = await bench.submit({ steps: [{ id: "ways", parallel: { a: [send("left")], b: [send("right")] } }, last] });
  const { steps, job } = await bench.reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(sent(world).at(-1)).toBe("note-left note-right");
  expect(steps["ways"]).toMatchObject({ kind: "parallel", state: "completed" });
});

test("a question and a wait stop their own branch alone, and the job is parked when nothing can go on", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(
    ways({
      asks: [{ id: "ask", judge: "gate" }, send("asked")],
      waits: [{ id: "pause", wait: "10m" }, send("late")],
      works: [send("one"), send("two")],
    }),
  );
  const first = await bench.reach(id, "parked", "failed");
  expect(first.job.park).toMatchObject({ reason: "judgment", stepId: "ask", wakeAt: expect.any(Number) });
  expect(first.job.deadlineAt).toBeNull();
  expect(sent(world)).toEqual(["one", "two"]);
  bench.clock.advance(600_000);
  await until(async () => {
    const { job } = await bench.read(id);
    return job.status === "parked" && job.park?.wakeAt === undefined;
  });
  expect(sent(world)).toEqual(["one", "two", "late"]);
  expect(await countTasks(bench)).toBe(0);
  await bench.answer(id, { continuation: "proceed" });
  const { job, events } = await bench.reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(sent(world)).toEqual(["one", "two", "late", "asked", "last"]);
  const moves = events.flatMap(({ type, payload }) => (type === "job-status-changed" ? [payload["reason"]] : []));
  expect(moves).toEqual(["started", "judgment", "time", "judgment", "proceed", "finished"]);
});

test("an answer moves its branch on while another is at work", async () => {
  const world = createWorld();
  const released = Promise.withResolvers<undefined>();
  world.script = ({ body }) => (body["text"] === "slow" ? released.promise : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(ways({ asks: [{ id: "ask", judge: "gate" }, send("asked")], works: [send("slow")] }));
  await until(async () => typesOf(await bench.read(id)).includes("ask-raised"));
  expect((await bench.read(id)).job).toMatchObject({ status: "running", park: null });
  await bench.answer(id, { continuation: "proceed" });
  await untilMoved(() => {
    bench.clock.advance(1_000);
    return sent(world).includes("asked");
  });
  expect(sent(world)).toEqual(["slow", "asked"]);
  released.resolve(undefined);
  const { job, steps } = await bench.reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(steps["ask"]).toMatchObject({ decision: { continuation: "proceed" } });
});

test("the questions of two branches are asked one after the other; abort ends the job", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(
    ways({ a: [{ id: "one", judge: "gate" }, send("a")], b: [{ id: "two", judge: "gate" }, send("b")] }),
  );
  const first = await bench.reach(id, "parked", "failed");
  expect(typesOf(first).filter((type) => type === "ask-raised")).toHaveLength(1);
  await bench.answer(id, { continuation: "proceed" });
  await until(async () => {
    const { job } = await bench.read(id);
    return job.status === "parked" && job.park?.stepId === "two";
  });
  expect(sent(world)).toEqual(["a"]);
  await bench.answer(id, { continuation: "abort" });
  const { receipt, steps } = await bench.reach(id, "aborted", "succeeded");
  expect(receipt.asks).toMatchObject({ raised: 2, answered: 2 });
  expect(steps["ways"]?.state).toBe("failed");
  expect(sent(world)).toEqual(["a"]);
});

test("the first failure ends branches that have called nothing; the others finish, and the step fails", async () => {
  const world = createWorld();
  const slow = Promise.withResolvers<undefined>();
  world.script = ({ body }) =>
    body["text"] === "bad" ? { status: 422 } : body["text"] === "slow" ? slow.promise : undefined;
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(
    ways(
      {
        asks: [{ id: "ask", judge: "gate" }, send("asked")],
        waits: [{ id: "pause", wait: "10m" }, send("late")],
        works: [send("slow"), send("more")],
        fails: [send("bad"), send("worse")],
      },
      {
        onError: {
          do: [send("told", { args: { text: { $text: "{steps.ways.error.code} {steps.ways.error.status}" } } })],
          // biome-ignore lint/suspicious/noThenProperty: programs have the field.
          then: "continue",
        },
      },
    ),
  );
  await until(async () => (await bench.read(id)).steps["bad"]?.state === "failed");
  slow.resolve(undefined);
  const { job, steps, receipt } = await bench.reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(sent(world).toSorted()).toEqual(["bad", "last", "more", "provider_error 422", "slow"]);
  const states = Object.fromEntries(Object.entries(steps).map(([step, { state }]) => [step, state]));
  expect(states).toMatchObject({ ask: "skipped", pause: "skipped", bad: "failed", more: "completed", ways: "failed" });
  expect(receipt).toMatchObject({ outcome: "partial", asks: { raised: 1, withdrawn: 1 } });
});

test("without onError the failure of a branch is the job's, and all that was done is undone, the latest first", async () => {
  const world = createWorld();
  world.script = ({ body }) => (body["text"] === "bad" ? { status: 422 } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const undo = {
    undo: { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } },
  };
  const id = await bench.submit({
    ...ways({ a: [send("one", undo), send("two", undo)], b: [send("three", undo), send("bad")] }),
    saga: { on: ["failed"] },
  });
  const { job, receipt } = await bench.reach(id, "failed", "succeeded");
  expect(job.lastError).toMatch(/^provider_error: step bad: /);
  expect(receipt.saga).toMatchObject({ state: "compensated", done: 3, failed: 0 });
  const undone = world.seen
    .filter(({ method }) => method === "DELETE")
    .map(({ path }) => path.slice("/notes/note-".length));
  const done = sent(world).filter((text) => text !== "bad");
  expect(undone.toSorted()).toEqual(done.toSorted());
  expect(undone.indexOf("two")).toBeLessThan(undone.indexOf("one"));
});

test.each([
  // biome-ignore lint/suspicious/noThenProperty: programs have the field.
  ["an if", { id: "outer", if: "true", then: [send("bad")] }],
  ["an until", { id: "outer", until: "true", do: [send("bad")], every: "1s", max: 2 }],
  ["a parallel", { id: "outer", parallel: { a: [send("fine")], b: [send("bad")] } }],
])(
  "the job's last error names the step that failed, and not %s that handled its error and fails by it",
  async (_name, outer) => {
    const world = createWorld();
    world.script = ({ body }) => (body["text"] === "bad" ? { status: 422 } : undefined);
    const bench = await benches.bench(world);
    bench.engine();
    // biome-ignore lint/suspicious/noThenProperty: programs have the field.
    const onError = { do: [send("told")], then: "fail" };
    const id = await bench.submit({ steps: [{ ...outer, onError }] });
    const { job, steps } = await bench.reach(id, "failed", "succeeded");
    expect(job.lastError).toMatch(/^provider_error: step bad: /);
    expect(sent(world).at(-1)).toBe("told");
    expect(steps["outer"]?.state).toBe("failed");
  },
);

test("the limits of the job hold over all branches, and so does the number of calls at one time", async () => {
  const world = createWorld({ items: 6 });
  let atOnce = 0;
  let most = 0;
  // The first note is answered only after a second one has been sent.
  const second = Promise.withResolvers<void>();
  world.script = async ({ body }) => {
    if (body["text"] === undefined) {
      return undefined;
    }
    most = Math.max(most, ++atOnce);
    if (most > 1) {
      second.resolve();
    }
    await second.promise;
    await new Promise((resolve) => setImmediate(resolve));
    atOnce--;
    return undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const each = (id: string) => ({ id, map: "items", do: [send(`${id}note`)] });
  const program = (writes: number) => ({
    limits: { writes, concurrency: 2 },
    steps: [fetchItems(), { id: "ways", parallel: { a: [each("a")], b: [each("b")], c: [each("c")] } }],
  });
  const id = await bench.submit(program(18));
  expect((await bench.reach(id, "succeeded", "failed")).job.lastError).toBe("");
  expect(sent(world)).toHaveLength(18);
  expect(most).toBe(2);
  const limited = await bench.submit(program(7));
  const { job } = await bench.reach(limited, "succeeded", "failed");
  expect(job.lastError).toMatch(/^LIMIT_REACHED/);
  expect(sent(world)).toHaveLength(25);
});

test.each([
  ["at once", []],
  ["after pages of rows", [fetchItems()]],
])(
  "a round of an until in one branch leaves the calls of another as they are when the node dies, %s",
  async (_when, before) => {
    const world = createWorld({ items: 4, pageSize: 2 });
    const bench = await benches.bench(world);
    // The node dies between the answer of the slow call and its commit, while the other branch is in its second round.
    const slow = Promise.withResolvers<undefined>();
    world.script = ({ body }) => (body["text"] === "slow" ? slow.promise : undefined);
    const dead = bench.doom("after-call", 1, (stepId) => stepId === "slow");
    const id = await bench.submit(
      ways({
        rounds: [
          // biome-ignore lint/suspicious/noThenProperty: programs have the field.
          { id: "again", until: "false", do: [send("round")], every: "1s", max: 2, onError: { then: "continue" } },
        ],
        works: [...before, send("slow")],
      }),
    );
    dead.engine.wake();
    await until(() => sent(world).includes("slow"));
    await untilMoved(() => {
      bench.clock.advance(500);
      return sent(world).filter((text) => text === "round").length === 2;
    });
    slow.resolve(undefined);
    await dead;
    bench.engine();
    await untilMoved(async () => {
      bench.clock.advance(5_000);
      return (await bench.read(id)).job.finishedAt !== null;
    });
    const { job } = await bench.read(id);
    expect(job).toMatchObject({ status: "succeeded", lastError: "" });
    expect(sent(world).filter((text) => text === "slow")).toHaveLength(1);
    expect(sent(world).filter((text) => text === "round")).toHaveLength(2);
  },
);

test("rows of a step whose error was handled are read by nobody, half of them or none; a condition that asks leaves them out", async () => {
  const world = createWorld({ items: 4, pageSize: 2 });
  const fetch = fetchItems();
  // The first page has arrived at this point.
  world.script = ({ path, query }) => {
    return path === "/items" && query.get("page") !== null ? { status: 500, body: {} } : undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
  const handled = { ...fetch, onError: { then: "continue" } };
  const count = { id: "count", reduce: "items", as: { all: "count" } };
  const submit = (...steps: object[]) => bench.submit({ steps });
  const { job, steps } = await bench.reach(await submit(handled, count), "failed", "succeeded");
  expect(job.lastError).toMatch(/^SET_LOST: step count: reads the set of items/);
  expect(steps["items"]?.state).toBe("failed");
  // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
  const block = { id: "block", if: "1 < 2", then: [fetch], onError: { then: "continue" } };
  expect((await bench.reach(await submit(block, count), "failed", "succeeded")).job.lastError).toMatch(
    /^SET_LOST: step count/,
  );
  const asked = await submit(
    handled,
    { ...count, when: "!has(steps.items.error)" },
    {
      ...send("told"),
      when: "!has(rows.items)",
    },
  );
  const end = await bench.reach(asked, "failed", "succeeded");
  expect(end.job.lastError).toBe("");
  expect(end.receipt.outcome).toBe("partial");
  expect([end.steps["count"]?.state, end.steps["told"]?.state]).toEqual(["skipped", "completed"]);
});

test("an until whose rounds are used up leaves the sets of its last round to who handles that", async () => {
  const world = createWorld({ items: 4 });
  const bench = await benches.bench(world);
  bench.engine();
  // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
  const onError = { codes: ["UNTIL_EXHAUSTED"], then: "continue" };
  const tell = {
    id: "tell",
    map: "items",
    do: [{ id: "up", call: "desk.send_note", entity: "ops", args: { text: "late" } }],
  };
  const id = await bench.submit({
    steps: [
      {
        id: "ended",
        until: "rows.items == 0.0",
        every: "1s",
        max: 1,
        do: [fetchItems()],
        onError: { ...onError, do: [tell] },
      },
    ],
  });
  const { job } = await bench.reach(id, "failed", "succeeded");
  expect(job.lastError).toBe("");
  expect(sent(world)).toEqual(["late", "late", "late", "late"]);
});
