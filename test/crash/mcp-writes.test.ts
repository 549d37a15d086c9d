import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import { readAnswer } from "@svc/testing/server";
import { bootstrapKey, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type McpEra, startMcpServer, type TestMcpServer } from "../tools/mcp-server.ts";
import { acceptChanges, connect, importServer } from "../tools/project.ts";

// Jobs write with a tool of an MCP server. svc is killed at each point of the write, or the server cuts its answer off. The write is sent
// once at most. If its outcome is unknown, the job waits for a person.

const key = vaultKey();
let database: TestDatabase;
let server: ServerProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  server = await start();
});
afterAll(async () => {
  await server?.end("SIGKILL");
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

async function killAndStartAgain(): Promise<void> {
  await server.end("SIGKILL");
  await endLeases(database.url, "job_tasks");
  // svc takes a call for lost two minutes after it began. Its beginning is moved, so that the test does not wait.
  await database.db.sql`update tool_calls set created_at = created_at - interval '5 minutes' where outcome = 'running'`;
  server = await start();
}

type Job = { readonly id: string; readonly status: string };

describe.each<McpEra>(["2025-11-25", "2026-07-28"])("a server of %s", (era) => {
  const slug = `tracker_${era.slice(0, 4)}`;
  let app: TestMcpServer;
  beforeAll(async () => {
    const input = { type: "object", properties: { title: { type: "string" } } };
    app = await startMcpServer(era, [
      { name: "create", description: "Creates an issue.", inputSchema: input, annotations: { destructiveHint: false } },
    ]);
    await importServer(node, { mcp: { url: app.url }, slug });
    await connect(node, slug, { scheme: "none" });
  });
  afterAll(() => app?.close());
  afterEach(() => {
    Object.assign(app, { run: () => ({ content: [] }), before: () => {}, arrived: () => {}, answered: () => {} });
    app.calls.length = 0;
  });

  async function submitWrite(toolkit = slug, args: object = { title: "t" }): Promise<string> {
    const steps = [{ id: "create", call: `${toolkit}.create`, entity: "ann", args }];
    const programJson = JSON.stringify({ version: 1, title: "Issues", steps });
    return (await node.call("svc.v1.JobsService/SubmitJob", { programJson })).json.job.id;
  }

  async function endOf(id: string): Promise<string> {
    let job: Job | undefined;
    await until(
      async () => {
        job = (await node.call("svc.v1.JobsService/GetJob", { id })).json.job;
        return job !== undefined && !["JOB_STATUS_QUEUED", "JOB_STATUS_RUNNING"].includes(job.status);
      },
      60_000,
      "the job",
    );
    return job?.status ?? "";
  }

  /** Answers the question of the job with "proceed", which counts the write as done. */
  async function proceed(id: string): Promise<void> {
    const { json } = await node.call("svc.v1.JobsService/ListAsks", { jobId: id });
    expect(json.asks[0].question).toContain("it is not known if it was carried out");
    const answer = { jobId: id, principalId: json.asks[0].principalId, continuation: "proceed" };
    expect((await node.call("svc.v1.JobsService/AnswerAsk", answer)).code).toBe("ok");
  }

  /** Resolves when the first message of this kind has arrived. The server never answers it. */
  const arrivalOf = (isMeant: (method: string) => boolean) =>
    new Promise<void>((resolve) => {
      app.arrived = (method) => {
        if (!isMeant(method)) return undefined;
        resolve();
        return new Promise(() => {});
      };
    });

  test("a node that is killed before it sends a write sends it never, and the job asks if it was carried out", async () => {
    const opening = arrivalOf((method) => method !== "tools/call");
    const id = await submitWrite();
    await opening;
    app.arrived = () => undefined;
    await killAndStartAgain();
    // svc stored that it was about to send the write, and cannot know that it did not.
    expect(await endOf(id)).toBe("JOB_STATUS_PARKED");
    expect(app.calls).toHaveLength(0);
  });

  test("a node that is killed during a write never sends it again, and the job asks if it was carried out", async () => {
    app.run = () => new Promise(() => {});
    const id = await submitWrite();
    await until(() => app.calls.length === 1, 30_000, "the write");
    await killAndStartAgain();
    expect(await endOf(id)).toBe("JOB_STATUS_PARKED");
    await proceed(id);
    expect(await endOf(id)).toBe("JOB_STATUS_SUCCEEDED");
    expect(app.calls).toHaveLength(1);
  });

  test("a write whose tool loses an argument before its node is killed is sent once, and the job asks if it was carried out", async () => {
    const shrinking = `${slug}_shrinking`;
    const before = app.tools;
    const takes = (...names: string[]) => {
      const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
      const inputSchema = { type: "object", properties, additionalProperties: false };
      app.tools = before.map((tool) => ({ ...tool, inputSchema }));
    };
    takes("title", "note");
    await importServer(node, { mcp: { url: app.url }, slug: shrinking });
    await connect(node, shrinking, { scheme: "none" });
    app.run = () => new Promise(() => {});
    const id = await submitWrite(shrinking, { title: "t", note: "n" });
    await until(() => app.calls.length === 1, 30_000, "the write");
    takes("title");
    await acceptChanges(node, shrinking);
    await killAndStartAgain();
    app.tools = before;
    expect(await endOf(id)).toBe("JOB_STATUS_PARKED");
    await proceed(id);
    expect(await endOf(id)).toBe("JOB_STATUS_SUCCEEDED");
    expect(app.calls).toHaveLength(1);
  });

  test("a node that is killed when the answer of a write arrives has sent it once, and sends it no more", async () => {
    const answered = new Promise<void>((resolve) => {
      app.answered = (method) => void (method === "tools/call" && resolve());
    });
    const id = await submitWrite();
    await answered;
    await killAndStartAgain();
    expect(["JOB_STATUS_SUCCEEDED", "JOB_STATUS_PARKED"]).toContain(await endOf(id));
    expect(app.calls).toHaveLength(1);
  });

  test("a job that waits for a changed tool goes on after its node was killed and the change was accepted", async () => {
    const changing = `${slug}_changing`;
    await importServer(node, { mcp: { url: app.url }, slug: changing });
    await connect(node, changing, { scheme: "none" });
    const before = app.tools;
    app.tools = before.map((tool) => ({ ...tool, description: "Creates one new issue." }));
    const id = await submitWrite(changing);
    const errorOf = async () => (await node.call("svc.v1.JobsService/GetJob", { id })).json.job.lastError ?? "";
    await until(async () => (await errorOf()).startsWith("TOOL_CHANGED: step create"), 30_000, "the withheld write");
    await killAndStartAgain();
    await acceptChanges(node, changing);
    expect(await endOf(id)).toBe("JOB_STATUS_SUCCEEDED");
    expect(app.calls).toHaveLength(1);
    app.tools = before;
  });

  test("a write whose answer is cut off is sent once, and the job asks if it was carried out", async () => {
    app.before = (_call, res) => res.destroy();
    const id = await submitWrite();
    expect(await endOf(id)).toBe("JOB_STATUS_PARKED");
    await proceed(id);
    expect(await endOf(id)).toBe("JOB_STATUS_SUCCEEDED");
    expect(app.calls).toHaveLength(1);
  });
});
