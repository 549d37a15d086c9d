import { createWorld, type World } from "@svc/testing/desk";
import type { JobReading } from "@svc/testing/job-bench";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";
import { turnPage } from "./call-pages.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

type Reading = {
  readonly page: object | undefined;
  readonly tool?: string;
  readonly args?: object;
  readonly mode?: string;
};

/** Runs a job that reads a list of the test app to its end, or until something ends the reading. */
async function read(world: World, { page, tool = "desk.list_shelf", args = {} }: Reading): Promise<JobReading> {
  const bench = await benches.bench(world);
  bench.engine();
  const rows = { from: "items[]", keep: ["id"], page };
  const id = await bench.submit({ steps: [{ id: "items", call: tool, entity: "ops", args, rows }] });
  return await bench.reach(id, "succeeded", "failed");
}

/** Returns, for each request, the value of the parameter `name` by which it asked for its page. */
function asked({ seen }: World, name: string): (string | null)[] {
  return seen.map(({ query }) => query.get(name));
}

test.each([
  ["by number, as the tool declares it", { max: 9 }, "page", ["1", "2", "3"]],
  ["by number", { arg: "page", start: 1, size: "size", max: 9 }, "page", ["1", "2", "3"]],
  ["by offset", { arg: "offset", by: "rows", size: "size", max: 9 }, "offset", ["0", "5", "10"]],
  [
    "by offset, its end unknown before an empty page",
    { arg: "offset", by: "rows", max: 9 },
    "offset",
    ["0", "5", "10", "12"],
  ],
  ["by link", { arg: "cursor", from: "links.next", query: "cursor", max: 9 }, "cursor", [null, "5", "10"]],
] as const)("a list of twelve is read %s", async (_way, page, name, expected) => {
  const world = createWorld({ items: 12 });
  const { job, steps } = await read(world, { page });
  expect(job).toMatchObject({ status: "succeeded", lastError: "" });
  expect(asked(world, name)).toEqual(expected);
  expect(steps["items"]).toMatchObject({ rows: { in: 12 }, calls: { read: expected.length } });
});

test.each([
  ["is told where its page is full", 12, "desk.list_shelf", 1],
  ["has nothing left where its page is not full", 3, "desk.list_shelf", 0],
  ["is not known to have more where its tool declares no pages", 12, "desk.list_items", 0],
] as const)("a list that is read without pages %s", async (_what, items, tool, count) => {
  const { job, steps, events } = await read(createWorld({ items, pageSize: 5 }), { page: undefined, tool });
  expect(job).toMatchObject({ status: "succeeded", lastError: "" });
  expect(steps["items"]?.state).toBe("completed");
  expect(steps["items"]?.errors).toMatchObject(count === 0 ? [] : [{ code: "PAGES_LEFT", count }]);
  expect(events.filter(({ type }) => type === "pages-left")).toHaveLength(count);
});

test("a list of full pages ends at an empty one, or where the answer says that it does", async () => {
  const counted = createWorld({ items: 10 });
  await read(counted, { page: { max: 9 } });
  expect(asked(counted, "page")).toEqual(["1", "2", "3"]);
  const told = createWorld({ items: 10 });
  const { steps } = await read(told, { page: { arg: "offset", by: "rows", more: "more", max: 9 } });
  expect(asked(told, "offset")).toEqual(["0", "5"]);
  expect(steps["items"]).toMatchObject({ rows: { in: 10 } });
});

test("a short page is not the last one where the answer says that there are more", async () => {
  const world = createWorld({ items: 12 });
  world.script = ({ query }) => {
    const page = Number(query.get("page"));
    return { status: 200, body: { items: [{ id: `i${page}` }], more: page < 3 } };
  };
  const { steps } = await read(world, { page: { arg: "page", start: 1, size: "size", more: "more", max: 9 } });
  expect(steps["items"]).toMatchObject({ rows: { in: 3 }, calls: { read: 3 } });
});

test("an empty page is not the last one where the answer says that there are more, unless it cannot be passed", async () => {
  const sparse = createWorld();
  sparse.script = ({ query }) => {
    const page = Number(query.get("page"));
    return { status: 200, body: { items: page === 4 ? [{ id: "i4" }] : [], more: page < 4 } };
  };
  const { steps } = await read(sparse, { page: { arg: "page", start: 1, more: "more", max: 9 } });
  expect(steps["items"]).toMatchObject({ rows: { in: 1 }, calls: { read: 4 } });
  const stuck = createWorld();
  stuck.script = () => ({ status: 200, body: { items: [], more: true } });
  const { job } = await read(stuck, { page: { arg: "offset", by: "rows", more: "more", max: 9 } });
  expect(job.lastError).toMatch(/^PAGE_REPEATED: /);
  expect(stuck.seen).toHaveLength(2);
});

test("an answer that has more and no token for it fails the step: its list would pass for whole", async () => {
  const world = createWorld();
  world.script = () => ({ status: 200, body: { items: [{ id: "i1" }], more: true } });
  const page = { arg: "cursor", from: "links.next", query: "cursor", more: "more", max: 9 };
  const { job } = await read(world, { page });
  expect(job.lastError).toBe(
    "PAGE_TOKEN_MISSING: step items: more of the answer is true, but there is no value at links.next",
  );
});

test("reading begins at the page that the arguments name, and takes its size from them", async () => {
  const world = createWorld({ items: 12 });
  const { steps } = await read(world, { page: { max: 9 }, args: { page: 2, size: 4 } });
  expect(asked(world, "page")).toEqual(["2", "3", "4"]);
  expect(steps["items"]).toMatchObject({ rows: { in: 8 } });
});

test("a full page left as the last one allowed fails the step", async () => {
  const { job, steps } = await read(createWorld({ items: 12 }), { page: { max: 2 } });
  expect(job.lastError).toBe("PAGE_LIMIT: step items: 2 pages were fetched and the last page was full");
  expect(steps["items"]).toMatchObject({ state: "failed", rows: { in: 10 } });
});

test.each([
  [
    "by number",
    { tool: "desk.list_shelf", page: { max: 9 } },
    { items: [1, 2, 3, 4, 5].map((n) => ({ id: `i${n}` })) },
  ],
  [
    "by a token, however it changes",
    { tool: "desk.list_items", page: { arg: "page", from: "next", max: 9 } },
    { items: [{ id: "i1" }] },
  ],
] as const)("a page equal to the one before fails the step, %s", async (_way, reading, answer) => {
  const world = createWorld();
  world.script = (_request, count) => ({ status: 200, body: { ...answer, next: `token-${count}` } });
  const { job, steps } = await read(world, reading);
  expect(job.lastError).toMatch(/^PAGE_REPEATED: step items: page 2 has the rows of the page before/);
  expect(world.seen).toHaveLength(2);
  // The step failed, but the rows of the page are in the set only once.
  expect(steps["items"]).toMatchObject({ state: "failed", rows: { in: answer.items.length } });
});

test("empty pages are read over while their tokens go on, and fail the step once they do not", async () => {
  const page = { arg: "page", from: "next", max: 9 };
  const moving = createWorld();
  moving.script = (_request, count) => ({ status: 200, body: { items: [], ...(count < 4 && { next: `t${count}` }) } });
  const moved = await read(moving, { tool: "desk.list_items", page });
  expect(moved.job.status).toBe("succeeded");
  expect(moving.seen).toHaveLength(4);
  const standing = createWorld();
  standing.script = () => ({ status: 200, body: { items: [], next: "t" } });
  const stood = await read(standing, { tool: "desk.list_items", page });
  expect(stood.job.lastError).toMatch(/^PAGE_REPEATED: /);
  expect(standing.seen).toHaveLength(2);
});

test("a link without the parameter that asks for the next page fails the step, and is not told", async () => {
  const world = createWorld();
  world.script = () => ({ status: 200, body: { items: [{ id: "i1" }], links: { next: "/shelf?marker-1" } } });
  const page = { arg: "cursor", from: "links.next", query: "cursor", max: 9 };
  const { job } = await read(world, { page });
  expect(job.lastError).toBe(
    "PAGE_LINK_INVALID: step items: the value at links.next is not a link with a query parameter cursor",
  );
});

test("the next page of a list may follow its last row", async () => {
  const action = { inputSchema: {} } as Parameters<typeof turnPage>[0]["action"];
  const paging = { kind: "token", arg: "after", from: ["data", -1, "id"], query: undefined, more: ["more"] } as const;
  const turn = (data: { id: string }[], more: boolean) =>
    turnPage({ paging, action, args: {}, page: undefined, answer: { data, more }, list: data }, 9);
  expect(await turn([{ id: "a" }, { id: "b" }], true)).toMatchObject({ kind: "next", page: { token: "b" } });
  expect(await turn([{ id: "a" }], false)).toBeUndefined();
  expect(await turn([], true)).toMatchObject({ kind: "fault", fault: { code: "PAGE_TOKEN_MISSING" } });
});
