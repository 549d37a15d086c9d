import { createWorld } from "@svc/testing/desk";
import { createBenches, fetchItems } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const read = (id: string, more: object = {}) => ({
  id,
  call: "desk.get_item",
  entity: "ops",
  args: { id: "x" },
  ...more,
});

test("a step whose condition does not hold is skipped: no call is made, its set is empty, and what names it has else", async () => {
  const world = createWorld({ items: 3 });
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({
    params: { wanted: false },
    steps: [
      read("first", { when: "params.wanted" }),
      fetchItems({ when: "params.wanted" }),
      { id: "some", filter: "items", where: "true" },
      { id: "sum", reduce: "some", as: { all: "count" }, when: "rows.some > 0" },
      read("last", { when: "!has(steps.first) && rows.items == 0" }),
    ],
    result: { all: { $ref: "steps.sum.all", else: -1 }, last: { $ref: "steps.last.text", else: "" } },
  });
  const { job, steps, receipt } = await bench.reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(Object.fromEntries(Object.values(steps).map(({ stepId, state }) => [stepId, state]))).toEqual({
    first: "skipped",
    items: "skipped",
    some: "completed",
    sum: "skipped",
    last: "completed",
  });
  expect(JSON.parse(receipt.resultJson)).toEqual({ all: -1, last: "an item" });
  expect(receipt.outcome).toBe("complete");
  expect(world.seen.map(({ path }) => path)).toEqual(["/items/x"]);
});

test("an if and all in it is passed over where its condition does not hold, and a condition without an answer fails the job", async () => {
  const bench = await benches.bench();
  bench.engine();
  // biome-ignore lint/suspicious/noThenProperty: that is what programs call it
  const branch = { id: "which", if: "true", then: [read("yes")], when: "params.n > 1.0" };
  const passed = await bench.submit({ params: { n: 1 }, steps: [branch, read("last")] });
  expect(Object.keys((await bench.reach(passed, "succeeded", "failed")).steps)).toEqual(["which", "last"]);
  const failing = await bench.submit({ params: { n: {} }, steps: [read("one", { when: "params.n.deep > 1.0" })] });
  const { job, steps } = await bench.reach(failing, "succeeded", "failed");
  expect(job.lastError).toMatch(
    /^EXPRESSION_FAILED: step one: when reads a field that is absent: [\w.]+; ask has\([\w.]+\) first/,
  );
  expect(steps["one"]).toMatchObject({ state: "failed" });
});

/** A `map` step that reads each item, and sends a note about every second item unless the answer of the read says no. */
const each = {
  id: "each",
  map: "items",
  concurrency: 2,
  tolerate: { count: 5 },
  keep: { text: "calls.look.text", note: "calls.tell.id" },
  do: [
    { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "row.id" } }, when: "row.n != 1.0" },
    {
      id: "tell",
      call: "desk.send_note",
      entity: "ops",
      args: { text: { $ref: "calls.look.text", else: "?" } },
      when: "has(calls.look) && calls.look.text != 'no' && row.n < 6.0",
    },
  ],
};

function ownWorld() {
  const world = createWorld({ items: 8 });
  world.script = ({ path }) => {
    if (path === "/items/i3") return { status: 404, body: {} };
    if (path === "/items/i4") return { status: 200, body: { id: "i4", text: "no" } };
    return path.startsWith("/items/") ? { status: 200, body: { text: `text ${path.slice(7)}` } } : undefined;
  };
  return world;
}

test("calls of a row are made where their conditions hold, a row without any is skipped, and what is kept goes on from map to map", async () => {
  const world = ownWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({
    steps: [
      fetchItems(),
      each,
      { id: "told", filter: "each", where: "row.note != null", states: ["ok"] },
      {
        id: "again",
        map: "told",
        do: [
          { id: "copy", call: "desk.send_note", entity: "ops", args: { text: { $text: "{row.text} of {row.id}" } } },
        ],
      },
      { id: "others", map: "each", states: ["failed", "skipped"], do: [read("other")] },
      {
        id: "sum",
        reduce: "each",
        as: { all: "count", ok: "count ok", failed: "count failed", skipped: "count skipped" },
      },
      { id: "ok", reduce: "each", states: ["ok"], as: { all: "count", sum: "sum n" } },
    ],
    result: {
      ok: { $ref: "steps.sum.ok" },
      failed: { $ref: "steps.sum.failed" },
      skipped: { $ref: "steps.sum.skipped" },
      sum: { $ref: "steps.ok.sum" },
      count: { $ref: "steps.ok.all" },
    },
  });
  const { job, steps, receipt } = await bench.reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(steps["each"]).toMatchObject({ state: "partial", rows: { in: 8, ok: 6, failed: 1, skipped: 1 } });
  expect(steps["told"]).toMatchObject({ rows: { in: 6, ok: 3 } });
  expect(steps["others"]).toMatchObject({ rows: { in: 2, ok: 2 } });
  expect(JSON.parse(receipt.resultJson)).toEqual({ ok: 6, failed: 1, skipped: 1, count: 6, sum: 28 - 1 - 3 });
  const sent = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(sent.slice(0, 3).toSorted()).toEqual(["text i0", "text i2", "text i5"]);
  expect(sent.slice(3).toSorted()).toEqual(["text i0 of i0", "text i2 of i2", "text i5 of i5"]);
});

test("rows that are skipped as the program says leave the step complete, and a condition without an answer fails its row alone", async () => {
  const bench = await benches.bench(createWorld({ items: 4 }));
  bench.engine();
  const map = (when: string) => ({ id: "m", map: "items", tolerate: { count: 4 }, do: [read("one", { when })] });
  const skipped = await bench.reach(
    await bench.submit({ steps: [fetchItems(), map("row.n > 1.0")] }),
    "succeeded",
    "failed",
  );
  expect(skipped.steps["m"]).toMatchObject({ state: "completed", rows: { in: 4, ok: 2, skipped: 2 } });
  expect(skipped.receipt.outcome).toBe("complete");
  const failing = await bench.submit({ steps: [fetchItems(), map("row.n < 1.0 || row.secret.deep == 'x'")] });
  const failed = await bench.reach(failing, "succeeded", "failed");
  expect(failed.steps["m"]).toMatchObject({
    state: "partial",
    rows: { in: 4, ok: 1, failed: 3 },
    errors: [{ code: "EXPRESSION_FAILED", count: 3, sample: expect.stringContaining("when of one") }],
  });
});

test("rows that are tried again keep what they had, and get what was missing", async () => {
  const world = createWorld({ items: 3 });
  let isDown = true;
  world.script = ({ method, body }) => {
    return method === "POST" && body["text"] === "i1" && isDown ? { status: 400, body: {} } : undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({
    steps: [
      fetchItems(),
      {
        id: "send",
        map: "items",
        onRows: { failed: "rows" },
        keep: { text: "calls.look.text", note: "calls.note.id" },
        do: [read("look"), { id: "note", call: "desk.send_note", entity: "ops", args: { text: { $ref: "row.id" } } }],
      },
      { id: "whole", filter: "send", where: "row.text == 'an item' && row.note == 'note-' + row.id" },
    ],
    points: { rows: { question: "?", continuations: ["retry-with"], escalation: [{ principal: "owner" }] } },
    result: { whole: { $ref: "rows.whole" } },
  });
  await bench.reach(id, "parked");
  isDown = false;
  await bench.answer(id, { continuation: "retry-with" });
  const { job, receipt } = await bench.reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(JSON.parse(receipt.resultJson)).toEqual({ whole: 3 });
  expect(world.seen.filter(({ path }) => path === "/items/x")).toHaveLength(3);
});

test("undo is armed for the calls that were made alone", async () => {
  const world = createWorld({ items: 4 });
  const bench = await benches.bench(world);
  bench.engine();
  const undo = { call: "desk.delete_note", args: { id: { $ref: "output.id" }, confirm: true } };
  const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: { $ref: "row.id" } }, undo };
  const id = await bench.submit({
    steps: [
      fetchItems(),
      { id: "m", map: "items", do: [{ ...note, when: "row.n > 1.0" }, read("look")] },
      { id: "bad", call: "desk.get_item", entity: "ops", args: { id: "x" }, rows: { from: "items[]", keep: ["id"] } },
      { id: "w", wait: { until: { $ref: "params.t" } } },
    ],
    params: { t: "never" },
    saga: { on: ["failed"] },
  });
  const { job, steps } = await bench.reach(id, "failed");
  expect(job.lastError).toMatch(/^TIME_INVALID/);
  expect(steps["m"]).toMatchObject({ undo: { done: 2, failed: 0 } });
  expect(
    world.seen
      .filter(({ method }) => method === "DELETE")
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(["/notes/note-i2", "/notes/note-i3"]);
});
