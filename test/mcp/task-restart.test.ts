import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import { createTestMcpClient, type TestMcpClient, taskCapabilities } from "@svc/testing/mcp-client";
import { bootstrapKey, call, type ServerProcess, startServerProcess, vaultKey } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// A program asks a question in a task of one process. The process is killed, and the answer comes to the next one.

let database: TestDatabase;
let server: ServerProcess;
const key = vaultKey();
const start = () => startServerProcess({ SVC_DATABASE_URL: database.url, SVC_VAULT_KEY: key, SVC_SANDBOX: "force" });
beforeAll(async () => {
  database = await createTestDatabase();
  server = await start();
});
afterAll(async () => {
  await server?.end("SIGTERM");
  await database?.drop();
});

const program = {
  ...{ version: 1, title: "Asks, then tells" },
  steps: [
    { id: "gate", judge: "sure" },
    { id: "tell", call: "sales_crm.create_deal", entity: "ann", args: { title: "Asked for" } },
  ],
  points: {
    sure: { question: "Create it?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] },
  },
  result: { title: { $ref: "steps.tell.data.title" } },
};
const query = "tools=run_program";
const clientOf = (): TestMcpClient =>
  createTestMcpClient({ url: server.url, key: bootstrapKey, query, capabilities: taskCapabilities });

test("a task outlives kill -9 of the process that began it: its question is answered at the next one, and its result is read there", async () => {
  await call(server, "ConnectionsService/InitiateConnection", { toolkitSlug: "sales_crm", entityId: "ann" });
  const { resultType, taskId } = await clientOf().call("run_program", { program });
  expect(resultType).toBe("task");
  await server.end("SIGKILL");
  server = await start();
  const client = clientOf();
  const { result: asked } = await client.request("tasks/get", { taskId });
  expect(asked.status).toBe("input_required");
  const [ask = ""] = Object.keys(asked.inputRequests);
  const said = { [ask]: { action: "accept", content: { continuation: "proceed" } } };
  expect((await client.request("tasks/update", { taskId, inputResponses: said })).error).toBeUndefined();
  await server.end("SIGKILL");
  await endLeases(database.url, "job_tasks");
  server = await start();
  await until(
    async () => (await clientOf().request("tasks/get", { taskId })).result.status === "completed",
    "the end",
    60_000,
  );
  const { result: done } = await clientOf().request("tasks/get", { taskId });
  expect(done.result).toMatchObject({
    isError: false,
    structuredContent: { status: "succeeded", calls: { write: 1 } },
  });
  expect(done.result.structuredContent.result).toEqual({ title: "Asked for" });
}, 240_000);

test("the client of docs/reference/mcp/tasks.md works as it is pasted", async () => {
  await call(server, "ConnectionsService/InitiateConnection", { toolkitSlug: "messaging_bot", entityId: "ada" });
  const page = await readFile(join(import.meta.dirname, "../../docs/reference/mcp/tasks.md"), "utf8");
  const [, client = ""] = /```js\n(const program = [\s\S]*?)\n```/.exec(page) ?? [];
  expect(client).toContain("tasks/update");
  const code = client.replaceAll("8080", String(server.port));
  const env = { PATH: process.env["PATH"], SVC_API_KEY: bootstrapKey };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { env });
  expect(stdout).toMatch(/^input_required\nTell the chat\? \{/);
  expect(stdout).toContain("completed\n{ said: 'We are live' }");
}, 120_000);
