import { Code, ConnectError } from "@connectrpc/connect";
import { createId, uuidOfId } from "@svc/core";
import { ToolKind } from "@svc/gen/catalog";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { ToolsService } from "@svc/gen/tools";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, createTestNode } from "../call/test-node.ts";
import { answer } from "../call/test-transport.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

async function setUp() {
  const node = createTestNode(db);
  const projectId = await addProject(db);
  return { node, projectId, client: node.client(ToolsService, { projectId, role: "member" }) };
}

async function refusalOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => ConnectError.from(cause),
  );
  if (error === undefined) return "answered";
  return `${Code[error.code]} ${error.findDetails(ErrorDetailSchema)[0]?.reason}`;
}

const readTicket = { toolSlug: "desk.read_ticket", argumentsJson: '{"id":"t1"}', entityId: "ann" };
const addNote = {
  toolSlug: "desk.add_note",
  argumentsJson: '{"id":"t1","text":"hi","pin":"planted-pin"}',
  entityId: "ann",
};

test("every refusal has its code and reason", async () => {
  const { node, client } = await setUp();
  const refusals: [() => Promise<unknown>, string][] = [
    [() => client.searchTools({ query: " " }), "InvalidArgument QUERY_INVALID"],
    [() => client.searchTools({ query: "x".repeat(1_001) }), "InvalidArgument QUERY_INVALID"],
    [() => client.searchTools({ query: "x", limit: -1 }), "InvalidArgument LIMIT_INVALID"],
    [() => client.searchTools({ query: "x", limit: 51 }), "InvalidArgument LIMIT_INVALID"],
    [() => client.searchTools({ query: "x", accessClass: "execute" }), "InvalidArgument ACCESS_CLASS_INVALID"],
    [() => client.describeTool({ slug: "desk.nothing" }), "NotFound TOOL_NOT_FOUND"],
    [() => client.callTool({ ...readTicket, toolSlug: "desk.nothing" }), "NotFound TOOL_NOT_FOUND"],
    [() => client.callTool({ ...readTicket, argumentsJson: "[]" }), "InvalidArgument ARGUMENTS_MALFORMED"],
    [() => client.callTool({ ...readTicket, entityId: "\n" }), "InvalidArgument ENTITY_ID_INVALID"],
    [() => client.callTool({ ...readTicket, maxBytes: 10 }), "InvalidArgument CALL_OPTION_INVALID"],
    [() => client.callTool({ ...readTicket, fields: ["."] }), "InvalidArgument CALL_OPTION_INVALID"],
    [
      () => client.callTool({ ...readTicket, idempotencyKey: "x".repeat(201) }),
      "InvalidArgument IDEMPOTENCY_KEY_INVALID",
    ],
    [() => client.callTool({ ...readTicket, connectedAccountId: "x" }), "InvalidArgument ID_MALFORMED"],
    [() => client.listToolCalls({ outcome: "done" }), "InvalidArgument OUTCOME_INVALID"],
    [
      () => client.listToolCalls({ since: { seconds: 2n }, until: { seconds: 1n } }),
      "InvalidArgument TIME_RANGE_INVALID",
    ],
    [() => client.listToolCalls({ pageSize: -1 }), "InvalidArgument PAGE_SIZE_NEGATIVE"],
    [() => client.listToolCalls({ pageToken: "x" }), "InvalidArgument PAGE_TOKEN_INVALID"],
    [() => client.getToolCall({ id: createId("call", 1) }), "NotFound TOOL_CALL_NOT_FOUND"],
    [() => client.getToolCall({ id: "call_1" }), "InvalidArgument ID_MALFORMED"],
  ];
  for (const [call, refusal] of refusals) expect(await refusalOf(call())).toBe(refusal);
  await client.callTool({ ...addNote, idempotencyKey: "k" });
  expect(await refusalOf(client.callTool({ ...readTicket, idempotencyKey: "k" }))).toBe(
    "AlreadyExists IDEMPOTENCY_KEY_REUSED",
  );
  const release = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  node.app.does(async () => {
    sent.resolve();
    await release.promise;
    return answer(200, { id: "t1" });
  });
  const first = client.callTool({ ...addNote, idempotencyKey: "l" });
  await sent.promise;
  expect(await refusalOf(client.callTool({ ...addNote, idempotencyKey: "l" }))).toBe(
    "FailedPrecondition CALL_IN_PROGRESS",
  );
  release.resolve();
  expect((await first).outcome).toBe("ok");
});

test("a call is answered whole, and its result shaped as asked for", async () => {
  const { node, client } = await setUp();
  const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`);
  node.app.does(answer(200, { id: "t1", state: "open", lines, inner: 1 }));
  const whole = await client.callTool(readTicket);
  expect(JSON.parse(whole.resultJson)).toEqual({ id: "t1", state: "open", lines });
  expect(whole).toMatchObject({
    outcome: "ok",
    message: "",
    providerStatus: 200,
    warnings: [],
    sandbox: false,
    replayed: false,
  });
  expect(whole.callId).toMatch(/^call_/);
  node.app.does(answer(200, { id: "t1", state: "open", lines }));
  expect((await client.callTool({ ...readTicket, fields: ["state"] })).resultJson).toBe('{"state":"open"}');
  node.app.does(answer(200, { id: "t1", state: "open", lines }));
  const short = await client.callTool({ ...readTicket, maxBytes: 300 });
  expect(Buffer.byteLength(short.resultJson)).toBeLessThanOrEqual(300);
  expect(short.warnings).toEqual([expect.stringMatching(/^truncated: \d+ of \d+ bytes/)]);
  node.app.does(answer(200, '{"id":"t1","lines":[12345678901234567890]}'));
  expect((await client.callTool(readTicket)).resultJson).toBe('{"id":"t1","lines":[12345678901234567890]}');
});

test("faults, retryAfter, previews and replays are returned", async () => {
  const { node, client } = await setUp();
  const invalid = await client.callTool({ ...addNote, argumentsJson: '{"id":5}' });
  expect(invalid).toMatchObject({ outcome: "invalid_arguments", resultJson: "" });
  expect(invalid.faults).toMatchObject([
    { pointer: "", message: expect.stringContaining("text"), missing: "text" },
    { pointer: "/id", givenJson: "5", missing: "" },
  ]);
  node.app.does(answer(429, "", { "retry-after": "7" }));
  const limited = await client.callTool(addNote);
  expect(limited).toMatchObject({
    outcome: "rate_limited",
    retryable: true,
    retryAfter: { seconds: 7n },
    providerStatus: 429,
  });
  const dry = await client.callTool({ ...addNote, dryRun: true });
  expect(dry).toMatchObject({ callId: "", outcome: "ok", resultJson: "" });
  expect(dry.request).toMatchObject({
    method: "POST",
    url: "https://desk.example.com/api/tickets/t1/notes",
    bodyJson: '{"text":"hi","pin":"***"}',
  });
  const held = await client.callTool({ ...readTicket, toolSlug: "desk.delete_ticket" });
  expect([held.outcome, held.request?.method]).toEqual(["held", "DELETE"]);
  const first = await client.callTool({ ...addNote, idempotencyKey: "k" });
  expect(await client.callTool({ ...addNote, idempotencyKey: "k" })).toEqual({ ...first, replayed: true });
  const fewer = await client.callTool({ ...addNote, idempotencyKey: "k", fields: ["gone"] });
  expect([fewer.replayed, fewer.resultJson]).toEqual([true, "{}"]);
});

test("describing and searching answer the catalog's own message", async () => {
  const { node, client } = await setUp();
  const { tool } = await client.describeTool({ slug: "desk.delete_ticket" });
  expect(tool).toEqual(node.views.shared.messages.tools.get("desk.delete_ticket")?.tool);
  const { results } = await client.searchTools({
    query: "look at the case",
    kind: ToolKind.ACTION,
    accessClass: "destructive",
  });
  expect(results.map((found) => found.tool?.slug)).toEqual(["desk.delete_ticket"]);
});

test("the ledger lists newest first, page by page, and narrowed", async () => {
  const { node, client } = await setUp();
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    node.clock.advance(1_000);
    ids.unshift((await client.callTool(index === 2 ? { ...addNote, entityId: "bob" } : readTicket)).callId);
  }
  const first = await client.listToolCalls({ pageSize: 3 });
  const second = await client.listToolCalls({ pageSize: 3, pageToken: first.nextPageToken });
  expect([...first.calls, ...second.calls].map(({ id }) => id)).toEqual(ids);
  expect(second.nextPageToken).toBe("");
  expect(first.calls[0]).toMatchObject({
    argumentsJson: "",
    resultJson: "",
    toolSlug: "desk.read_ticket",
    outcome: "ok",
    accessClass: "read",
  });
  for (const filter of [{ toolSlug: "desk.add_note" }, { entityId: "bob" }]) {
    expect((await client.listToolCalls(filter)).calls.map(({ id }) => id)).toEqual([ids[2]]);
  }
  expect((await client.listToolCalls({ outcome: "held" })).calls).toEqual([]);
  expect((await client.listToolCalls({ outcome: "running" })).calls).toEqual([]);
  const since = first.calls[1]?.createdAt;
  expect((await client.listToolCalls({ ...(since && { since }) })).calls.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  expect((await client.listToolCalls({ ...(since && { until: since }) })).calls.map(({ id }) => id)).toEqual(
    ids.slice(2),
  );
  expect(await refusalOf(client.listToolCalls({ pageToken: first.nextPageToken, entityId: "bob" }))).toBe(
    "InvalidArgument PAGE_TOKEN_INVALID",
  );
});

test("the ledger lists the calls of a key, an account and a job, of the project alone", async () => {
  const { node, projectId, client } = await setUp();
  const [keyId, jobId] = [createId("key", 1), createId("job", node.clock.now())];
  const { callId } = await client.callTool(readTicket);
  // The clock is moved, because ids of the same millisecond have no order.
  node.clock.advance(1);
  const other = (await client.callTool(readTicket)).callId;
  const { call } = await client.getToolCall({ id: callId });
  const connectedAccountId = call!.connectedAccountId;
  await db.sql`update tool_calls set key_id = ${uuidOfId(keyId)} where id = ${uuidOfId(callId as never)}`;
  const ids = async (filter: object, caller = client) => (await caller.listToolCalls(filter)).calls.map(({ id }) => id);
  expect(await ids({ keyId })).toEqual([callId]);
  expect(await ids({ keyId, toolSlug: "desk.add_note" })).toEqual([]);
  expect(await ids({ keyId, toolSlug: "desk.read_ticket", outcome: "ok" })).toEqual([callId]);
  expect(await ids({ keyId, outcome: "timeout" })).toEqual([]);
  expect(await ids({ connectedAccountId })).toEqual([other, callId]);
  expect(await ids({ connectedAccountId: createId("acc", 1) })).toEqual([]);
  expect(await ids({ jobId })).toEqual([]);
  const first = await client.listToolCalls({ connectedAccountId, pageSize: 1 });
  const second = await client.listToolCalls({ connectedAccountId, pageSize: 1, pageToken: first.nextPageToken });
  expect([first.calls[0]?.id, second.calls[0]?.id, second.nextPageToken]).toEqual([other, callId, ""]);
  const stranger = node.client(ToolsService, { projectId: await addProject(db), role: "member" });
  for (const filter of [{ keyId }, { connectedAccountId }]) expect(await ids(filter, stranger)).toEqual([]);
  for (const field of ["keyId", "jobId", "connectedAccountId"]) {
    expect(await refusalOf(client.listToolCalls({ [field]: projectId }))).toBe("InvalidArgument ID_MALFORMED");
  }
});

test("one call is read with its arguments and result, sensitive values masked", async () => {
  const { node, client } = await setUp();
  node.app.does(answer(200, { id: "t1", link: "planted-link" }));
  const { callId, resultJson } = await client.callTool({ ...addNote, idempotencyKey: "k" });
  expect(resultJson).toContain("planted-link");
  const { call } = await client.getToolCall({ id: callId });
  expect(call).toMatchObject({
    id: callId,
    argumentsJson: '{"id":"t1","text":"hi","pin":"***"}',
    resultJson: '{"id":"t1","link":"***"}',
    truncated: false,
    idempotencyKey: "k",
    argumentsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    connectedAccountId: expect.stringMatching(/^acc_/),
    keyId: expect.stringMatching(/^key_/),
  });
  const { calls } = await client.listToolCalls({});
  expect(
    JSON.stringify([call, calls], (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
  ).not.toContain("planted");
});

test("another project's calls read as missing", async () => {
  const { node, client } = await setUp();
  const { callId } = await client.callTool(readTicket);
  const other = node.client(ToolsService, { projectId: await addProject(db) });
  expect(await refusalOf(other.getToolCall({ id: callId }))).toBe("NotFound TOOL_CALL_NOT_FOUND");
  expect((await other.listToolCalls({})).calls).toEqual([]);
});
