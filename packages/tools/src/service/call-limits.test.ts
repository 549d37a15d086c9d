import { Code, ConnectError } from "@connectrpc/connect";
import type { ProjectId } from "@svc/core";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { ToolsService } from "@svc/gen/tools";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, createTestNode, type TestNode } from "../call/test-node.ts";
import { answer } from "../call/test-transport.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const clientOf = (node: TestNode, projectId: ProjectId) => node.client(ToolsService, { projectId, role: "approver" });

async function setUp() {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  return { node, projectId, client: clientOf(node, projectId) };
}

async function refusalOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => ConnectError.from(cause),
  );
  if (error === undefined) return { refusal: "answered", retryAfter: null };
  const detail = error.findDetails(ErrorDetailSchema)[0];
  const field = detail?.field ? ` ${detail.field}` : "";
  return { refusal: `${Code[error.code]} ${detail?.reason}${field}`, retryAfter: error.metadata.get("retry-after") };
}

const rate = (max: number, seconds = 60) => ({ max, per: { seconds: BigInt(seconds), nanos: 0 } });
const readTicket = { toolSlug: "desk.read_ticket", argumentsJson: '{"id":"t1"}', entityId: "ann" };

test("a limit is put, listed and deleted, by its own project alone", async () => {
  const { node, client } = await setUp();
  const other = clientOf(node, await addProject(db));
  const limit = { name: "desk", toolkitSlug: "desk", keyExpression: "accountId", concurrency: 2, rate: rate(10) };
  const { limit: put } = await client.putCallLimit({ limit });
  expect(put).toMatchObject({ ...limit, paused: false });
  expect((await client.listCallLimits({})).limits).toEqual([put]);
  expect((await other.listCallLimits({})).limits).toEqual([]);
  expect((await refusalOf(other.deleteCallLimit({ name: "desk" }))).refusal).toBe("NotFound CALL_LIMIT_NOT_FOUND name");
  await client.deleteCallLimit({ name: "desk" });
  expect((await client.listCallLimits({})).limits).toEqual([]);
});

test("every refusal has its code, reason and field", async () => {
  const { client } = await setUp();
  const invalid = (reason: string, field: string) => `InvalidArgument ${reason} limit.${field}`;
  const cases: [Parameters<typeof client.putCallLimit>[0]["limit"], string][] = [
    [undefined, invalid("CALL_LIMIT_NAME_INVALID", "name")],
    [{ name: "Desk", concurrency: 1 }, invalid("CALL_LIMIT_NAME_INVALID", "name")],
    [{ name: "@desk", concurrency: 1 }, invalid("CALL_LIMIT_NAME_INVALID", "name")],
    [{ name: "l", toolkitSlug: "dask", concurrency: 1 }, "NotFound TOOLKIT_NOT_FOUND limit.toolkitSlug"],
    [{ name: "l", keyExpression: "account", concurrency: 1 }, invalid("KEY_EXPRESSION_INVALID", "keyExpression")],
    [{ name: "l" }, invalid("CALL_LIMIT_BOUND_INVALID", "concurrency")],
    [{ name: "l", concurrency: -1 }, invalid("CALL_LIMIT_BOUND_INVALID", "concurrency")],
    [{ name: "l", concurrency: 10_001 }, invalid("CALL_LIMIT_BOUND_INVALID", "concurrency")],
    [{ name: "l", rate: rate(0) }, invalid("CALL_LIMIT_BOUND_INVALID", "rate.max")],
    [{ name: "l", rate: { max: 1 } }, invalid("CALL_LIMIT_BOUND_INVALID", "rate.per")],
    [{ name: "l", rate: rate(1, 0) }, invalid("CALL_LIMIT_BOUND_INVALID", "rate.per")],
    [{ name: "l", rate: rate(1, 86_401) }, invalid("CALL_LIMIT_BOUND_INVALID", "rate.per")],
    [{ name: "l", rate: rate(1, -5) }, invalid("CALL_LIMIT_BOUND_INVALID", "rate.per")],
  ];
  for (const [limit, refusal] of cases) {
    const request = limit === undefined ? {} : { limit };
    expect((await refusalOf(client.putCallLimit(request))).refusal).toBe(refusal);
  }
  await Promise.all(
    Array.from({ length: 100 }, (_, n) => client.putCallLimit({ limit: { name: `l${n}`, paused: true } })),
  );
  const another = client.putCallLimit({ limit: { name: "another", paused: true } });
  expect((await refusalOf(another)).refusal).toBe("ResourceExhausted CALL_LIMITS_TOO_MANY");
});

test("a call that finds its limit full is refused with Retry-After; nothing is sent, recorded, or bound to its key", async () => {
  const { node, client, projectId } = await setUp();
  await client.putCallLimit({ limit: { name: "desk", keyExpression: "entityId", rate: rate(1) } });
  await client.callTool(readTicket);
  const keyed = { ...readTicket, idempotencyKey: "k" };
  const refused = await refusalOf(client.callTool(keyed));
  expect(refused.refusal).toBe("ResourceExhausted CALL_LIMIT");
  expect(Number(refused.retryAfter)).toBeGreaterThanOrEqual(55);
  expect([node.app.requests.length, (await node.rows(projectId)).length]).toEqual([1, 1]);
  // The limit is not reached by a call of another entity, which has another key, nor by a dry run or a call that needs confirmation, which
  // send nothing.
  await client.callTool({ ...readTicket, entityId: "bob" });
  await client.callTool({ ...readTicket, dryRun: true });
  expect((await client.callTool({ ...readTicket, toolSlug: "desk.delete_ticket" })).outcome).toBe("held");
  node.clock.advance(61_000);
  expect((await client.callTool(keyed)).outcome).toBe("ok");
  expect((await client.callTool(keyed)).replayed).toBe(true);
});

test("a paused limit refuses calls until it is put again; other toolkits' go on", async () => {
  const { node, client } = await setUp();
  await client.putCallLimit({ limit: { name: "pause", toolkitSlug: "desk", paused: true } });
  expect((await refusalOf(client.callTool(readTicket))).refusal).toBe("ResourceExhausted CALL_LIMIT_PAUSED");
  expect(node.app.requests).toHaveLength(0);
  await client.deleteCallLimit({ name: "pause" });
  expect((await client.callTool(readTicket)).outcome).toBe("ok");
});

test("another node holds to a limit half a second after it was put", async () => {
  const { client, projectId, node } = await setUp();
  const second = createTestNode(db, { clock: node.clock });
  const there = clientOf(second, projectId);
  await there.callTool(readTicket);
  await client.putCallLimit({ limit: { name: "pause", paused: true } });
  node.clock.advance(500);
  expect((await refusalOf(there.callTool(readTicket))).refusal).toBe("ResourceExhausted CALL_LIMIT_PAUSED");
});

test("a call that ends makes room, whatever came of it", async () => {
  const { node, client } = await setUp();
  await client.putCallLimit({ limit: { name: "one", concurrency: 1 } });
  node.app.does(answer(500), { kind: "broken", sent: true, message: "cut" });
  node.accounts.onAuthorize = () => {
    node.accounts.onAuthorize = () => {};
    throw new Error("the vault is closed");
  };
  await expect(client.callTool(readTicket)).rejects.toThrow();
  for (const toolSlug of ["desk.read_ticket", "desk.read_ticket", "desk.read_ticket"]) {
    expect((await refusalOf(client.callTool({ ...readTicket, toolSlug }))).refusal).toBe("answered");
  }
});

test("a read that the app refuses for now is sent again only where the rate has room", async () => {
  const { node, client } = await setUp();
  await client.putCallLimit({ limit: { name: "two", keyExpression: "entityId", rate: rate(2) } });
  node.app.does(answer(503), answer(200, { id: "t1" }), answer(503));
  expect((await client.callTool(readTicket)).outcome).toBe("ok");
  await client.putCallLimit({ limit: { name: "two", keyExpression: "entityId", rate: rate(3) } });
  expect(await client.callTool(readTicket)).toMatchObject({ outcome: "provider_error", providerStatus: 503 });
  expect(node.app.requests).toHaveLength(3);
});
