import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import { readAnswer } from "@svc/testing/server";
import { bootstrapKey, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startMcpServer, type TestMcpServer } from "./mcp-server.ts";
import { connect } from "./project.ts";

// A job calls tools of an MCP server, and the node is killed while a write is under way.

let app: TestMcpServer;
let database: TestDatabase;
let server: ServerProcess;
const key = vaultKey();

beforeAll(async () => {
  const input = { type: "object", properties: { title: { type: "string" } } };
  app = await startMcpServer("2026-07-28", [
    {
      name: "list",
      description: "Lists the issues.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
    },
    { name: "create", description: "Creates an issue.", inputSchema: input, annotations: { destructiveHint: false } },
  ]);
  database = await createTestDatabase();
  server = await start();
});
afterAll(async () => {
  await server?.end("SIGKILL");
  await app?.close();
  await database?.drop();
});

const start = () =>
  startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: key,
    SVC_SANDBOX: "off",
    SVC_TOOLKITS: fewToolkits,
  });

const node = {
  async call(method: string, body: unknown = {}) {
    const res = await fetch(`${server.url}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${bootstrapKey}` },
      body: JSON.stringify(body),
    });
    return readAnswer(res);
  },
};

test("a node that is killed during a write of a job sends it once, and the job that goes on knows that its outcome is unknown", async () => {
  const imported = await node.call("svc.v1.CatalogService/ImportToolkit", { mcp: { url: app.url }, slug: "tracker" });
  expect(imported.json.report, JSON.stringify(imported.json)).toMatchObject({ readTools: 1, writeTools: 1 });
  await connect(node, "tracker", { scheme: "none" });
  app.run = ({ name }) => (name === "list" ? { content: [] } : new Promise(() => {}));
  const program = {
    version: 1,
    title: "Issues",
    steps: [
      { id: "list", call: "tracker.list", entity: "ann" },
      { id: "create", call: "tracker.create", entity: "ann", args: { title: "t" } },
    ],
  };
  const { json } = await node.call("svc.v1.JobsService/SubmitJob", { programJson: JSON.stringify(program) });
  await until(() => app.calls.some(({ name }) => name === "create"), 30_000, "the write");
  await server.end("SIGKILL");
  await endLeases(database.url, "job_tasks");
  // svc takes a call for lost two minutes after it began. Its beginning is moved, so that the test does not wait.
  await database.db.sql`update tool_calls set created_at = created_at - interval '5 minutes' where outcome = 'running'`;
  server = await start();
  let job: Job | undefined;
  await until(
    async () => {
      job = (await node.call("svc.v1.JobsService/GetJob", { id: json.job.id })).json.job;
      return job !== undefined && !["JOB_STATUS_QUEUED", "JOB_STATUS_RUNNING"].includes(job.status);
    },
    60_000,
    "the job",
  );
  expect(job, JSON.stringify(job)).toMatchObject({ status: "JOB_STATUS_PARKED" });
  expect(app.calls.map(({ name }) => name)).toEqual(["list", "create"]);
});

type Job = { readonly status: string };
