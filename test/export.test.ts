import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { adminToken, call, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test } from "vitest";

type Line = { kind: string; id: string; projectId: string; position: number; action: string; outcome: string };

let database: TestDatabase;
let server: ServerProcess;
const lines: Line[] = [];
/** Number of batches after which the collector kills the node before it answers. */
let killsLeft = 3;

const collector = createServer(async (req, res) => {
  const body = await text(req);
  lines.push(
    ...body
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line),
  );
  if (killsLeft > 0) {
    killsLeft--;
    server.process.kill("SIGKILL");
    req.destroy();
    return;
  }
  res.end();
});

beforeAll(async () => {
  database = await createTestDatabase();
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
}, 60_000);
afterAll(async () => {
  await server?.end("SIGTERM");
  collector.closeAllConnections();
  collector.close();
  await database?.drop();
});

test("a node that is killed after the collector took a batch sends it again, and loses no entry", async () => {
  const { port } = collector.address() as { port: number };
  const variables = {
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_SANDBOX: "off",
    SVC_EXPORT_TO: `http://127.0.0.1:${port}/records`,
  };
  const admin = <Answer>(method: string, body: object) =>
    call<Answer>(server, `AdminService/${method}`, body, adminToken);
  server = await startServerProcess(variables);
  for (let round = 0; killsLeft > 0; round++) {
    if (round > 0) server = await startServerProcess(variables);
    const kills = killsLeft;
    for (let n = 0; n < 5; n++) await admin("CreateProject", { name: `project-${round}-${n}` });
    await until(() => killsLeft < kills, 60_000, "a batch");
    await server.exited;
  }
  server = await startServerProcess(variables);
  const { events } = await admin<{ events: Line[] }>("ListAuditEvents", { pageSize: 500 });
  expect(events.length).toBeGreaterThanOrEqual(15);
  const exported = () => new Set(lines.map(({ id }) => id));
  await until(() => events.every(({ id }) => exported().has(id)), 60_000, "every entry");
  // The batches that the killed nodes had sent came again.
  expect(lines.length).toBeGreaterThan(exported().size);
  const byProject = Map.groupBy(lines, ({ projectId }) => projectId);
  for (const own of byProject.values()) {
    const positions = [...new Set(own.map(({ position }) => position))].sort((a, b) => a - b);
    expect(positions).toEqual(positions.map((_, index) => index + 1));
  }
  expect(lines[0]).toMatchObject({ kind: "audit", outcome: expect.stringMatching(/\w/) });
}, 240_000);
