import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ProjectId } from "@svc/core";
import { ToolsService } from "@svc/gen/tools";
import { refusalOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { connectOverOauth, createTestConnections, type TestConnections } from "../test-connections.ts";

let t: TestConnections;
let projectId: ProjectId;

beforeAll(async () => {
  t = await createTestConnections();
});
beforeEach(async () => {
  projectId = await t.project();
  t.app.answer = undefined;
  t.app.tokenFailure = undefined;
  t.app.userId = `user-${projectId}`;
  t.app.seen.length = 0;
});
afterAll(() => t[Symbol.asyncDispose]());

async function connect(toolkitSlug: string, entityId = "ada"): Promise<string> {
  const request = { toolkitSlug, entityId, scheme: "api_key", apiKey: "k" };
  const { account } = await t.client(projectId).initiateConnection(request);
  t.app.seen.length = 0;
  return account!.id;
}

/** Tests an account. Returns the answer, and the account's state that GetConnection returns after the test. */
async function tried(id: string) {
  const { account, testedAt, callId, ...result } = await t.client(projectId).testConnection({ id });
  const found = (await t.client(projectId).getConnection({ id })).account;
  expect(account).toEqual(found);
  expect(timestampMs(testedAt!)).toBe(t.clock.now());
  const { outcome, message, toolSlug, providerStatus } = result;
  return { result: { outcome, message, toolSlug, providerStatus }, callId, account: found! };
}

test("a credential that was stored untried works once the app took it, and the account says when", async () => {
  const id = await connect("plain");
  expect((await t.client(projectId).getConnection({ id })).account?.credentialTry).toBeUndefined();
  const { result, callId, account } = await tried(id);
  expect(result).toMatchObject({ outcome: "works", toolSlug: "plain.get_me", providerStatus: 200 });
  expect(t.app.seen).toMatchObject([{ method: "GET", path: "/me?key=k" }]);
  expect(account).toMatchObject({ state: "active", credentialTry: { outcome: "worked" } });
  expect(timestampMs(account.credentialTry!.at!)).toBe(t.clock.now());
  const { call } = await t.node.client(ToolsService, { projectId }).getToolCall({ id: callId });
  expect(call).toMatchObject({ toolSlug: "plain.get_me", entityId: "ada", connectedAccountId: id, outcome: "ok" });
});

test("a first try when connecting is noted, and of an account of no credential nothing is", async () => {
  const noted = async (toolkitSlug: string, more: object) => {
    const request = { toolkitSlug, entityId: "bea", ...more };
    return (await t.client(projectId).initiateConnection(request)).account?.credentialTry?.outcome;
  };
  expect(await noted("quiet", { apiKey: "k" })).toBe("worked");
  expect(await noted("plain", { apiKey: "k" })).toBeUndefined();
  const id = (await t.client(projectId).initiateConnection({ toolkitSlug: "tracker", entityId: "bea", scheme: "none" }))
    .account!.id;
  const { result } = await tried(id);
  expect(result.outcome).toBe("works");
});

test("a 401 is refused and expires the account, as after any call; a second test says that it is expired", async () => {
  const id = await connect("plain");
  t.app.answer = { status: 401, body: "{}" };
  const { result, account } = await tried(id);
  expect(result).toMatchObject({ outcome: "refused", providerStatus: 401, toolSlug: "plain.get_me" });
  expect(account).toMatchObject({ state: "expired", credentialTry: { outcome: "refused" } });
  const again = t.client(projectId).testConnection({ id });
  await expect(again).rejects.toThrow("is expired: the app refused the credential (401)");
  expect(await refusalOf(again)).toMatchObject({ code: "FailedPrecondition", reason: "CONNECTION_NOT_USABLE" });
});

test("a 403 is refused and leaves the account as it is: the credential may be good for other calls", async () => {
  const id = await connect("plain");
  t.app.answer = { status: 403, body: "{}" };
  const { result, account } = await tried(id);
  expect(result).toMatchObject({ outcome: "refused", providerStatus: 403 });
  expect(account).toMatchObject({ state: "active", credentialTry: { outcome: "refused" } });
});

test.each([
  [500, "{}"],
  [501, "{}"],
  [404, "{}"],
  [400, "{}"],
  [302, "{}"],
  [200, "<html>sign in</html>"],
])("of an answer %i %s nothing is known, and nothing changes", async (status, body) => {
  const id = await connect("plain");
  await tried(id);
  t.app.answer = { status, body };
  t.clock.advance(1_000);
  const { result, account } = await tried(id);
  expect(result).toMatchObject({ outcome: "unknown", providerStatus: status });
  expect(result.message).toContain("nothing is known of the credential");
  expect(account).toMatchObject({ state: "active", credentialTry: { outcome: "worked" } });
  expect(timestampMs(account.credentialTry!.at!)).toBe(t.clock.now() - 1_000);
});

test("a token that the app ended is renewed, and the renewed one is tried", async () => {
  const id = await connectOverOauth(t, projectId);
  t.clock.advance(3_700_000);
  const { result, account } = await tried(id);
  expect(result).toMatchObject({ outcome: "works", toolSlug: "tracker.get_me" });
  expect(account).toMatchObject({ state: "active", credentialTry: { outcome: "worked" } });
});

test("a renewal that the app refuses is a refused credential, and one that it cannot answer is unknown", async () => {
  const id = await connectOverOauth(t, projectId);
  t.clock.advance(3_700_000);
  t.app.tokenFailure = { status: 503, body: "busy" };
  expect((await tried(id)).result).toMatchObject({ outcome: "unknown", providerStatus: 0 });
  t.app.tokenFailure = { status: 400, body: '{"error":"invalid_grant"}' };
  t.clock.advance(600_000);
  const { result, account } = await tried(id);
  expect(result).toMatchObject({ outcome: "refused", providerStatus: 0 });
  expect(account).toMatchObject({ state: "expired", credentialTry: { outcome: "refused" } });
});

test("what cannot be tried is refused with its reason, or said to be unknown", async () => {
  const client = t.client(projectId);
  const refusal = async (id: string) => {
    const { code, reason } = await refusalOf(client.testConnection({ id }));
    return `${code} ${reason}`;
  };
  const { account: pending } = await client.initiateConnection({ toolkitSlug: "brief", entityId: "ada" });
  expect(await refusal(pending!.id)).toBe("FailedPrecondition CONNECTION_NOT_USABLE");
  const id = await connect("plain");
  await client.deleteConnection({ id });
  expect(await refusal(id)).toBe("FailedPrecondition CONNECTION_NOT_USABLE");
  expect(await refusal((await t.project()).replace("prj", "acc"))).toBe("NotFound CONNECTION_NOT_FOUND");
  const unbound = await connect("unbound");
  expect((await tried(unbound)).result).toMatchObject({ outcome: "unknown", providerStatus: 0 });
});

test("a call that works is noted, once an hour for an account, and one that the app refuses is noted as such", async () => {
  const id = await connect("plain");
  const tools = t.node.client(ToolsService, { projectId });
  const call = () => tools.callTool({ toolSlug: "plain.get_me", entityId: "ada" });
  const noted = async () => {
    const { credentialTry } = (await t.client(projectId).getConnection({ id })).account!;
    return credentialTry && [credentialTry.outcome, timestampMs(credentialTry.at!) - start];
  };
  const start = t.clock.now();
  await Promise.all([call(), call(), call()]);
  expect(await noted()).toEqual(["worked", 0]);
  t.clock.advance(3_599_000);
  await call();
  expect(await noted()).toEqual(["worked", 0]);
  t.clock.advance(1_000);
  await call();
  expect(await noted()).toEqual(["worked", 3_600_000]);
  t.app.answer = { status: 500, body: "{}" };
  await call();
  expect(await noted()).toEqual(["worked", 3_600_000]);
  t.app.answer = { status: 401, body: "{}" };
  t.clock.advance(5);
  await call();
  expect(await noted()).toEqual(["refused", 3_600_005]);
});
