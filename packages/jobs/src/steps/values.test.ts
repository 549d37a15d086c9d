import { createWorld } from "@svc/testing/desk";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

type Item = Readonly<Record<string, unknown>>;

/** Runs steps over the items of the test app (the set `items`), on a separate node. */
async function run(items: readonly Item[], steps: readonly object[], result: object, more: object = {}) {
  const world = createWorld();
  world.script = ({ path }) => (path === "/items" ? { status: 200, body: { items } } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const keep = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const fetch = { id: "items", call: "desk.list_items", entity: "ops", args: {}, rows: { from: "items[]", keep } };
  const reading = await bench.reach(
    await bench.submit({ steps: [fetch, ...steps], result, ...more }),
    "succeeded",
    "failed",
  );
  const posted = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  return { ...reading, posted, result: () => JSON.parse(reading.receipt.resultJson) as unknown };
}

const deals = [
  { id: "a", owner: "ann", value: 10, title: "One" },
  { id: "b", owner: "bob", value: 5, title: "Two {x}" },
  { id: "c", owner: "ann", value: 30, title: null },
  { id: "d", value: 1, title: "Four" },
  { id: "e", owner: null, value: null },
];

test("a text joins rows as it says, and tells how many it leaves out", async () => {
  const text = {
    of: "{{{params.sign} {row.title}: {row.value}}",
    separator: "; ",
    max: 3,
    more: "and {more} of {more}",
  };
  const { result, job } = await run(
    deals,
    [
      { id: "all", reduce: "items", as: { text: { text: { of: "{row.id}" } }, some: { text } } },
      { id: "none", filter: "items", where: "false" },
      { id: "empty", reduce: "none", as: { text: { text: { of: "{row.id}", more: "{more}" } }, list: "list id" } },
    ],
    { all: { $ref: "steps.all.text" }, some: { $ref: "steps.all.some" }, empty: { $ref: "steps.empty.text" } },
    { params: { sign: "-" } },
  );
  expect(job.lastError).toBe("");
  expect(result()).toEqual({
    all: "a\nb\nc\nd\ne",
    some: "{- One: 10}; {- Two {x}: 5}; {- : 30}; and 2 of 2",
    empty: "",
  });
});

test("a list has a field of every row, and goes where a list may", async () => {
  const list = { id: "l", reduce: "items", as: { ids: "list id", owners: "list owner" } };
  const send = { id: "send", call: "desk.send_note", entity: "ops" };
  const text = { $cel: "steps.l.ids.join(',') + ' ' + string(size(steps.l.owners))" };
  const { posted, job } = await run(deals, [list, { ...send, args: { text } }], {});
  expect(job.lastError).toBe("");
  expect(posted).toEqual(["a,b,c,d,e 5"]);
});

test("what is no list or text any more fails its step, and says what to do", async () => {
  const many = Array.from({ length: 1_100 }, (_, n) => ({ id: `i${n}`, long: "x".repeat(100), deep: { n } }));
  const failing = async (as: object) => {
    const { job, steps } = await run(many, [{ id: "r", reduce: "items", as }], {});
    expect(steps["r"]?.state).toBe("failed");
    return job.lastError;
  };
  expect(await failing({ ids: "list id" })).toMatch(
    /^LIST_TOO_LONG: step r: ids would be a list of more than 1000 values/,
  );
  expect(await failing({ t: { text: { of: "{row.long}" } } })).toMatch(
    /^VALUE_TOO_LARGE: step r: t would have more than/,
  );
  expect(await failing({ t: { text: { of: "{row.deep}" } } })).toMatch(
    /^REFERENCE_UNFIT: step r: t row.deep is an object/,
  );
  const few = await run(many, [{ id: "r", reduce: "items", as: { t: { text: { of: "{row.long}", max: 500 } } } }], {});
  expect(few.job.lastError).toBe("");
});

test("a null leaves out an optional argument that takes none, and no other", async () => {
  const world = createWorld({ items: 1 });
  const bench = await benches.bench(world);
  bench.engine();
  const list = (id: string, args: object) => ({ id, call: "desk.list_shelf", entity: "ops", args });
  const id = await bench.submit({
    params: { from: null },
    steps: [
      list("a", { offset: { $ref: "params.from", else: null }, cursor: { $cel: "null" }, size: 3 }),
      list("b", { offset: { $ref: "params.nobody", else: null }, cursor: { $text: "{params.from}", else: null } }),
    ],
  });
  await bench.reach(id, "succeeded", "failed");
  expect(world.seen.map(({ query }) => [...query.keys()].sort())).toEqual([["size"], ["size"]]);
  const required = { id: "c", call: "desk.get_item", entity: "ops", args: { id: { $cel: "params.from" } } };
  const failing = await bench.submit({ params: { from: null }, steps: [required] });
  const { job } = await bench.reach(failing, "succeeded", "failed");
  expect(job.lastError).toContain("must be string");
});

test("a sum over what is no number fails by the row and its kind, in a reduce and in a group; what is null is left out", async () => {
  const amounts = [
    { id: "a", amount: null, day: "2026-03-01" },
    { id: "b", amount: 12.5, day: "2026-11-24" },
    { id: "c", amount: "30", day: "2025-12-31" },
    { id: "d", amount: true, day: null },
  ];
  const failing = async (items: Parameters<typeof run>[0], step: object) =>
    (await run(items, [step], {})).job.lastError;
  const cure = 'compute it before, as in {"amount": "double(row.amount)"}';
  expect(await failing(amounts, { id: "r", reduce: "items", as: { worth: "sum amount" } })).toBe(
    `VALUE_UNFIT: step r: worth adds up amount, which is a text and not a number: ${cure}, at the row with position 2`,
  );
  expect(await failing(amounts, { id: "g", group: "items", by: ["id"], as: { mean: "avg amount" } })).toBe(
    `VALUE_UNFIT: step g: mean adds up amount, which is a text and not a number: ${cure}, at the row with position 2`,
  );
  expect(await failing(amounts, { id: "r", reduce: "items", as: { most: "max amount" } })).toBe(
    `VALUE_UNFIT: step r: most compares amount, which is a text here and a number in earlier rows: ${cure}, at the row with position 2`,
  );
  expect(await failing(amounts.slice(3), { id: "r", reduce: "items", as: { least: "min amount" } })).toBe(
    "VALUE_UNFIT: step r: least compares amount, which is a boolean and neither a number nor a text, at the row with position 0",
  );
  const mended = await run(
    amounts.slice(0, 3),
    [
      { id: "n", compute: "items", fields: { amount: "row.amount == null ? null : double(row.amount)" } },
      { id: "r", reduce: "n", as: { worth: "sum amount", mean: "avg amount", first: "min day", last: "max day" } },
      { id: "g", group: "n", by: ["amount"], as: { last: "max day" } },
      { id: "s", sort: "g", by: [{ field: "last" }] },
      { id: "l", reduce: "s", as: { days: { text: { of: "{row.last}", separator: " " } } } },
    ],
    {
      worth: { $ref: "steps.r.worth" },
      first: { $ref: "steps.r.first" },
      last: { $ref: "steps.r.last" },
      days: { $ref: "steps.l.days" },
    },
  );
  expect(mended.job.lastError).toBe("");
  expect(mended.result()).toEqual({
    worth: 42.5,
    first: "2025-12-31",
    last: "2026-11-24",
    days: "2025-12-31 2026-03-01 2026-11-24",
  });
});

test("groups are rows: the fields, and values over the rows that are alike in them", async () => {
  const { posted, steps, job } = await run(
    deals,
    [
      {
        id: "owners",
        group: "items",
        by: ["owner"],
        as: {
          deals: "count",
          worth: "sum value",
          ids: "list id",
          lines: { text: { of: "{row.title}", separator: "/" } },
        },
      },
      { id: "largest", sort: "owners", by: [{ field: "worth", order: "desc" }] },
      {
        id: "tell",
        map: "largest",
        concurrency: 1,
        do: [
          {
            id: "note",
            call: "desk.send_note",
            entity: "ops",
            args: {
              text: {
                $cel: "(row.owner == null ? 'nobody' : row.owner) + ' ' + string(row.deals) + ' ' + string(row.worth) + ' ' + row.ids.join('') + ' ' + row.lines",
              },
            },
          },
        ],
      },
    ],
    {},
  );
  expect(job.lastError).toBe("");
  expect(posted).toEqual(["ann 2 40 ac One/", "bob 1 5 b Two {x}", "nobody 2 1 de Four/"]);
  expect(steps["owners"]).toMatchObject({ rows: { in: 5, ok: 3 } });
});

test("fields are computed of each row as the set has it, and a row without an answer fails the step by its ordinal", async () => {
  const fields = { title: "row.title == null ? 'None' : row.title.upperAscii()", double: "row.value * 2.0" };
  const { posted, job } = await run(
    deals.slice(0, 4),
    [
      { id: "c", compute: "items", fields },
      { id: "sum", reduce: "c", as: { text: { text: { of: "{row.id} {row.title} {row.double}", separator: "," } } } },
      { id: "send", call: "desk.send_note", entity: "ops", args: { text: { $ref: "steps.sum.text" } } },
    ],
    {},
  );
  expect(job.lastError).toBe("");
  expect(posted).toEqual(["a ONE 20,b TWO {X} 10,c None 60,d FOUR 2"]);
  const failed = await run(deals, [{ id: "c", compute: "items", fields: { x: "row.value * 2.0" } }], {});
  expect(failed.job.lastError).toMatch(/^EXPRESSION_FAILED: step c: x applies .*, at the row with position 4$/);
});

test("rows are computed chunk by chunk: a node that dies loses what it had not committed, and nothing is there twice", async () => {
  const items = 4_500;
  const world = createWorld({ items });
  const bench = await benches.bench(world);
  const fetch = { id: "items", call: "desk.list_items", entity: "ops", args: {} };
  const rows = { from: "items[]", keep: ["id", "n"], page: { arg: "page", from: "next", max: 5 } };
  const doomed = bench.doom("after-commit", 2, (stepId) => stepId === "twice");
  const id = await bench.submit(
    {
      steps: [
        { ...fetch, rows },
        { id: "twice", compute: "items", fields: { m: "row.n * 2.0" } },
        { id: "halves", group: "twice", by: ["m"], as: { all: "count", text: { text: { of: "{row.id}" } } } },
        { id: "sum", reduce: "halves", as: { all: "sum all", sum: "sum m", groups: "count" } },
      ],
      result: { all: { $ref: "steps.sum.all" }, sum: { $ref: "steps.sum.sum" }, groups: { $ref: "steps.sum.groups" } },
    },
    { engine: doomed.engine },
  );
  await doomed;
  bench.engine();
  bench.clock.advance(31_000);
  const { job, receipt } = await bench.reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(JSON.parse(receipt.resultJson)).toEqual({ all: items, sum: (items - 1) * items, groups: items });
});

test("a result that is no text or no scalar is left out, and its place is told", async () => {
  const items = [{ id: "a", tags: ["x"] }];
  const list = { id: "all", reduce: "items", as: { tags: "list tags" } };
  for (const [result, why] of [
    [{ said: { $text: "tags: {steps.all.tags[0]}" } }, /^REFERENCE_UNFIT: .*, at \/result\/said\/\$text$/],
    [{ first: { $ref: "steps.all.tags[0]" } }, /^REFERENCE_UNFIT: .*, at \/result\/first$/],
    [{ count: { $cel: "int(string(rows.items) + 'x')" } }, /^EXPRESSION_FAILED: .*[^l], at \/result\/count\/\$cel$/],
  ] as const) {
    const { job, receipt } = await run(items, [list], result);
    expect(job).toMatchObject({ status: "succeeded", lastError: expect.stringMatching(why) as string });
    expect(receipt.resultJson).toBe("");
  }
});
