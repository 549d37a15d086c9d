import { createWorld, type World } from "@svc/testing/desk";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

type Item = Readonly<Record<string, unknown>> | string;

/** Creates a test app whose list changes while it is read, so that its pages overlap. */
function worldOf(pages: readonly (readonly Item[])[]): World {
  const world = createWorld();
  world.script = ({ method, query }) => {
    if (method !== "GET") return undefined;
    const at = Number(query.get("page") ?? 0);
    const next = at + 1 < pages.length ? { next: String(at + 1) } : {};
    return { status: 200, body: { items: pages[at] ?? [], ...next } };
  };
  return world;
}

const moving = [
  [{ id: "a" }, { id: "b" }, { id: "a", text: "twice" }],
  [{ id: "b" }, { id: "c" }, { text: "none" }],
  [{ id: "c" }, { id: "b" }],
  [{ text: "none" }, { id: "d" }, { id: "a" }],
];

function reading(rows: object, limits: object = {}) {
  return {
    limits,
    steps: [
      {
        id: "items",
        call: "desk.list_items",
        entity: "ops",
        args: {},
        rows: { from: "items[]", page: { arg: "page", from: "next", max: 9 }, ...rows },
      },
      {
        id: "send",
        map: "items",
        do: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: { $ref: "row.id" } } }],
      },
    ],
    result: { rows: { $ref: "rows.items" } },
  };
}

const sent = ({ seen }: World) => seen.filter(({ path }) => path === "/notes").map(({ body }) => body["text"]);
const keyed = { key: "id", keep: ["id"] };

test("of items with the same key, on whichever page, the first one is a row, and is written once", async () => {
  const world = worldOf(moving.map((page) => page.filter((item) => "id" in item)));
  const bench = await benches.bench(world);
  bench.engine();
  const { receipt, steps } = await bench.reach(await bench.submit(reading(keyed)), "succeeded", "failed");
  expect(sent(world).sort()).toEqual(["a", "b", "c", "d"]);
  expect(JSON.parse(receipt.resultJson)).toEqual({ rows: 4 });
  expect(steps["items"]).toMatchObject({ rows: { in: 4, ok: 4 }, calls: { read: 4 } });
});

test.each([
  ["an item without a key is like no other", moving, keyed, 6],
  ["without rows.key every item is a row", moving, { keep: ["id"] }, 11],
  ["the key is kept where keep does not name it", moving, { key: "id", keep: ["text"] }, 6],
  [
    "a number is not its text",
    [
      [{ id: 1 }, { id: "1" }],
      [{ id: "1" }, { id: 1 }, { id: 2 }],
    ],
    keyed,
    3,
  ],
  [
    "an item that is no object is its own key",
    [
      ["x", "y"],
      ["y", "z"],
    ],
    { key: "value", keep: ["value"] },
    3,
  ],
  ["a long key counts whole", [[{ id: `${"k".repeat(99)}1` }], [{ id: `${"k".repeat(99)}2` }]], keyed, 2],
  [
    "names of every object are keys as others are",
    [[{ id: "__proto__" }], [{ id: "constructor" }, { id: "__proto__" }]],
    keyed,
    2,
  ],
] as const)("%s", async (_what, pages, rows, count) => {
  const bench = await benches.bench(worldOf(pages));
  bench.engine();
  const { steps, result } = reading(rows);
  const ended = await bench.reach(await bench.submit({ steps: steps.slice(0, 1), result }), "succeeded", "failed");
  expect(ended.job.lastError).toBe("");
  expect(JSON.parse(ended.receipt.resultJson)).toEqual({ rows: count });
});

test("rows that repeat a key take nothing of limits.rows", async () => {
  const world = worldOf([
    [{ id: "a" }, { id: "b" }],
    [{ id: "b" }, { id: "a" }],
    [{ id: "a" }, { id: "c" }],
  ]);
  const bench = await benches.bench(world);
  bench.engine();
  const { job } = await bench.reach(await bench.submit(reading(keyed, { rows: 3 })), "succeeded", "failed");
  expect(job.lastError).toBe("");
  const over = await bench.reach(await bench.submit(reading(keyed, { rows: 2 })), "succeeded", "failed");
  expect(over.job.lastError).toMatch(/^LIMIT_REACHED/);
});

test.each([1, 2, 3])("another node that goes on after page %i knows the keys of the pages before", async (nth) => {
  const world = worldOf(moving.map((page) => page.filter((item) => "id" in item)));
  const bench = await benches.bench(world);
  const doomed = bench.doom("after-commit", nth, (stepId) => stepId === "items");
  const id = await bench.submit(reading(keyed), { engine: doomed.engine });
  await doomed;
  bench.engine();
  bench.clock.advance(31_000);
  const { receipt } = await bench.reach(id, "succeeded", "failed");
  expect(JSON.parse(receipt.resultJson)).toEqual({ rows: 4 });
  expect(sent(world).sort()).toEqual(["a", "b", "c", "d"]);
});

test("a page whose rows were lost with their node is taken by the next one", async () => {
  const world = worldOf(moving.map((page) => page.filter((item) => "id" in item)));
  const bench = await benches.bench(world);
  const doomed = bench.doom("before-commit", 2, (stepId) => stepId === "items");
  const id = await bench.submit(reading(keyed), { engine: doomed.engine });
  await doomed;
  bench.engine();
  bench.clock.advance(31_000);
  const { receipt } = await bench.reach(id, "succeeded", "failed");
  expect(JSON.parse(receipt.resultJson)).toEqual({ rows: 4 });
});

test("a set of more keys than a driver keeps in mind has each once, too", { timeout: 60_000 }, async () => {
  const page = (from: number) => Array.from({ length: 6_000 }, (_, n) => ({ id: `k${from + n}` }));
  const bench = await benches.bench(worldOf([page(0), page(5_000), page(9_000), page(2_000)]));
  bench.engine();
  const { steps, result } = reading(keyed);
  const program = { limits: { rows: 15_000 }, steps: steps.slice(0, 1), result };
  const ended = await bench.reach(await bench.submit(program), "succeeded", "failed");
  expect(ended.job.lastError).toBe("");
  expect(JSON.parse(ended.receipt.resultJson)).toEqual({ rows: 15_000 });
});
