import { runTestCommand } from "@svc/cli/test-command";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type ServerTool, startMcpServer, type TestMcpServer } from "../tools/mcp-server.ts";
import { acceptChanges, connect, importServer } from "../tools/project.ts";

// A job calls a tool of an MCP server. The server changes the tool, so the call waits until an approver accepts the change.

const find: ServerTool = {
  ...{ name: "find", description: "Finds one issue of the tracker.", annotations: { readOnlyHint: true } },
  inputSchema: { type: "object", properties: { id: { type: "integer" } } },
  outputSchema: { type: "object", properties: { id: { type: "integer" } } },
};
const add: ServerTool = {
  ...{ name: "add", description: "Adds one issue to the tracker." },
  inputSchema: { type: "object", properties: { title: { type: "string" } } },
  outputSchema: { type: "object", properties: { title: { type: "string" } } },
};
const keyed = { type: "object", properties: { key: { type: "string" } }, required: ["key"] };
const changedOf = (tool: ServerTool): ServerTool => ({ ...tool, description: `${tool["description"]} It is new.` });

let svc: TestServer;
let app: TestMcpServer;
let slug = "";
let count = 0;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "off" } });
  app = await startMcpServer("2026-07-28", [find, add]);
});
afterAll(async () => {
  await svc?.stop();
  await app?.close();
});

// Each test has a toolkit of its own, because a list of tools that a call has read counts for five minutes.
beforeEach(async () => {
  Object.assign(app, { tools: [find, add] });
  app.calls.length = 0;
  slug = `tracker_${++count}`;
  const overrides = [{ match: "add", class: "write" }];
  await importServer(svc, { mcp: { url: app.url }, slug, overrides });
  await connect(svc, slug, { scheme: "none" });
});

/** Submits a job that has begun, and whose calls come after a second. */
async function submit(steps: readonly object[]): Promise<string> {
  const programJson = JSON.stringify({
    ...{ version: 1, title: "Issues", input: { titles: ["a", "b", "c"].map((title) => ({ title })) } },
    steps: [{ id: "nap", wait: "1s" }, ...steps],
  });
  const { json, code } = await svc.call("svc.v1.JobsService/SubmitJob", { programJson });
  expect(code, JSON.stringify(json)).toBe("ok");
  return json.job.id;
}

const run = (...argv: string[]) => runTestCommand(argv, { SVC_URL: svc.url, SVC_API_KEY: svc.key });
const callOf = (tool: string, args: object) => ({ id: tool, call: `${slug}.${tool}`, entity: "ann", args });
const jobOf = async (id: string) => (await svc.call("svc.v1.JobsService/GetJob", { id })).json.job;

async function waits(id: string): Promise<void> {
  await until(async () => ((await jobOf(id)).lastError ?? "") !== "", "the withheld call");
}

/** Accepts what the server has changed. Returns the job when it has ended. */
async function acceptAndEnd(id: string, overrides: readonly object[] = []) {
  expect(app.calls).toEqual([]);
  await acceptChanges(svc, slug, overrides);
  await until(async () => (await jobOf(id)).finishedAt !== undefined, "the end of the job");
  return jobOf(id);
}

test("a job waits for the acceptance of a changed tool, says why and what to do, and then ends well", async () => {
  const id = await submit([callOf("find", { id: 7 })]);
  app.tools = [changedOf(find), add];
  await waits(id);
  const { status, lastError } = await jobOf(id);
  expect(status).toBe("JOB_STATUS_RUNNING");
  const message = `TOOL_CHANGED: step find: ${slug}.find was not called: its definition at the MCP server has changed`;
  expect(lastError).toContain(message);
  expect(lastError).toMatch(/and then svc toolkits accept \w+\. The job continues after that$/);
  expect((await run("jobs", "show", id)).printed.join("\n")).toContain(message);
  expect((await run("why", id)).printed.join("\n")).toContain(`It waits for an approver: ${message}`);
  const ended = await acceptAndEnd(id);
  expect([ended.status, ended.lastError]).toEqual(["JOB_STATUS_SUCCEEDED", ""]);
  expect(app.calls).toMatchObject([{ name: "find", args: { id: 7 } }]);
});

test("a write that waits is sent once, with the class that the approver has set, if it is no stricter one", async () => {
  const id = await submit([callOf("add", { title: "t" })]);
  app.tools = [find, changedOf(add)];
  await waits(id);
  const { status } = await acceptAndEnd(id, [{ match: "add", class: "read" }]);
  expect(status).toBe("JOB_STATUS_SUCCEEDED");
  expect(app.calls).toMatchObject([{ name: "add", args: { title: "t" } }]);
  const { calls } = (await svc.call("svc.v1.ToolsService/ListToolCalls", { jobId: id })).json;
  expect(calls.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual(["not_callable", "ok"]);
});

test("the rows of a map wait together, and each is sent once after the acceptance", async () => {
  const row = callOf("add", { title: { $ref: "row.title" } });
  const id = await submit([
    { id: "titles", take: "input.titles", keep: ["title"] },
    { id: "all", map: "titles", concurrency: 2, do: [row] },
  ]);
  app.tools = [find, changedOf(add)];
  await waits(id);
  expect((await jobOf(id)).lastError).toContain("TOOL_CHANGED: step all");
  const { status, lastError, receipt } = await acceptAndEnd(id);
  expect([status, lastError, receipt.calls.write]).toEqual(["JOB_STATUS_SUCCEEDED", "", 3]);
  expect(app.calls.map(({ args }) => args["title"]).toSorted()).toEqual(["a", "b", "c"]);
});

test.each([
  ["breaks the arguments", { inputSchema: keyed }, [], /^invalid_arguments: step find/],
  [
    "makes the class stricter",
    {},
    [{ match: "find", class: "destructive" }],
    /^not_callable: step find: .* is destructive since/,
  ],
  ["removes the tool", undefined, [], /^not_callable: step find/],
] as const)("an acceptance that %s fails the step", async (_what, change, overrides, error) => {
  const id = await submit([callOf("find", { id: 7 })]);
  app.tools = change === undefined ? [add] : [{ ...changedOf(find), ...change }, add];
  await waits(id);
  const { status, lastError } = await acceptAndEnd(id, overrides);
  expect(status).toBe("JOB_STATUS_FAILED");
  expect(lastError).toMatch(error);
  expect(app.calls).toEqual([]);
});
