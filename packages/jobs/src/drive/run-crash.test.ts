import { type Id, idOfUuid, uuidOfId } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import type { JobReading, TestBench } from "@svc/testing/job-bench";
import { countTasks, createBenches, fetchItems } from "@svc/testing/job-benches";
import { sampleOf } from "@svc/testing/sample";
import { untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import type { FaultPoint } from "./observer.ts";
import { goOn, isOver, retry } from "./test-parks.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const textInput = {
  inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
  input: { text: "x" },
};
const note = {
  ...textInput,
  steps: [{ id: "note", call: "desk.send_keyed", entity: "ops", args: { text: { $ref: "input.text" } } }],
  result: { id: { $ref: "steps.note.id" } },
};
const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
const saga = { on: ["failed"] };
const undone = { ...note, saga, steps: [{ ...note.steps[0], undo }] };
const late = {
  ...textInput,
  steps: [
    { id: "one", call: "desk.send_note", entity: "ops", args: { text: { $ref: "input.text" } } },
    { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "input.text" } } },
    { id: "two", call: "desk.send_note", entity: "ops", args: { text: { $text: "{input.text} two" } } },
  ],
};
const options = { skills: { note, undone, late } };
const twice = {
  steps: [
    { id: "first", run: "skills.note", input: { text: "one" } },
    { id: "second", run: "skills.note", input: { text: { $ref: "steps.first.id" } } },
  ],
};

async function childrenOf({ db }: TestBench, jobId: Id<"job">): Promise<Id<"job">[]> {
  const rows = await db.sql<
    { id: string }[]
  >`select id from jobs where parent_job_id = ${uuidOfId(jobId)}::uuid order by id`;
  return rows.map(({ id }) => idOfUuid("job", id));
}

/** Runs a program on a node that dies at a point, and then on a second node to its end. */
async function runAndKill(program: object, point: FaultPoint | "in-send", nth: number) {
  const world = createWorld({ items: 7, pageSize: 10 });
  const { script } = world;
  world.script = (request) => (request.path === "/items/bad" ? { status: 404 } : script?.(request, 0));
  const bench = await benches.bench(world);
  let isDead = false;
  const doomed = bench.doom(point, nth);
  void doomed.then(() => {
    isDead = true;
  });
  const id = await bench.submit(program, options);
  await untilMoved(() => {
    bench.clock.advance(20);
    return isDead;
  });
  const engine = bench.engine();
  const reading = await goOn(bench, engine, id, isOver);
  return { bench, world, id, reading };
}

/** Checks that each job's log has no gaps, that its receipt names the last entry, and that no task of the job is left. */
async function expectWhole(bench: TestBench, readings: readonly JobReading[]): Promise<void> {
  for (const { events, receipt } of readings) {
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
    expect(receipt.lastSeq).toBe(events.length);
  }
  expect(await countTasks(bench)).toBe(0);
}

const points = [
  ...[1, 2, 3].map((nth) => ["after-claim", nth] as const),
  ...[1, 2, 3, 4].flatMap((nth) => [["before-commit", nth] as const, ["after-commit", nth] as const]),
  ["in-send", 1] as const,
  ["after-call", 2] as const,
];

test.each(sampleOf(points, 2))(
  "dead at %s, passing %i: each skill is run once, and its end is taken once",
  async (point, nth) => {
    const { bench, world, id, reading } = await runAndKill(twice, point, nth);
    expect([reading.job.status, reading.job.lastError]).toEqual(["succeeded", ""]);
    const children = await childrenOf(bench, id);
    expect(children).toHaveLength(2);
    const readings = await Promise.all(children.map((child) => bench.read(child)));
    expect(readings.map(({ job }) => job.status)).toEqual(["succeeded", "succeeded"]);
    // A write with a key that was lost is sent again with the same key.
    const sent = world.seen.filter(({ method }) => method === "POST");
    expect([...new Set(sent.map(({ body }) => body["text"]))]).toEqual(["one", "note-one"]);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(2);
    expect(reading.events.filter(({ type }) => type === "child-started")).toHaveLength(2);
    const used = readings.reduce((sum, { job }) => sum + job.used.toolCalls, 0);
    expect(reading.job.used).toMatchObject({ toolCalls: used, writes: used });
    await expectWhole(bench, [reading, ...readings]);
  },
);

test("the log tells of a map's first child where its rows waited before they came to it", async () => {
  const world = createWorld({ items: 7, pageSize: 10 });
  const failed = new Set<string>();
  world.script = ({ path }) => {
    if (!path.startsWith("/items/") || failed.has(path)) return undefined;
    failed.add(path);
    return { status: 503, headers: { "retry-after": "30" } };
  };
  const bench = await benches.bench(world);
  const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: { $ref: "row.id" } } };
  const tell = { id: "tell", run: "skills.note", input: { text: { $ref: "row.id" } } };
  const each = { id: "each", map: "items", do: [{ ...look, retry: { max: 2, initial: "1s" } }, tell] };
  const id = await bench.submit({ steps: [fetchItems(), each] }, options);
  const { job, events } = await goOn(bench, bench.engine(), id, isOver);
  expect([job.status, job.lastError, failed.size]).toEqual(["succeeded", "", 7]);
  expect(await childrenOf(bench, id)).toHaveLength(7);
  expect(events.filter(({ type }) => type === "child-started")).toHaveLength(1);
});

const undoing = {
  saga,
  steps: [
    { id: "first", run: "skills.undone", input: { text: "one" } },
    { id: "second", run: "skills.undone", input: { text: "two" } },
    { id: "bad", call: "desk.get_item", entity: "ops", args: { id: "bad" } },
  ],
};

test.each([
  ["mid-undo", 1],
  ["before-commit", 9],
  ["before-commit", 10],
] as const)("dead at %s, passing %i, while what children did is undone: all of it is, once", async (point, nth) => {
  const { bench, world, reading } = await runAndKill(undoing, point, nth);
  expect(reading.job).toMatchObject({
    status: "failed",
    saga: { state: "compensated", entries: 2, done: 2, failed: 0 },
  });
  const gone = world.seen.flatMap(({ method, path }) => (method === "DELETE" ? [path] : []));
  expect([...new Set(gone)]).toEqual(["/notes/note-two", "/notes/note-one"]);
  await expectWhole(bench, [reading]);
});

const mapping = {
  steps: [
    fetchItems(),
    {
      id: "each",
      map: "items",
      concurrency: 3,
      do: [{ id: "tell", run: "skills.note", input: { text: { $ref: "row.id" } } }],
    },
  ],
};

test.each(
  sampleOf(
    [
      ["before-commit", 3],
      ["after-commit", 3],
      ["before-commit", 6],
      ["after-commit", 7],
      ["before-commit", 9],
      ["after-claim", 3],
      ["in-send", 4],
    ] as const,
    2,
  ),
)("a map, dead at %s, passing %i: one child a row", async (point, nth) => {
  const { bench, world, id, reading } = await runAndKill(mapping, point, nth);
  expect([reading.job.status, reading.job.lastError]).toEqual(["succeeded", ""]);
  expect(reading.steps["each"]).toMatchObject({ state: "completed", rows: { in: 7, ok: 7 } });
  const children = await childrenOf(bench, id);
  expect(children).toHaveLength(7);
  const readings = await Promise.all(children.map((child) => bench.read(child)));
  const sent = world.seen.filter(({ method }) => method === "POST");
  expect(new Set(sent.map(({ body }) => body["text"])).size).toBe(7);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(7);
  const used = readings.reduce((sum, { job }) => sum + job.used.writes, 0);
  expect(reading.job.used.writes).toBe(used);
  await expectWhole(bench, [reading, ...readings]);
});

const lateMap = {
  steps: [
    fetchItems(),
    {
      id: "each",
      map: "items",
      concurrency: 2,
      do: [{ id: "tell", run: "skills.late", input: { text: { $ref: "row.id" } } }],
    },
  ],
};

// The first commit begins the attempt. For the other points, see test/crash, "retried map of writing skills".
test.each([
  ["before-commit", 2],
  ["after-commit", 2],
  ["before-commit", 4],
  ["after-call", 1],
] as const)(
  "rows done again, dead at %s, passing %i: the job of each goes on, and writes nothing twice",
  async (point, nth) => {
    const world = createWorld({ items: 4 });
    let isBroken = true;
    world.script = ({ path }) => (isBroken && /^\/items\/i[12]$/.test(path) ? { status: 404 } : undefined);
    const bench = await benches.bench(world);
    const first = bench.engine();
    const id = await bench.submit(lateMap, options);
    await bench.reach(id, "failed");
    await first.drain(0);
    isBroken = false;
    let isDead = false;
    const doomed = bench.doom(point, nth);
    void doomed.then(() => {
      isDead = true;
    });
    expect(await retry(bench, doomed.engine, id)).toEqual({ outcome: "done" });
    await untilMoved(() => {
      bench.clock.advance(20);
      return isDead;
    });
    const reading = await goOn(bench, bench.engine(), id, isOver);
    expect([reading.job.status, reading.job.lastError]).toEqual(["succeeded", ""]);
    const children = await childrenOf(bench, id);
    const readings = await Promise.all(children.map((child) => bench.read(child)));
    expect(readings.map(({ job }) => job.attempt).toSorted()).toEqual([1, 1, 2, 2]);
    const sent = world.seen.flatMap(({ method, body }) => (method === "POST" ? [body["text"]] : []));
    expect([new Set(sent).size, sent.length]).toEqual([8, 8]);
    expect(reading.job.used.writes).toBe(8);
    await expectWhole(bench, [reading, ...readings]);
  },
);
