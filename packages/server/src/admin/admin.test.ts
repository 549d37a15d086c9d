import { systemClock } from "@svc/core";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" } });
});
afterAll(() => svc.stop());

const noProject = "prj_00000000000000000000000000";
const refused = (status: number, code: string, reason: string, field?: string) =>
  expect.objectContaining({ status, code, reason, ...(field === undefined ? {} : { field }) });

const noQuotas = {
  calls: 0,
  concurrentCalls: 0,
  posts: 0,
  subscriptions: 0,
  entitySubscriptions: 0,
  pendingDeliveries: 0,
  jobs: 0,
  openStreams: 0,
  privateToolkits: 0,
  privateToolkitBytes: 0,
  storedBytes: 0,
};

async function createProject(name: string) {
  const { json } = await svc.admin("CreateProject", { name });
  return json.project;
}

const noConfirm = { person: "never", contact: "" };

test("CreateProject makes a project with the default policy", async () => {
  const answer = await svc.admin("CreateProject", { name: "first" });
  expect(answer.json.project).toEqual({
    id: expect.stringMatching(/^prj_[0-9a-z]{26}$/),
    name: "first",
    createdAt: expect.stringMatching(/^20\d\d-/),
    policy: { planApproval: "never", redirectUrls: [], quotas: noQuotas, http: { hosts: [] }, confirm: noConfirm },
  });
});

test.each([
  ["an empty name", ""],
  ["a blank name", "  "],
  ["a name of 101 characters", "\u{1F600}".repeat(101)],
  ["a line break", "a\nb"],
  ["an escape sequence", "a\u001b[2Jb"],
  ["a turn of direction", "a\u202eb"],
  ["a space without width", "a\u200bb"],
])("CreateProject refuses %s", async (_name, name) => {
  expect(await svc.admin("CreateProject", { name })).toEqual(refused(400, "invalid_argument", "NAME_INVALID", "name"));
});

test("CreateProject counts characters, and a name is taken once", async () => {
  const name = "\u{1F600}".repeat(100);
  expect((await svc.admin("CreateProject", { name })).code).toBe("ok");
  expect(await svc.admin("CreateProject", { name })).toEqual(
    refused(409, "already_exists", "PROJECT_NAME_TAKEN", "name"),
  );
});

test.each(["ListProjects", "ListQuarantinedPosts"])(
  "%s refuses a negative page size and a token of another list",
  async (call) => {
    expect(await svc.admin(call, { pageSize: -1 })).toEqual(
      refused(400, "invalid_argument", "PAGE_SIZE_NEGATIVE", "pageSize"),
    );
    await createProject(`other list ${call}`);
    const { json } = await svc.admin("ListProjects", { pageSize: 1 });
    const pageToken = call === "ListProjects" ? `${json.nextPageToken}A` : json.nextPageToken;
    expect(await svc.admin(call, { pageToken })).toEqual(
      refused(400, "invalid_argument", "PAGE_TOKEN_INVALID", "pageToken"),
    );
  },
);

test("CreateApiKey returns the text once; lists show all but the text", async () => {
  const { id: projectId } = await createProject("keys");
  const expiresAt = "2999-01-01T00:00:00Z";
  const { json } = await svc.admin("CreateApiKey", { projectId, role: "ROLE_APPROVER", name: "ci", expiresAt });
  expect(json.key).toMatch(/^svc_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
  expect(json.apiKey).toEqual({
    id: expect.stringMatching(/^key_/),
    projectId,
    role: "ROLE_APPROVER",
    name: "ci",
    hint: json.key.slice(0, 8),
    createdAt: expect.any(String),
    expiresAt,
    entityId: "",
    accessClasses: [],
    toolkitSlugs: [],
    confirm: { person: "never", contact: "" },
    agentTools: [],
    makerKeyId: "",
    purpose: "",
  });
  const listed = await svc.admin("ListApiKeys", { projectId });
  expect(listed.json).toEqual({ apiKeys: [json.apiKey], nextPageToken: "" });
  expect(JSON.stringify(listed.json)).not.toContain(json.key);
});

test("a key's scope is shown to the key and in lists", async () => {
  const { id: projectId } = await createProject("bound keys");
  const binding = { entityId: "ada", accessClasses: ["read", "write"], toolkitSlugs: ["calendar"] };
  const given = { ...binding, accessClasses: ["read", "write", "read"], toolkitSlugs: ["calendar", "calendar"] };
  const { json } = await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "ada's", ...given });
  expect(json.apiKey).toMatchObject(binding);
  expect((await svc.admin("ListApiKeys", { projectId })).json.apiKeys).toEqual([json.apiKey]);
  const identity = await svc.call("svc.v1.IdentityService/GetIdentity", {}, { bearer: json.key });
  expect(identity.json).toMatchObject({ keyId: json.apiKey.id, ...binding });
  const own = await svc.call("svc.v1.IdentityService/GetIdentity");
  expect(own.json).toMatchObject({ entityId: "", accessClasses: [], toolkitSlugs: [] });
});

test("CreateApiKey refuses what it documents", async () => {
  const { id: projectId } = await createProject("refusing");
  const good = { projectId, role: "ROLE_MEMBER", name: "k" };
  const create = (change: object) => svc.admin("CreateApiKey", { ...good, ...change });
  expect(await create({ projectId: noProject })).toEqual(refused(404, "not_found", "PROJECT_NOT_FOUND", "projectId"));
  for (const bad of ["", "key_00000000000000000000000000", "nonsense"]) {
    expect(await create({ projectId: bad })).toEqual(refused(400, "invalid_argument", "ID_MALFORMED", "projectId"));
  }
  for (const role of ["ROLE_UNSPECIFIED", "ROLE_ADMIN"]) {
    expect(await create({ role })).toEqual(refused(400, "invalid_argument", "ROLE_INVALID", "role"));
  }
  expect(await create({ role: 9 })).toEqual(refused(400, "invalid_argument", "ENUM_VALUE_UNKNOWN", "role"));
  for (const name of ["", "a\u0007b", "a\u2066b"]) {
    expect(await create({ name })).toEqual(refused(400, "invalid_argument", "NAME_INVALID", "name"));
  }
  for (const entityId of ["a\u0007b", "x".repeat(201)]) {
    expect(await create({ entityId })).toEqual(refused(400, "invalid_argument", "ENTITY_ID_INVALID", "entityId"));
  }
  expect(await create({ accessClasses: ["read", "READ"] })).toEqual(
    refused(400, "invalid_argument", "ACCESS_CLASS_INVALID", "accessClasses[1]"),
  );
  for (const toolkitSlugs of [[""], ["Calendar"], Array.from({ length: 101 }, (_, n) => `t${n}`)]) {
    expect(await create({ toolkitSlugs })).toEqual(
      refused(400, "invalid_argument", "TOOLKIT_SLUGS_INVALID", "toolkitSlugs"),
    );
  }
  // The server uses the clock of its database. A time that is just in the past here could still be in the future there, so it is a minute
  // old.
  const past = new Date(systemClock.now() - 60_000).toISOString();
  expect(await create({ expiresAt: past })).toEqual(refused(400, "invalid_argument", "EXPIRES_AT_PAST", "expiresAt"));
  expect((await svc.admin("ListApiKeys", { projectId })).json.apiKeys).toEqual([]);
});

test("ListApiKeys pages through the keys of one project, newest first", async () => {
  const one = await createProject("paged keys");
  for (const name of ["k1", "k2", "k3"])
    await svc.admin("CreateApiKey", { projectId: one.id, role: "ROLE_MEMBER", name });
  const first = await svc.admin("ListApiKeys", { projectId: one.id, pageSize: 2 });
  const pageToken = first.json.nextPageToken;
  const second = await svc.admin("ListApiKeys", { projectId: one.id, pageSize: 2, pageToken });
  const names = [...first.json.apiKeys, ...second.json.apiKeys].map((key: { name: string }) => key.name);
  expect([names, second.json.nextPageToken]).toEqual([["k3", "k2", "k1"], ""]);
  expect(await svc.admin("ListApiKeys", { projectId: noProject })).toEqual(
    refused(404, "not_found", "PROJECT_NOT_FOUND"),
  );
});

test("RevokeApiKey twice keeps the first time", async () => {
  const { id: projectId } = await createProject("revoking");
  const { json } = await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "k" });
  const first = await svc.admin("RevokeApiKey", { id: json.apiKey.id });
  expect(first.json.apiKey.revokedAt).toBeDefined();
  const second = await svc.admin("RevokeApiKey", { id: json.apiKey.id });
  expect(second.json).toEqual(first.json);
});

test("RevokeApiKey refuses ids that are not keys", async () => {
  expect(await svc.admin("RevokeApiKey", { id: "key_00000000000000000000000000" })).toEqual(
    refused(404, "not_found", "API_KEY_NOT_FOUND", "id"),
  );
  expect(await svc.admin("RevokeApiKey", { id: "" })).toEqual(refused(400, "invalid_argument", "ID_MALFORMED", "id"));
});

test("SetProjectPolicy replaces the whole policy", async () => {
  const { id: projectId } = await createProject("policy");
  const redirectUrls = ["https://app.example.com/done?x=1", "http://localhost:3000/", "http://[::1]/"];
  const set = await svc.admin("SetProjectPolicy", { projectId, planApproval: "destructive", redirectUrls });
  expect(set.json.project).toMatchObject({ name: "policy", policy: { planApproval: "destructive", redirectUrls } });
  const listed = await svc.admin("ListProjects", { pageSize: 1 });
  expect(listed.json.projects[0].policy).toEqual({
    planApproval: "destructive",
    redirectUrls,
    quotas: noQuotas,
    http: { hosts: [] },
    confirm: noConfirm,
  });
  const cleared = await svc.admin("SetProjectPolicy", { projectId });
  expect(cleared.json.project.policy).toEqual({
    planApproval: "never",
    redirectUrls: [],
    quotas: noQuotas,
    http: { hosts: [] },
    confirm: noConfirm,
  });
});

test("SetProjectPolicy sets the confirmation policy if it is sent, and otherwise leaves it unchanged", async () => {
  const { id: projectId } = await createProject("confirm");
  const confirm = { person: "writes", contact: "owner" };
  const set = await svc.admin("SetProjectPolicy", { projectId, confirm });
  expect(set.json.project.policy.confirm).toEqual(confirm);
  const other = await svc.admin("SetProjectPolicy", { projectId, planApproval: "always" });
  expect(other.json.project.policy.confirm).toEqual(confirm);
  for (const [sent, field] of [
    [{ person: "sometimes", contact: "owner" }, "confirm.person"],
    [{ person: "writes" }, "confirm.contact"],
    [{ person: "destructive", contact: "nobody" }, "confirm.contact"],
  ] as const) {
    const answer = await svc.admin("SetProjectPolicy", { projectId, confirm: sent });
    expect(answer).toEqual(refused(400, "invalid_argument", "CONFIRM_INVALID", field));
  }
  const cleared = await svc.admin("SetProjectPolicy", { projectId, confirm: {} });
  expect(cleared.json.project.policy.confirm).toEqual(noConfirm);
});

test("SetProjectPolicy replaces all quotas if they are sent, and otherwise leaves them unchanged", async () => {
  const { id: projectId } = await createProject("quotas");
  const quotas = { calls: 100, jobs: -1, storedBytes: 10 * 2 ** 40 };
  const set = await svc.admin("SetProjectPolicy", { projectId, planApproval: "always", quotas });
  expect(set.json.project.policy.quotas).toEqual({ ...noQuotas, ...quotas });
  const other = await svc.admin("SetProjectPolicy", { projectId });
  expect(other.json.project.policy).toEqual({
    planApproval: "never",
    redirectUrls: [],
    quotas: { ...noQuotas, ...quotas },
    http: { hosts: [] },
    confirm: noConfirm,
  });
  const again = await svc.admin("SetProjectPolicy", { projectId, quotas: { posts: 7 } });
  expect(again.json.project.policy.quotas).toEqual({ ...noQuotas, posts: 7 });
  const [listed] = (await svc.admin("ListProjects", { pageSize: 1 })).json.projects;
  expect(listed.policy.quotas).toEqual({ ...noQuotas, posts: 7 });
});

test("SetProjectPolicy sets the hosts of http steps as a whole where they are sent, and leaves them where they are not", async () => {
  const { id: projectId } = await createProject("hosts");
  const hosts = ["API.example.com", "api.example.com:443", "hooks.example.com:8443", "bücher.example"];
  const read = ["api.example.com", "hooks.example.com:8443", "xn--bcher-kva.example"];
  const set = await svc.admin("SetProjectPolicy", { projectId, http: { hosts } });
  expect(set.json.project.policy.http).toEqual({ hosts: read });
  const other = await svc.admin("SetProjectPolicy", { projectId, planApproval: "always", quotas: { posts: 7 } });
  expect(other.json.project.policy.http).toEqual({ hosts: read });
  expect((await svc.admin("ListProjects", { pageSize: 1 })).json.projects[0].policy.http).toEqual({ hosts: read });
  const none = await svc.admin("SetProjectPolicy", { projectId, http: {} });
  expect(none.json.project.policy).toMatchObject({ http: { hosts: [] }, quotas: { posts: 7 } });
});

test.each([
  ["*.example.com"],
  ["https://example.com"],
  ["example.com/path"],
  ["user@example.com"],
  [""],
  ["example.com."],
  ["a..b"],
])("SetProjectPolicy refuses the host %j", async (host) => {
  const { id: projectId } = await createProject(`bad host ${host}`);
  const answer = await svc.admin("SetProjectPolicy", { projectId, http: { hosts: ["example.com", host] } });
  expect(answer).toEqual(refused(400, "invalid_argument", "HTTP_HOST_INVALID", "http.hosts[1]"));
  const hosts = Array.from({ length: 101 }, (_, n) => `h${n}.example.com`);
  const many = await svc.admin("SetProjectPolicy", { projectId, http: { hosts } });
  expect(many).toEqual(refused(400, "invalid_argument", "HTTP_HOST_INVALID", "http.hosts"));
});

test.each([
  ["calls", -2],
  ["storedBytes", 1.5],
  ["storedBytes", "NaN"],
  ["storedBytes", 2 ** 60],
])("SetProjectPolicy refuses a quota of %s of %s", async (name, value) => {
  const { id: projectId } = await createProject(`bad quota ${name} ${value}`);
  const answer = await svc.admin("SetProjectPolicy", { projectId, quotas: { [name]: value } });
  expect(answer).toEqual(refused(400, "invalid_argument", "QUOTA_INVALID", `quotas.${name}`));
});

test("GetProjectUsage returns usage and limit of each quota", async () => {
  const { id: projectId } = await createProject("usage");
  const { json } = await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "k" });
  const bearer = json.key as string;
  await svc.admin("SetProjectPolicy", { projectId, quotas: { subscriptions: 2, jobs: -1 } });
  const subscribe = () =>
    svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: "http://127.0.0.1:9/" }, { bearer });
  for (const status of [200, 200, 429]) expect((await subscribe()).status).toBe(status);
  const ofEntity = { endpointUrl: "http://127.0.0.1:9/", entityId: "ada" };
  expect((await svc.call("svc.v1.TriggersService/CreateSubscription", ofEntity, { bearer })).status).toBe(200);
  const usage = (await svc.admin("GetProjectUsage", { projectId })).json;
  expect(usage).toMatchObject({ calls: 4, posts: 0, nodeId: svc.server.nodeId });
  expect(usage.quotas.map(({ name }: { name: string }) => name)).toEqual(Object.keys(noQuotas));
  expect(usage.quotas[3]).toEqual({
    name: "subscriptions",
    used: 2,
    most: 2,
    isDefault: false,
    scope: "deployment",
    refused: 1,
  });
  expect(usage.quotas[4]).toMatchObject({ name: "entitySubscriptions", used: 1, most: 100_000, isDefault: true });
  expect(usage.quotas[6]).toMatchObject({ name: "jobs", used: 0, most: -1, isDefault: false });
  expect(usage.quotas[0]).toMatchObject({ name: "calls", most: 20_000, isDefault: true, scope: "node" });
  expect(await svc.admin("GetProjectUsage", { projectId: noProject })).toEqual(
    refused(404, "not_found", "PROJECT_NOT_FOUND", "projectId"),
  );
});

test.each([
  ["http://example.com/"],
  ["ftp://example.com/"],
  ["/done"],
  ["https://user:pass@example.com/"],
  ["https://example.com/#done"],
  [`https://example.com/${"x".repeat(2_048)}`],
])("SetProjectPolicy refuses to send people to %s", async (url) => {
  const { id: projectId } = await createProject(`redirects ${url}`.slice(0, 100));
  const redirectUrls = ["https://example.com/", url];
  const answer = await svc.admin("SetProjectPolicy", { projectId, redirectUrls });
  expect(answer).toEqual(refused(400, "invalid_argument", "REDIRECT_URL_INVALID", "redirectUrls[1]"));
});

test("SetProjectPolicy refuses what it documents", async () => {
  const { id: projectId } = await createProject("bad policy");
  const many = Array.from({ length: 101 }, () => "https://example.com/");
  expect(await svc.admin("SetProjectPolicy", { projectId, redirectUrls: many })).toEqual(
    refused(400, "invalid_argument", "REDIRECT_URL_INVALID", "redirectUrls"),
  );
  expect(await svc.admin("SetProjectPolicy", { projectId, planApproval: "maybe" })).toEqual(
    refused(400, "invalid_argument", "PLAN_APPROVAL_INVALID", "planApproval"),
  );
  expect(await svc.admin("SetProjectPolicy", { projectId: noProject })).toEqual(
    refused(404, "not_found", "PROJECT_NOT_FOUND"),
  );
});
