import { uuidOfId } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const count = 32;
const characters = 150_000;

/** Creates a test app whose items have long titles, with a few items on each page. Its answers about a single item are as long. */
function worldOf() {
  const world = createWorld();
  const large = "x".repeat(characters);
  world.script = ({ path, query }) => {
    if (path !== "/items") return { status: 200, body: { id: large } };
    const page = Number(query.get("page") ?? 0);
    const items = Array.from({ length: 8 }, (_, n) => ({ id: `item-${page * 8 + n}`, title: large }));
    return { status: 200, body: { items, ...(page < count / 8 - 1 && { next: String(page + 1) }) } };
  };
  return world;
}

const fetch = {
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: {},
  rows: { from: "items[]", keep: ["id", "title"], page: { arg: "page", from: "next", max: 10 } },
};
const look = {
  id: "look",
  map: "items",
  concurrency: 8,
  keep: { more: "calls.get.id" },
  do: [{ id: "get", call: "desk.get_item", entity: "ops", args: { id: { $ref: "row.id" } } }],
};

test("a map over large rows with large answers holds a bounded part of them, charged to the project, and commits few at a time", async () => {
  const bench = await benches.bench(worldOf());
  const { memory } = bench.engine();
  let most = 0;
  let isOver = false;
  const watch = () => {
    most = Math.max(most, memory.stats().bytes);
    if (!isOver) setTimeout(watch, 1);
  };
  watch();
  const id = await bench.submit({ steps: [fetch, look] });
  const { job, steps } = await bench.reach(id, "succeeded", "failed");
  isOver = true;
  expect(job.lastError).toBe("");
  expect(steps["look"]).toMatchObject({ rows: { in: count, ok: count } });
  expect(most).toBeGreaterThan(1_000_000);
  expect(most).toBeLessThan(64 * 1_048_576);
  expect(memory.stats()).toEqual({ bytes: 0, waiting: 0 });
  const commits = await bench.db.sql<{ bytes: number }[]>`
    select sum(octet_length(data))::int4 as bytes from job_rows
    where job_id = ${uuidOfId(id)}::uuid and row_number > ${count} group by xmin::text`;
  const bytes = commits.map((commit) => commit.bytes);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(count * 2 * characters);
  expect(Math.max(...bytes)).toBeLessThan(3_000_000);
});
