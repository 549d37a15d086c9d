import { systemClock } from "@svc/core";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
let projectId: string;
let member: { id: string; key: string };
beforeAll(async () => {
  svc = await startTestServer();
  const projects = await svc.admin("ListProjects");
  projectId = projects.json.projects[0].id;
  member = await createKey("ROLE_MEMBER");
});
afterAll(() => svc.stop());

async function createKey(role: string, expiresAt?: string): Promise<{ id: string; key: string }> {
  const answer = await svc.admin("CreateApiKey", { projectId, role, name: "test", ...(expiresAt && { expiresAt }) });
  expect(answer.code).toBe("ok");
  return { id: answer.json.apiKey.id, key: answer.json.key };
}

const list = (bearer: string | null, headers?: Record<string, string>): Promise<TestAnswer> =>
  svc.call("svc.v1.TriggersService/ListEvents", {}, { bearer, ...(headers && { headers }) });

test.each([
  ["no header", null, undefined, "API_KEY_MISSING"],
  ["an empty bearer", null, { authorization: "Bearer " }, "API_KEY_MISSING"],
  ["another scheme", null, { authorization: "Basic c3ZjOng=" }, "API_KEY_MISSING"],
  ["an unknown key", "nobody-knows-this-key-of-32-characters", undefined, "API_KEY_INVALID"],
  ["a mistyped key", `svc_${"A".repeat(43)}_000000`, undefined, "API_KEY_INVALID"],
  ["a key with a tail", "the-bootstrap-key-of-all-server-tests2", undefined, "API_KEY_INVALID"],
])("%s is unauthenticated", async (_name, bearer, headers, reason) => {
  expect(await list(bearer, headers)).toMatchObject({ status: 401, code: "unauthenticated", reason });
});

test("the scheme's case does not matter", async () => {
  expect((await list(null, { authorization: `bEARER  ${svc.key} ` })).status).toBe(200);
});

test("a caller without permission is refused before the body is read", async () => {
  const answer = await svc.call("svc.v1.TriggersService/ListEvents", "not json", { bearer: null });
  expect(answer.reason).toBe("API_KEY_MISSING");
});

test("a member's and an approver's key reach the calls of members", async () => {
  expect((await list(member.key)).status).toBe(200);
  expect((await list(svc.key)).status).toBe(200);
});

test("a project's key is refused on AdminService, whatever its role", async () => {
  for (const bearer of [member.key, svc.key]) {
    const answer = await svc.call("svc.v1.AdminService/ListProjects", {}, { bearer });
    expect(answer).toMatchObject({ status: 403, code: "permission_denied", reason: "ROLE_REQUIRED" });
  }
});

test("the administrator's token is refused on the calls of projects", async () => {
  expect(await list(svc.adminToken)).toMatchObject({ status: 403, reason: "ROLE_REQUIRED" });
});

test("an unknown token on AdminService is unauthenticated", async () => {
  const answer = await svc.call("svc.v1.AdminService/ListProjects", {}, { bearer: `${svc.adminToken}x` });
  expect(answer).toMatchObject({ status: 401, reason: "API_KEY_INVALID" });
});

test("a key is valid at once and refused at once by the node that revokes it", async () => {
  const { id, key } = await createKey("ROLE_MEMBER");
  expect((await list(key)).status).toBe(200);
  expect((await svc.admin("RevokeApiKey", { id })).code).toBe("ok");
  expect(await list(key)).toMatchObject({ status: 401, reason: "API_KEY_INVALID" });
});

test("a revocation acts on another node within seconds", async () => {
  const other = await startTestServer({
    variables: { SVC_DATABASE_URL: svc.database.url, SVC_BOOTSTRAP_KEY: "" },
  });
  try {
    const { id, key } = await createKey("ROLE_MEMBER");
    const listThere = () => other.call("svc.v1.TriggersService/ListEvents", {}, { bearer: key });
    expect((await listThere()).status).toBe(200);
    await svc.admin("RevokeApiKey", { id });
    await expect.poll(async () => (await listThere()).status, { timeout: 20_000 }).toBe(401);
  } finally {
    await other.stop();
  }
});

test("an expired key is refused from its time on", async () => {
  // On a busy machine, creating a key and using it may take longer than a short lifetime. So the lifetime is doubled until the test
  // succeeds.
  for (let lifeMs = 500; ; lifeMs *= 2) {
    const { key } = await createKey("ROLE_MEMBER", new Date(systemClock.now() + lifeMs).toISOString());
    const { status } = await list(key);
    await expect.poll(async () => (await list(key)).reason, { timeout: 20_000 }).toBe("API_KEY_INVALID");
    if (status === 200) break;
    expect(lifeMs, "a key of 8 s was never valid").toBeLessThan(8_000);
  }
});

test("the use of a key is recorded", async () => {
  const { id, key } = await createKey("ROLE_MEMBER");
  await list(key);
  const lastUsed = async () => {
    const { json } = await svc.admin("ListApiKeys", { projectId });
    return json.apiKeys.find((found: { id: string }) => found.id === id).lastUsedAt;
  };
  await expect.poll(lastUsed, { timeout: 20_000 }).toBeDefined();
});

test("without an administrator token AdminService refuses every call", async () => {
  const closed = await startTestServer({ variables: { SVC_ADMIN_TOKEN: "" } });
  try {
    for (const bearer of [closed.adminToken, closed.key]) {
      const answer = await closed.call("svc.v1.AdminService/ListProjects", {}, { bearer });
      expect(answer).toMatchObject({ status: 403, code: "permission_denied", reason: "ADMIN_DISABLED" });
    }
  } finally {
    await closed.stop();
  }
});

test("neither keys nor tokens reach the log", async () => {
  const text = svc.logs.join("");
  expect(text).toContain('"msg":"call"');
  for (const secret of [svc.key, svc.adminToken, member.key]) expect(text).not.toContain(secret);
});
