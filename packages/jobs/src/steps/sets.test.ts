import { type Id, parseExactJson, uuidOfId } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import type { JobReading, TestBench } from "@svc/testing/job-bench";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

type Item = Readonly<Record<string, unknown>>;

/** Creates a test app whose shelves contain these items, each shelf on one page. */
function worldOf(shelves: Readonly<Record<string, readonly Item[]>>) {
  const world = createWorld();
  world.script = ({ path, query }) => {
    return path === "/items" ? { status: 200, body: { items: shelves[query.get("shelf") ?? ""] ?? [] } } : undefined;
  };
  return world;
}

/** A `compute` step that the failure message of a property test shows. */
type Computing = { readonly compute: string; readonly fields: Readonly<Record<string, string>> };

const fetch = (id: string, keep: readonly string[]) => ({
  id,
  call: "desk.list_items",
  entity: "ops",
  args: { shelf: id },
  rows: { from: "items[]", keep },
});

/** Returns a `map` step that sends a note about each row of a set, in order. */
const tell = (set: string, text: string) => ({
  id: "tell",
  map: set,
  concurrency: 1,
  do: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: { $cel: text } } }],
});

async function run(bench: TestBench, program: object): Promise<JobReading> {
  const id: Id<"job"> = await bench.submit(program);
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.job.lastError).toBe("");
  return reading;
}

/** Returns the notes of a job that describe the rows of a set. The steps make the set from the given items. */
async function toldOf(
  shelves: Readonly<Record<string, readonly Item[]>>,
  steps: readonly object[],
  text: string,
  more: object = {},
): Promise<{ readonly told: unknown[]; readonly reading: JobReading }> {
  const world = worldOf(shelves);
  const bench = await benches.bench(world);
  bench.engine();
  const last = steps.at(-1) as { id: string };
  const reading = await run(bench, { steps: [...steps, tell(last.id, text)], ...more });
  return { reading, told: world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]) };
}

test("rows are sorted by fields, each from the least or the greatest on; what is absent comes last, what is alike stays", async () => {
  const a = [
    { id: "a", n: 2, who: { name: "Zoe" } },
    { id: "b", n: 10, who: { name: "Ann" } },
    { id: "c", who: { name: "Bob" } },
    { id: "d", n: 2, who: { name: "Ann" } },
    { id: "e", n: null, who: { name: "Bob" } },
    { id: "f", n: "2", who: {} },
    { id: "g", n: 2, who: { name: "Ann" } },
  ];
  const sort = (by: object[]) => toldOf({ a }, [fetch("a", ["id", "n", "who"]), { id: "s", sort: "a", by }], "row.id");
  const up = await sort([{ field: "n" }, { field: "who.name", order: "asc" }]);
  expect(up.told).toEqual(["d", "g", "a", "b", "f", "c", "e"]);
  expect(up.reading.steps["s"]).toMatchObject({ state: "completed", rows: { in: 7, ok: 7 } });
  expect((await sort([{ field: "n", order: "desc" }])).told).toEqual(["f", "b", "a", "d", "g", "c", "e"]);
});

test("numbers that no double holds are sorted exactly", async () => {
  const ids = ["9007199254740995", "9007199254740993", "9007199254740994", "3"];
  const world = createWorld();
  world.script = ({ path }) => {
    const items = `[${ids.map((n) => `{"id":${n},"text":"t${n}"}`).join(",")}]`;
    return path === "/items" ? { status: 200, body: { items: parseExactJson(items, { depthMax: 3 }) } } : undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const steps = [fetch("a", ["id", "text"]), { id: "s", sort: "a", by: [{ field: "id" }] }, tell("s", "row.text")];
  await run(bench, { steps });
  const told = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(told).toEqual(["t3", "t9007199254740993", "t9007199254740994", "t9007199254740995"]);
});

test("a limit takes the first rows, and the estimate counts no more of them", async () => {
  const a = Array.from({ length: 7 }, (_, n) => ({ id: `i${n}` }));
  const { told, reading } = await toldOf({ a }, [fetch("a", ["id"]), { id: "top", limit: "a", max: 3 }], "row.id");
  expect(told).toEqual(["i0", "i1", "i2"]);
  expect(reading.steps["top"]).toMatchObject({ rows: { ok: 3 } });
  const many = await toldOf({ a }, [fetch("a", ["id"]), { id: "top", limit: "a", max: 30 }], "row.id");
  expect(many.told).toHaveLength(7);
});

test("of rows that are alike the first stays, also where the values are long, lists or absent", async () => {
  const long = "x".repeat(500);
  const a = [
    { id: "a", mail: "ann@x", tags: ["b", { k: 1, l: 2 }] },
    { id: "b", mail: "bob@x", tags: [] },
    { id: "c", mail: "ann@x", tags: ["b", { l: 2, k: 1 }] },
    { id: "d" },
    { id: "e", mail: null, tags: null },
    { id: "f", mail: long, tags: [] },
    { id: "g", mail: `${long}y`, tags: [] },
    { id: "h", mail: long, tags: [] },
  ];
  const by = ["mail", "tags"];
  const { told, reading } = await toldOf(
    { a },
    [fetch("a", ["id", "mail", "tags"]), { id: "d", distinct: "a", by }],
    "row.id",
  );
  expect(told).toEqual(["a", "b", "d", "f", "g"]);
  expect(reading.steps["d"]).toMatchObject({ rows: { in: 8, ok: 5, skipped: 3 } });
});

const orders = [
  { id: 1, sum: 10 },
  { id: 2, sum: 20 },
  { id: 3, sum: 30 },
  { id: null, sum: 40 },
];
const payouts = [
  { order_id: 1, amount: 7, to: { bank: "A" } },
  { order_id: 3, amount: 30, to: { bank: "B" } },
  { order_id: 1, amount: 3, to: { bank: "C" } },
  { order_id: null, amount: 1 },
];

test.each([
  ["inner", ["1 7 A", "1 3 C", "3 30 B"]],
  ["left", ["1 7 A", "1 3 C", "2 none none", "3 30 B", "null none none"]],
] as const)("a join of kind %s has a row for each pair, in the order of its rows", async (kind, expected) => {
  const join = { join: "orders", with: "payouts", on: { id: "order_id" }, kind };
  const { told, reading } = await toldOf(
    { orders, payouts },
    [
      fetch("orders", ["id", "sum"]),
      fetch("payouts", ["order_id", "amount", "to"]),
      { id: "j", ...join, keep: { paid: "right.amount", bank: "right.to.bank" } },
    ],
    "(row.id == null ? 'null' : string(row.id)) + ' ' + (row.paid == null ? 'none' : string(row.paid)) + ' ' + (row.bank == null ? 'none' : row.bank)",
  );
  expect(told).toEqual(expected);
  expect(reading.steps["j"]).toMatchObject({ rows: { in: 4, ok: expected.length } });
});

test("an anti join has the rows without a pair", async () => {
  const { told } = await toldOf(
    { orders, payouts },
    [
      fetch("orders", ["id", "sum"]),
      fetch("payouts", ["order_id"]),
      { id: "j", join: "orders", with: "payouts", on: { id: "order_id" }, kind: "anti" },
    ],
    "string(row.sum)",
  );
  expect(told).toEqual(["20", "40"]);
});

test.each(["inner", "left", "anti"])(
  "a join of kind %s of numbers with texts fails, and says which is which",
  async (kind) => {
    const bench = await benches.bench(
      worldOf({ orders, payouts: [{ order_id: "1" }, { order_id: null }, { order_id: "one" }] }),
    );
    bench.engine();
    const join = { id: "j", join: "orders", with: "payouts", on: { id: "order_id" }, kind };
    const id = await bench.submit({ steps: [fetch("orders", ["id"]), fetch("payouts", ["order_id"]), join] });
    const { job } = await bench.reach(id, "failed");
    expect(job.lastError).toBe(
      'JOIN_UNFIT: step j: no rows can be equal: id of orders holds numbers, order_id of payouts holds texts; convert them to texts first with {"compute":"orders","fields":{"id":"string(row.id)"}}, and join its rows',
    );
  },
);

test.each<[string, readonly Item[], readonly Item[]]>([
  ["numbers with texts", [{ who: { id: 7 } }, { who: { id: 8 } }], [{ for: ["7"] }, { for: ["9"] }]],
  ["texts with numbers", [{ who: { id: "7" } }, { who: { id: "8" } }], [{ for: [7] }, { for: [9] }]],
  ["truths with texts", [{ who: { id: true } }], [{ for: ["true"] }]],
  ["texts and truths with numbers", [{ who: { id: "7" } }, { who: { id: true } }], [{ for: [7] }]],
])("a join of %s matches once it is done as its failure says", async (_kinds, a, b) => {
  const bench = await benches.bench(worldOf({ a, b }));
  bench.engine();
  const sets = [fetch("a", ["who"]), fetch("b", ["for"])];
  const join = { id: "j", join: "a", with: "b", on: { "who.id": "for[0]" } };
  const { job } = await bench.reach(await bench.submit({ steps: [...sets, join] }), "failed", "succeeded");
  const steps = [...job.lastError.matchAll(/\{"compute".*?\}\}/g)].map(([text]) => JSON.parse(text) as Computing);
  expect(steps.length).toBeGreaterThan(0);
  const fieldOf = (set: string) => Object.keys(steps.find(({ compute }) => compute === set)?.fields ?? {})[0];
  const mended = {
    ...join,
    ...(fieldOf("a") && { join: "as_text_a" }),
    ...(fieldOf("b") && { with: "as_text_b" }),
    on: { [fieldOf("a") ?? "who.id"]: fieldOf("b") ?? "for[0]" },
  };
  const texts = steps.map((step) => ({ id: `as_text_${step.compute}`, ...step }));
  const reading = await bench.reach(await bench.submit({ steps: [...sets, ...texts, mended] }), "failed", "succeeded");
  expect([reading.job.lastError, reading.steps["j"]?.rows?.ok]).toEqual(["", 1]);
});

test("a join of lists with texts is told that another field is to be named", async () => {
  const bench = await benches.bench(worldOf({ a: [{ id: ["7"] }], b: [{ id: "7" }] }));
  bench.engine();
  const join = { id: "j", join: "a", with: "b", on: { id: "id" } };
  const id = await bench.submit({ steps: [fetch("a", ["id"]), fetch("b", ["id"]), join] });
  expect((await bench.reach(id, "failed", "succeeded")).job.lastError).toMatch(
    /holds lists or objects, .* holds texts; name fields that hold numbers or texts$/,
  );
});

test("a join of ids that one app writes in both ways matches those that it can, and none where one set is empty", async () => {
  const join = { id: "j", join: "orders", with: "payouts", on: { id: "order_id" } };
  const steps = [fetch("orders", ["id"]), fetch("payouts", ["order_id"]), join];
  const mixed = await toldOf({ orders, payouts: [{ order_id: "1" }, { order_id: 3 }] }, steps, "string(row.id)");
  expect(mixed.told).toEqual(["3"]);
  const empty = await toldOf({ orders, payouts: [] }, steps, "string(row.id)");
  expect(empty.told).toEqual([]);
});

test("a join or a flatten with more rows than the limit fails before it stores them", async () => {
  const a = Array.from({ length: 40 }, (_, n) => ({ id: `i${n}`, one: 1, list: Array.from({ length: 30 }, () => n) }));
  const bench = await benches.bench(worldOf({ a }));
  bench.engine();
  const pairs = { id: "j", join: "a", with: "a", on: { one: "one" } };
  const items = { id: "j", flatten: "a", field: "list", keep: { n: "item" } };
  for (const step of [pairs, items]) {
    const id = await bench.submit({ limits: { rows: 1_000 }, steps: [fetch("a", ["id", "one", "list"]), step] });
    const { job, steps } = await bench.reach(id, "succeeded", "failed");
    expect(job.lastError).toMatch(/^LIMIT_REACHED/);
    expect(steps["j"]?.state).toBe("failed");
    expect(steps["j"]?.rows?.ok ?? 0).toBeLessThanOrEqual(1_000);
  }
});

test("the items of a list become rows, beside the other fields of their row", async () => {
  const a = [
    { id: "a", title: "Lease", signers: [{ email: "x@a", done: true }, { email: "y@a" }] },
    { id: "b", title: "Sale", signers: [] },
    { id: "c", title: "Loan" },
    { id: "d", title: "Gift", signers: [{ email: "z@d", done: false }] },
  ];
  const { told, reading } = await toldOf(
    { a },
    [
      fetch("a", ["id", "title", "signers"]),
      { id: "f", flatten: "a", field: "signers", keep: { email: "item.email", done: "item.done" } },
      { id: "open", filter: "f", where: "row.done != true" },
    ],
    "row.title + ' ' + row.email",
  );
  expect(told).toEqual(["Lease y@a", "Gift z@d"]);
  expect(reading.steps["f"]).toMatchObject({ rows: { in: 4, ok: 3 } });
});

test("a list of the input becomes rows, each key once, and counts as rows that were fetched", async () => {
  const list = Array.from({ length: 1_203 }, (_, n) => ({ id: n % 1_200, text: `t${n}`, secret: "marker" }));
  const bench = await benches.bench(worldOf({}));
  bench.engine();
  const steps = [
    { id: "t", take: "input.list", key: "id", keep: ["text"] },
    { id: "sum", reduce: "t", as: { all: "count" } },
  ];
  const program = (rows: number) => ({
    input: { list },
    limits: { rows },
    steps,
    result: { n: { $ref: "steps.sum.all" } },
  });
  const { receipt } = await run(bench, program(1_200));
  expect(JSON.parse(receipt.resultJson)).toEqual({ n: 1_200 });
  expect(receipt.rows.in).toBe(1_200);
  const over = await bench.reach(await bench.submit(program(1_199)), "failed", "succeeded");
  expect(over.job.lastError).toMatch(/^LIMIT_REACHED/);
});

/** Returns `count` items. In their order by `n`, no two neighbors were neighbors before. */
function scattered(count: number) {
  return Array.from({ length: count }, (_, index) => ({ id: `i${index}`, n: (index * 7_919) % count }));
}

/** Returns the numbers of the rows of a large sorted set, in order, and the rows that a later step reads of it. */
async function sortedOf(max: number) {
  const bench = await benches.bench(worldOf({ a: scattered(2_500) }));
  bench.engine();
  const { job, receipt, steps } = await run(bench, {
    steps: [
      fetch("a", ["id", "n"]),
      { id: "s", sort: "a", by: [{ field: "n" }] },
      { id: "first", limit: "s", max },
      { id: "few", limit: "first", max: 900 },
      { id: "read", reduce: "few", as: { order: { text: { of: "{row.n}", separator: " ", max: 900 } } } },
    ],
    result: { order: { $ref: "steps.read.order" } },
  });
  expect(JSON.parse(receipt.resultJson)).toEqual({ order: Array.from({ length: 900 }, (_, n) => n).join(" ") });
  expect(steps["s"]).toMatchObject({ state: "completed", rows: { in: 2_500, ok: 2_500 } });
  const rows = await bench.db.sql<{ n: number }[]>`select row_number as n from job_set_rows
    where job_id = ${uuidOfId(job.id)}::uuid and set_id = 's' order by ordinal`;
  return rows.map(({ n }) => n);
}

test("rows of a large sorted set that a step reads whole stand in the set's order, and those of one of which the first are taken stay where they were", async () => {
  expect(await sortedOf(2_500)).toEqual(Array.from({ length: 2_500 }, (_, index) => 2_501 + index));
  expect(await sortedOf(900)).toEqual(
    scattered(2_500)
      .map(({ n }, index) => [n, index + 1] as const)
      .sort(([a], [b]) => a - b)
      .map(([, rowNumber]) => rowNumber),
  );
});

test("sets that are made are made anew by another node when theirs dies, and have each row once", async () => {
  const a = scattered(2_300).map((item) => ({ ...item, list: [item.n] }));
  const steps = [
    fetch("a", ["id", "n", "list"]),
    { id: "sorted", sort: "a", by: [{ field: "n", order: "desc" }] },
    { id: "once", distinct: "sorted", by: ["id"] },
    { id: "flat", flatten: "once", field: "list", keep: { m: "item" } },
    { id: "joined", join: "flat", with: "a", on: { id: "id" }, keep: { again: "right.n" } },
    { id: "good", filter: "joined", where: "row.m == row.n && row.again == row.n" },
    { id: "sum", reduce: "good", as: { all: "count", sum: "sum m" } },
  ];
  const result = { all: { $ref: "steps.sum.all" }, sum: { $ref: "steps.sum.sum" } };
  for (const step of ["sorted", "once", "flat", "joined"]) {
    const bench = await benches.bench(worldOf({ a }));
    const doomed = bench.doom("after-commit", 1, (stepId) => stepId === step);
    const id = await bench.submit({ steps, result }, { engine: doomed.engine });
    await doomed;
    bench.engine();
    bench.clock.advance(31_000);
    const { job, receipt, steps: receipts } = await bench.reach(id, "succeeded", "failed");
    expect(job.lastError).toBe("");
    expect(JSON.parse(receipt.resultJson)).toEqual({ all: 2_300, sum: (2_299 * 2_300) / 2 });
    expect(receipts[step]).toMatchObject({ state: "completed", attempts: 2, rows: { in: 2_300, ok: 2_300 } });
  }
});

test("sets of nothing are empty, and their sizes are known", async () => {
  const bench = await benches.bench(worldOf({ a: [] }));
  bench.engine();
  const { receipt } = await run(bench, {
    input: { list: [] },
    steps: [
      fetch("a", ["id", "list"]),
      { id: "s", sort: "a", by: [{ field: "id" }] },
      { id: "d", distinct: "s", by: ["id"] },
      { id: "l", limit: "d", max: 1 },
      { id: "j", join: "l", with: "a", on: { id: "id" } },
      { id: "g", group: "j", by: ["id", "list"], as: { all: "count" } },
      { id: "c", compute: "g", fields: { x: "1.0" } },
      { id: "f", flatten: "c", field: "list", keep: { item: "item" } },
      { id: "t", take: "input.list", keep: ["id"] },
    ],
    result: Object.fromEntries(["s", "d", "l", "j", "g", "c", "f", "t"].map((id) => [id, { $ref: `rows.${id}` }])),
  });
  expect(JSON.parse(receipt.resultJson)).toEqual({ s: 0, d: 0, l: 0, j: 0, g: 0, c: 0, f: 0, t: 0 });
});
