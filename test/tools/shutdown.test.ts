import type { ServerResponse } from "node:http";
import { idOfUuid } from "@svc/core";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { readAnswer } from "@svc/testing/server";
import { bootstrapKey, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { openTestVault } from "@svc/testing/vault";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { connect, writeDeployment } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// A write is under way when the node is asked to stop. The app receives it once, and the ledger has its outcome.

let app: Provider;
let database: TestDatabase;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
let server: ServerProcess;
/** The app's response, which the test sends later. */
let held: ServerResponse | undefined;

beforeAll(async () => {
  [app, database] = await Promise.all([startProvider(), createTestDatabase()]);
  deployment = await writeDeployment({ search_ingestion: { provider_base_url: app.url } });
});
beforeEach(() => {
  held = undefined;
  app.reset();
  app.answer = (_seen, res) => {
    held = res;
  };
});
afterEach(() => server?.end("SIGKILL"));
afterAll(async () => {
  await app?.close();
  await database?.drop();
  await deployment?.[Symbol.asyncDispose]();
});

const key = vaultKey();
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

/** Starts a node, sends a write, and stops the node once the app has received the write. */
async function stopDuringWrite(drain: string, idempotencyKey: string) {
  server = await startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: key,
    SVC_SANDBOX: "off",
    SVC_TOOLKITS: fewToolkits,
    SVC_DEPLOYMENT: deployment.path,
    SVC_DRAIN: drain,
  });
  app.answer = (_seen, res) => reply(res, {});
  await connect(node, "search_ingestion", { apiKey: "k-shutdown" });
  app.reset();
  app.answer = (_seen, res) => {
    held = res;
  };
  const calling = node.call("svc.v1.ToolsService/CallTool", {
    toolSlug: "search_ingestion.delete_authentication",
    argumentsJson: '{"authenticationID":"a","confirm":true}',
    entityId: "ann",
    idempotencyKey,
  });
  await until(() => held !== undefined, 10_000, "the write");
  const exited = server.end("SIGTERM");
  const takesNothing = () =>
    fetch(`${server.url}/readyz`).then(
      ({ ok }) => !ok,
      () => true,
    );
  await until(takesNothing, 10_000, "the drain");
  return { calling, exited };
}

async function rowOf(idempotencyKey: string) {
  const [row] = await database.db.sql`select id, project_id, outcome, message, sealed_message from tool_calls
    where idempotency_key = ${idempotencyKey}`;
  const { id, project_id: projectId, outcome, message, sealed_message: sealed } = row ?? {};
  const context = `${idOfUuid("prj", projectId)}/tool_calls/${idOfUuid("call", id)}/message`;
  await using vault = await openTestVault(database.db, key);
  const opened = sealed === null ? message : vault.sealer.open(sealed, context).toString();
  return { outcome, message: opened };
}

const answered = { deletedAt: "2026-01-05T09:00:00Z" };

test("its caller is answered when the app answers in time, and the node ends after it", async () => {
  const { calling, exited } = await stopDuringWrite("20s", "in time");
  if (held !== undefined) reply(held, answered);
  expect((await calling).json).toMatchObject({ outcome: "ok", providerStatus: 200 });
  expect(await exited).toBe(0);
  expect(await rowOf("in time")).toMatchObject({ outcome: "ok" });
  expect(app.seen).toHaveLength(1);
});

test("its caller is told that it may have been done, and the ledger has what the app answered later", async () => {
  const { calling, exited } = await stopDuringWrite("5s", "later");
  const told = await calling;
  expect([told.status, told.code, told.reason]).toEqual([504, "deadline_exceeded", "DEADLINE_EXCEEDED"]);
  expect(JSON.stringify(told.json)).toContain("The effect may have happened");
  expect(await rowOf("later")).toMatchObject({ outcome: "running" });
  if (held !== undefined) reply(held, answered);
  expect(await exited).toBe(0);
  expect(await rowOf("later")).toMatchObject({ outcome: "ok" });
  expect(app.seen).toHaveLength(1);
});

test("without an answer before the end it is recorded as in doubt, not left running", async () => {
  const { calling, exited } = await stopDuringWrite("2s", "never");
  expect((await calling).reason).toBe("DEADLINE_EXCEEDED");
  expect(await exited).toBe(0);
  expect(await rowOf("never")).toMatchObject({
    outcome: "outcome_unknown",
    message: expect.stringContaining("this node stopped"),
  });
  expect(app.seen).toHaveLength(1);
});
