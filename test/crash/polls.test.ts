import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createId, createSealer, parseVaultKeys, systemClock } from "@svc/core";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import { ConnectionsService } from "@svc/gen/connections";
import { StandingService } from "@svc/gen/standing";
import { bundled } from "@svc/testing/bundled";
import { catalogOf } from "@svc/testing/catalog";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, type TestNode } from "@svc/testing/node";
import { vaultKey } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shopOf } from "./polls-shop.ts";

// Nodes die between the read of a poll and its commit, and after the commit. Each row must still be in exactly one run.

const rounds = Number(process.env["SVC_CRASH_ROUNDS"] ?? 1);
const vault = vaultKey();
const orders: number[] = [];
const app = createServer((req, res) => {
  const page = Number(new URL(req.url ?? "/", "http://app").searchParams.get("page") ?? 1);
  const rows = orders.slice((page - 1) * 10, page * 10).map((id) => ({ id }));
  res.setHeader("content-type", "application/json").end(JSON.stringify({ orders: rows }));
});
let database: TestDatabase;
let node: TestNode;
let appUrl: string;
const children = new Set<ChildProcess>();
beforeAll(async () => {
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  appUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  database = await createTestDatabase();
  const sealer = createSealer(parseVaultKeys(vault));
  node = createTestNode(database.db, {
    clock: systemClock,
    sealer,
    catalog: catalogOf({ toolkits: [shopOf(appUrl)] }),
  });
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  app.close();
  await node[Symbol.asyncDispose]();
  await database.drop();
});

const fixture = fileURLToPath(new URL("polls.fixture.ts", import.meta.url));

/** Starts a node as a process of its own. `arm` is the fault point at which it dies. */
async function startNode(arm?: string): Promise<ChildProcess> {
  const given = JSON.stringify({ databaseUrl: database.url, vaultKey: vault, appUrl, ...(arm && { arm }) });
  const env = { ...compileCache, PATH: process.env["PATH"] };
  const child = fork(await bundled(fixture), [given], { execArgv: [], env });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

const program = { version: 1, title: "Wait", steps: [{ id: "wait", wait: "1h" }] };

const points = ["rows-read", "before-decided", "after-decided"];

// `npm test` runs one case: the read rows are lost, and are read again.
test.each(rounds > 1 ? points : points.slice(1, 2))(
  "acceptance 18: a kill -9 %s leaves each row in one run",
  { timeout: 300_000 },
  async (point) => {
    for (let round = 0; round < rounds; round++) {
      orders.splice(0, orders.length, ...Array.from({ length: 25 }, (_, index) => index + 1));
      const nowMs = systemClock.now();
      const { id: projectId } = await createProject(database.db, `polls-${nowMs}`, nowMs);
      const keyId = createId("key", nowMs);
      const key = { id: keyId, projectId, role: "approver", name: "", hint: "", createdAt: nowMs } as const;
      const open = { expiresAt: null, revokedAt: null, lastUsedAt: null };
      await createApiKey(database.db, { ...key, ...open, digest: Buffer.from(keyId) });
      const caller = { projectId, keyId, role: "approver" } as const;
      const connections = node.client(ConnectionsService, caller);
      await connections.initiateConnection({ toolkitSlug: "shop", entityId: "ops", scheme: "none" });
      const client = node.client(StandingService, caller);
      const poll = { call: "shop.list_orders", entity: "ops", every: "1m", first: "all", per: "row" };
      const definitionJson = JSON.stringify({ version: 1, source: { poll }, overlap: { policy: "allow" }, program });
      const { standingProgram } = await client.createStandingProgram({ slug: "orders", definitionJson });
      const id = standingProgram?.id ?? "";
      const [, signal] = (await once(await startNode(point), "exit")) as [number | null, string | null];
      expect(signal).toBe("SIGKILL");
      const other = await startNode();
      const runsOf = async () => (await client.listStandingRuns({ standingProgramId: id, pageSize: 100 })).runs;
      await until(async () => (await runsOf()).length >= 25);
      // A resumed program is polled at once, and finds no new rows.
      await client.pauseStandingProgram({ id });
      const before = (await client.getStandingProgram({ id })).standingProgram?.lastPollAt;
      await client.resumeStandingProgram({ id });
      await until(async () => {
        const { standingProgram: now } = await client.getStandingProgram({ id });
        return now?.lastPollAt?.seconds !== before?.seconds || now?.lastPollAt?.nanos !== before?.nanos;
      });
      const runs = await runsOf();
      expect([runs.length, new Set(runs.map(({ jobId }) => jobId)).size]).toEqual([25, 25]);
      other.kill("SIGKILL");
    }
  },
);
