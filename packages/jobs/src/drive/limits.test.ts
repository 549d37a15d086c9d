import { ToolsService } from "@svc/gen/tools";
import { catalogOf } from "@svc/testing/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { createWorld, desk, type World } from "@svc/testing/desk";
import { createTestNode, jobOf, programText, type TestNode, type TestProject } from "@svc/testing/jobs-node";
import { until } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const nodes: TestNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node[Symbol.asyncDispose]();
});

function nodeOf(options: Parameters<typeof createTestNode>[1]): TestNode {
  const node = createTestNode(db, options);
  nodes.push(node);
  return node;
}

const toolsOf = (node: TestNode, { projectId }: TestProject) =>
  node.client(ToolsService, { projectId, role: "approver" });

/** A program that sends a note for each item of the test app. */
const sendAll = programText({
  steps: [
    {
      id: "items",
      call: "desk.list_items",
      entity: "ops",
      args: {},
      rows: { from: "items[]", key: "id", keep: ["id"] },
    },
    {
      id: "send",
      map: "items",
      concurrency: 8,
      do: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: { $ref: "row.id" } } }],
    },
  ],
});
const readOne = programText({ steps: [{ id: "one", call: "desk.get_item", entity: "ops", args: { id: "i1" } }] });

async function submit({ client }: TestProject, programJson: string): Promise<string> {
  return jobOf(await client.submitJob({ programJson })).id;
}

const sentBy = ({ seen }: World) => seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);

/** Creates an app that counts how many notes are being sent at the same time. */
function countedWorld(items: number) {
  const world = createWorld({ items });
  const notes = { underWay: 0, most: 0 };
  world.script = async ({ method }) => {
    if (method !== "POST") return undefined;
    notes.underWay++;
    notes.most = Math.max(notes.most, notes.underWay);
    await new Promise((resolve) => setImmediate(resolve));
    notes.underWay--;
    return undefined;
  };
  return { world, notes };
}

test("the rows of a map go as many at once as a limit says, each exactly once", async () => {
  const { world, notes } = countedWorld(120);
  const node = nodeOf({ world });
  const project = await node.project();
  const limit = { name: "desk", toolkitSlug: "desk", keyExpression: "accountId", concurrency: 2 };
  await toolsOf(node, project).putCallLimit({ limit });
  const [one, two] = [await submit(project, sendAll), await submit(project, sendAll)];
  await node.reach(one, "succeeded", "failed");
  await node.reach(two, "succeeded", "failed");
  const { stepReceipts, lastError } = jobOf(await project.client.getJob({ id: one }));
  expect(lastError).toBe("");
  expect(stepReceipts.at(-1)).toMatchObject({ rows: { in: 120, ok: 120 }, calls: { write: 120, retried: 0 } });
  expect(sentBy(world)).toHaveLength(240);
  expect(new Set(sentBy(world)).size).toBe(120);
  expect(notes.most).toBe(2);
});

test("a map that waits for a rate holds no place of the worker, and goes on when the rate lets it", async () => {
  const world = createWorld({ items: 9 });
  const node = nodeOf({ world });
  const project = await node.project();
  const rate = { max: 4, per: { seconds: 1n, nanos: 0 } };
  const key = 'toolSlug == "desk.send_note" ? accountId : null';
  await toolsOf(node, project).putCallLimit({ limit: { name: "notes", keyExpression: key, rate } });
  const startedMs = performance.now();
  const id = await submit(project, sendAll);
  await until(() => sentBy(world).length === 4);
  await until(() => node.jobs.engine.stats().held === 0);
  // Calls of another tool are not delayed by the limit.
  await node.reach(await submit(project, readOne), "succeeded");
  await node.reach(id, "succeeded", "failed");
  expect(sentBy(world)).toHaveLength(9);
  expect(performance.now() - startedMs).toBeGreaterThan(2_000);
});

test("jobs wait while a limit is paused, and go on once it is not", async () => {
  const world = createWorld({ items: 3 });
  const node = nodeOf({ world });
  const project = await node.project();
  const tools = toolsOf(node, project);
  await tools.putCallLimit({ limit: { name: "all", paused: true } });
  const id = await submit(project, sendAll);
  await until(
    async () =>
      jobOf(await project.client.getJob({ id })).stepReceipts.length > 0 && node.jobs.engine.stats().held === 0,
  );
  expect(world.seen).toHaveLength(0);
  const other = await node.project();
  await node.reach(await submit(other, readOne), "succeeded");
  await tools.putCallLimit({ limit: { name: "all", concurrency: 1 } });
  await node.reach(id, "succeeded", "failed");
  expect(sentBy(world)).toHaveLength(3);
});

test("the rate of a toolkit's definition holds the calls of each account, of jobs and of callers together", async () => {
  const world = createWorld({ items: 3 });
  const toolkit = { ...desk.toolkit, rate: { max: 3, per: "1m" } };
  const node = nodeOf({ world, catalog: catalogOf({ toolkits: [{ ...desk, toolkit }] }) });
  const [project, other] = [await node.project(), await node.project()];
  const id = await submit(project, sendAll);
  await until(() => world.seen.length === 3);
  const call = { toolSlug: "desk.get_item", argumentsJson: '{"id":"i1"}', entityId: "ops" };
  await expect(toolsOf(node, project).callTool(call)).rejects.toThrow("the rate of toolkit desk");
  expect((await toolsOf(node, other).callTool(call)).outcome).toBe("ok");
  await project.client.cancelJob({ id });
  await node.reach(id, "cancelled", "failed");
  expect(world.seen).toHaveLength(4);
});

test("a hundred jobs that wait at one key leave the worker to others", async () => {
  const world = createWorld();
  const node = nodeOf({ world });
  const project = await node.project();
  const rate = { max: 1, per: { seconds: 3600n, nanos: 0 } };
  await toolsOf(node, project).putCallLimit({ limit: { name: "tools", keyExpression: "toolSlug", rate } });
  const sendOne = programText({
    steps: [{ id: "one", call: "desk.send_note", entity: "ops", args: { text: "hello" } }],
  });
  const jobs = await Promise.all(Array.from({ length: 100 }, () => submit(project, sendOne)));
  await until(() => sentBy(world).length === 1);
  await node.reach(await submit(project, readOne), "succeeded");
  await until(() => node.jobs.engine.stats().held === 0);
  const states = await Promise.all(jobs.map(async (id) => jobOf(await project.client.getJob({ id })).finishedAt));
  expect(states.filter((finishedAt) => finishedAt !== undefined)).toHaveLength(1);
  expect(sentBy(world)).toHaveLength(1);
});
