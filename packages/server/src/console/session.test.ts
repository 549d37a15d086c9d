import { digestSecret, systemClock } from "@svc/core";
import { type PageHeaders, sendAsPage, signInToConsole, type TestSession } from "@svc/testing/console-session";
import { readAnswer, startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

const identity = "svc.v1.IdentityService/GetIdentity";
const projects = "svc.v1.AdminService/ListProjects";

let svc: TestServer;
let projectId: string;
let keyId: string;
let session: TestSession;
let addresses = 0;
beforeAll(async () => {
  // The server trusts this proxy, so each test with failing sign-ins can use its own client address.
  svc = await startTestServer({ variables: { SVC_TRUSTED_PROXIES: "127.0.0.1/32" } });
  const { json } = await svc.call(identity);
  ({ projectId, keyId } = json);
  session = await signInToConsole(svc, { key: svc.key });
});
afterAll(() => svc.stop());

const elsewhere = () => ({ "x-forwarded-for": `192.0.2.${++addresses}` });

async function createKey(project: string, role = "ROLE_MEMBER"): Promise<{ id: string; key: string }> {
  const { json } = await svc.admin("CreateApiKey", { projectId: project, role, name: "of a test" });
  return { id: json.apiKey.id, key: json.key };
}

const refused = (headers: PageHeaders, seat = keyId) => session.call(seat, identity, {}, headers);

test("signing in answers a half and the seats, and sets a cookie that no script reads", async () => {
  const answer = await sendAsPage(svc, "/console/session", { key: svc.key });
  expect(answer.json).toEqual({
    half: expect.stringMatching(/^[\w-]{43}$/),
    seats: [{ keyId, keyName: "SVC_BOOTSTRAP_KEY", projectId, projectName: "default", role: "approver" }],
  });
  const { port } = new URL(svc.url);
  expect(answer.headers.get("set-cookie")).toMatch(
    new RegExp(`^svc_console_${port}=[\\w-]{43}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict$`),
  );
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test("over https the cookie is Secure and of the host alone", async () => {
  const other = await startTestServer({ variables: { SVC_PUBLIC_URL: "https://svc.example.com" } });
  try {
    const headers = { origin: "https://svc.example.com" };
    const answer = await sendAsPage(other, "/console/session", { key: other.key }, { headers });
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-svc_console_443=.*; Path=\/; .*; Secure$/);
  } finally {
    await other.stop();
  }
});

test("both halves and a seat make calls as the seat's key", async () => {
  const answer = await session.call(keyId, identity);
  expect(answer).toMatchObject({ status: 200, json: { projectId, keyId, role: "ROLE_APPROVER" } });
});

test.each<[string, () => PageHeaders, number, string]>([
  ["the cookie alone", () => ({ "svc-session": null }), 401, "SESSION_INVALID"],
  ["the half alone", () => ({ cookie: null }), 401, "SESSION_INVALID"],
  ["another session's half", () => ({ "svc-session": "A".repeat(43) }), 401, "SESSION_INVALID"],
  ["the cookie as the half", () => ({ "svc-session": session.cookie.split("=")[1] ?? "" }), 401, "SESSION_INVALID"],
  ["no seat", () => ({ "svc-seat": null }), 401, "SESSION_INVALID"],
  ["a seat of another key", () => ({ "svc-seat": "key_01h455vb4pex5vsknk084sn02q" }), 401, "SESSION_INVALID"],
  ["the seat of the administrator", () => ({ "svc-seat": "admin" }), 401, "SESSION_INVALID"],
  ["a seat that is none", () => ({ "svc-seat": "prj_1" }), 401, "SESSION_INVALID"],
  ["a page of another port", () => ({ origin: "http://127.0.0.1:1" }), 403, "ORIGIN_REFUSED"],
  ["a page of the same port over https", () => ({ origin: svc.url.replace("http", "https") }), 403, "ORIGIN_REFUSED"],
  [
    "a page of another name of this machine",
    () => ({ origin: svc.url.replace("127.0.0.1", "localhost") }),
    403,
    "ORIGIN_REFUSED",
  ],
  ["a page of another host", () => ({ origin: "https://evil.example.com" }), 403, "ORIGIN_REFUSED"],
  ["an opaque origin", () => ({ origin: "null" }), 403, "ORIGIN_REFUSED"],
  ["no origin", () => ({ origin: null }), 403, "ORIGIN_REFUSED"],
  ["a same-site request", () => ({ "sec-fetch-site": "same-site" }), 403, "ORIGIN_REFUSED"],
  ["a request that a person typed", () => ({ "sec-fetch-site": "none" }), 403, "ORIGIN_REFUSED"],
])("%s is refused with its reason", async (_name, headers, status, reason) => {
  expect(await refused(headers())).toMatchObject({ status, reason });
});

test("a cookie of the same name from another port, with a longer path, does not prevent access", async () => {
  const [name] = session.cookie.split("=");
  const answer = await refused({ cookie: `${name}=planted; ${session.cookie}` });
  expect(answer).toMatchObject({ status: 200, json: { keyId } });
});

test("a foreign Host is refused before anything else", async () => {
  const body = JSON.stringify({ key: svc.key });
  const lines = [
    "POST /console/session HTTP/1.1",
    "Host: rebound.example.com",
    "Origin: http://rebound.example.com",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  const answer = await svc.raw(`${lines.join("\r\n")}\r\n\r\n${body}`);
  expect(answer).toMatch(/^HTTP\/1.1 403 /);
  expect(answer).toContain("HOST_REFUSED");
});

test("the service's own page is one by every name that it is opened by", async () => {
  const host = `localhost:${new URL(svc.url).port}`;
  const body = JSON.stringify({ key: svc.key });
  const lines = ["POST /console/session HTTP/1.1", `Host: ${host}`, `Origin: http://${host}`];
  const more = ["Sec-Fetch-Site: same-origin", "Content-Type: application/json", `Content-Length: ${body.length}`];
  const answer = await svc.raw(`${[...lines, ...more, "Connection: close"].join("\r\n")}\r\n\r\n${body}`);
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
});

test("a form of another site cannot sign a browser in", async () => {
  const form = { "content-type": "application/x-www-form-urlencoded", ...elsewhere() };
  const send = (headers: PageHeaders) => sendAsPage(svc, "/console/session", `key=${svc.key}`, { headers });
  expect(await send({ ...form, origin: "https://evil.example.com" })).toMatchObject({
    status: 403,
    reason: "ORIGIN_REFUSED",
  });
  expect(await send({ ...form, origin: null })).toMatchObject({ status: 403, reason: "ORIGIN_REFUSED" });
  expect(await send(form)).toMatchObject({ status: 415, reason: "CONTENT_TYPE_UNSUPPORTED" });
});

test("a key in Authorization is what counts where there is one", async () => {
  const answer = await refused({ authorization: "Bearer nobody-knows-this-key-of-32-characters" });
  expect(answer.reason).toBe("API_KEY_INVALID");
  expect((await refused({ authorization: `Bearer ${svc.key}`, origin: null, cookie: null })).status).toBe(200);
});

test("MCP takes no session", async () => {
  const res = await fetch(`${svc.url}/mcp`, {
    method: "POST",
    headers: {
      ...session.headers(keyId),
      origin: svc.url,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect(res.status).toBe(401);
});

test("a second key joins the session as a seat of its own, and each seat sees its own project alone", async () => {
  const mine = await signInToConsole(svc, { key: svc.key });
  const other = (await svc.admin("CreateProject", { name: "the other" })).json.project.id;
  const key = await createKey(other);
  const headers = { ...mine.headers(keyId), ...elsewhere() };
  const joined = await sendAsPage(svc, "/console/session", { key: key.key }, { headers });
  expect(joined.headers.get("set-cookie")).toBeNull();
  expect(joined.json.half).toBe(mine.half);
  expect(joined.json.seats.map((seat: { keyId: string }) => seat.keyId)).toEqual([keyId, key.id]);
  expect((await mine.call(key.id, identity)).json).toMatchObject({ projectId: other, projectName: "the other" });
  expect((await mine.call(keyId, identity)).json.projectId).toBe(projectId);
});

test("a session returns its seats, and gives one up or ends", async () => {
  const mine = await signInToConsole(svc, { key: svc.key });
  const key = await createKey(projectId);
  const options = { headers: mine.headers(keyId) };
  await sendAsPage(svc, "/console/session", { key: key.key }, options);
  const session = await sendAsPage(svc, "/console/session", {}, options);
  expect(session.json.seats).toHaveLength(2);
  const given = await sendAsPage(svc, "/console/session", { seat: key.id }, { ...options, method: "DELETE" });
  expect([given.status, given.headers.get("set-cookie")]).toEqual([200, null]);
  expect((await mine.call(key.id, identity)).reason).toBe("SESSION_INVALID");
  expect((await mine.call(keyId, identity)).status).toBe(200);
  const ended = await sendAsPage(svc, "/console/session", undefined, { ...options, method: "DELETE" });
  expect(ended.headers.get("set-cookie")).toMatch(/=; Path=\/; Max-Age=0;/);
  expect((await mine.call(keyId, identity)).reason).toBe("SESSION_INVALID");
  expect(await sendAsPage(svc, "/console/session", {}, options)).toMatchObject({
    status: 401,
    reason: "SESSION_INVALID",
  });
});

test("signing out needs both halves and the service's own origin, like signing in", async () => {
  for (const headers of [{ cookie: session.cookie }, { "svc-session": session.half }]) {
    const answer = await sendAsPage(svc, "/console/session", undefined, { method: "DELETE", headers });
    expect(answer.reason).toBe("SESSION_INVALID");
  }
  const foreign = { ...session.headers(keyId), origin: "http://127.0.0.1:1" };
  const answer = await sendAsPage(svc, "/console/session", undefined, { method: "DELETE", headers: foreign });
  expect(answer.reason).toBe("ORIGIN_REFUSED");
  expect((await session.call(keyId, identity)).status).toBe(200);
});

test("the administrator's token takes the seat admin, which reaches AdminService alone; project seats never do", async () => {
  const admin = await signInToConsole(svc, { key: svc.adminToken });
  expect((await admin.call("admin", projects)).status).toBe(200);
  expect(await admin.call("admin", identity)).toMatchObject({ status: 403, reason: "ROLE_REQUIRED" });
  expect(await session.call(keyId, projects)).toMatchObject({ status: 403, reason: "ROLE_REQUIRED" });
  expect(await session.call("admin", projects)).toMatchObject({ status: 401, reason: "SESSION_INVALID" });
});

test("another administrator's token ends the seat of the one before", async () => {
  const admin = await signInToConsole(svc, { key: svc.adminToken });
  const other = await startTestServer({
    variables: {
      SVC_DATABASE_URL: svc.database.url,
      SVC_BOOTSTRAP_KEY: "",
      SVC_ADMIN_TOKEN: "another-token-of-the-administrator-here",
      // The public address determines the name of the cookie and the page that may send requests.
      SVC_PUBLIC_URL: svc.url,
    },
  });
  try {
    const answer = await sendAsPage(
      other,
      `/${projects}`,
      {},
      {
        headers: { ...admin.headers("admin"), origin: svc.url },
      },
    );
    expect(answer).toMatchObject({ status: 401, reason: "SESSION_INVALID" });
  } finally {
    await other.stop();
  }
});

test("another node takes the session", async () => {
  const other = await startTestServer({
    variables: { SVC_DATABASE_URL: svc.database.url, SVC_BOOTSTRAP_KEY: "", SVC_PUBLIC_URL: svc.url },
  });
  try {
    const headers = { ...session.headers(keyId), origin: svc.url };
    expect((await sendAsPage(other, `/${identity}`, {}, { headers })).json.keyId).toBe(keyId);
  } finally {
    await other.stop();
  }
});

test("a member's seat may do what a member may", async () => {
  const key = await createKey(projectId);
  const member = await signInToConsole(svc, { key: key.key });
  expect((await member.call(key.id, identity)).json.role).toBe("ROLE_MEMBER");
});

test("a revoked key ends its seats at once and its streams within two seconds, and can no longer sign in", async () => {
  const key = await createKey(projectId);
  const mine = await signInToConsole(svc, { key: key.key });
  const stream = await openStream(mine, key.id);
  expect((await svc.admin("RevokeApiKey", { id: key.id })).status).toBe(200);
  const revokedAt = systemClock.now();
  expect(await mine.call(key.id, identity)).toMatchObject({ status: 401, reason: "SESSION_INVALID" });
  expect(await stream.text).toContain("SESSION_INVALID");
  // The limit is higher than two seconds, because the machine also does other work.
  expect(systemClock.now() - revokedAt).toBeLessThan(6_000);
  const again = await sendAsPage(svc, "/console/session", { key: key.key }, { headers: elsewhere() });
  expect(again).toMatchObject({ status: 401, reason: "API_KEY_INVALID" });
});

/**
 * Opens a stream that watches a waiting job, with one seat (key) of the session. Resolves when the stream is open. `text`: the text of the
 * stream up to its end.
 */
async function openStream(mine: TestSession, seat: string): Promise<{ text: Promise<string> }> {
  const program = { version: 1, title: "Waits", limits: { deadline: "2h" }, steps: [{ id: "pause", wait: "1h" }] };
  const { json } = await svc.call("svc.v1.JobsService/SubmitJob", { programJson: JSON.stringify(program) });
  const message = Buffer.from(JSON.stringify({ jobId: json.job.id }));
  const frame = Buffer.concat([Buffer.alloc(5), message]);
  frame.writeUInt32BE(message.byteLength, 1);
  const res = await fetch(`${svc.url}/svc.v1.JobsService/WatchJob`, {
    method: "POST",
    headers: { ...mine.headers(seat), origin: svc.url, "content-type": "application/connect+json" },
    body: frame,
  });
  return { text: res.text() };
}

test("a session expires after 12 hours without use, and after seven days", async () => {
  for (const column of ["used_at", "created_at"]) {
    const mine = await signInToConsole(svc, { key: svc.key });
    const digest = digestSecret(mine.cookie.split("=")[1] ?? "");
    const age = column === "used_at" ? "12 hours" : "7 days";
    await svc.database.db.sql.unsafe(
      `update console_sessions set ${column} = now() - interval '${age}' where cookie_digest = $1`,
      [digest],
    );
    await until(async () => (await mine.call(keyId, identity)).reason === "SESSION_INVALID");
  }
});

test("the store has digests alone, and the log nothing secret", async () => {
  const stored = await svc.database.db.sql.unsafe<{ row: string }[]>(
    "select s::text as row from console_sessions s union all select t::text from console_seats t",
  );
  const texts = stored.map(({ row }) => row).join("\n") + svc.logs.join("");
  const cookie = session.cookie.split("=")[1] ?? "";
  for (const secret of [cookie, session.half, svc.key, svc.adminToken]) {
    expect(texts).not.toContain(secret);
    expect(texts).not.toContain(Buffer.from(secret, "utf8").toString("hex"));
    expect(texts).not.toContain(Buffer.from(secret, "base64url").toString("hex"));
  }
});

test("GET of /console/session returns nothing", async () => {
  const answer = await readAnswer(await fetch(`${svc.url}/console/session`, { headers: session.headers(keyId) }));
  expect(answer).toMatchObject({ status: 405, reason: "METHOD_NOT_ALLOWED" });
});
