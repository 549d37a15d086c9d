import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestSecret, systemClock } from "@svc/core";
import { type PageHeaders, sendAsPage, signInToConsole } from "@svc/testing/console-session";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { firstConsoleLink } from "../start/console-link.ts";
import { consoleText } from "../start/start-text.ts";

let svc: TestServer;
let projectId: string;
let keyId: string;
let addresses = 0;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_TRUSTED_PROXIES: "127.0.0.1/32" } });
  ({ projectId, keyId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json);
});
afterAll(() => svc.stop());

const elsewhere = () => ({ "x-forwarded-for": `192.0.2.${++addresses}` });

/** Opens a link, each time from another address. */
const open = (link: string) => sendAsPage(svc, "/console/session", { link }, { headers: elsewhere() });

async function makeLink(bearer = svc.key): Promise<string> {
  const { json } = await svc.call("svc.v1.ConsoleService/CreateSignInLink", {}, { bearer });
  expect(json.url).toMatch(new RegExp(`^${svc.url}/console/#link=[\\w-]{43}$`));
  return json.url.split("#link=")[1];
}

const createKey = async () =>
  (await svc.admin("CreateApiKey", { projectId, role: "ROLE_MEMBER", name: "of a link" })).json;

test("a link signs in once, with the seat of the key that made it; the second time it says how to get another", async () => {
  const { apiKey, key } = await createKey();
  const link = await makeLink(key);
  const answer = await open(link);
  expect(answer.json.seats).toEqual([
    { keyId: apiKey.id, keyName: "of a link", projectId, projectName: "default", role: "member" },
  ]);
  const again = await open(link);
  expect(again).toMatchObject({ status: 401, reason: "LINK_INVALID" });
  expect(again.json.message).toContain("used already");
  expect(again.json.details[0].debug.help).toContain("npx svc console");
  expect(again.headers.get("set-cookie")).toBeNull();
});

test("of two that open a link at once, one is let in", async () => {
  const link = await makeLink();
  const answers = await Promise.all([open(link), open(link), open(link)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
});

test("unknown, expired and revoked links do not sign in, and say why", async () => {
  expect((await open("A".repeat(43))).json.message).toBe("the link is unknown");
  const late = await makeLink();
  await svc.database.db.sql.unsafe("update console_links set expires_at = now() where digest = $1", [
    digestSecret(late),
  ]);
  expect(await open(late)).toMatchObject({ reason: "LINK_INVALID", json: { message: "the link has expired" } });
  const { apiKey, key } = await createKey();
  const orphaned = await makeLink(key);
  await svc.admin("RevokeApiKey", { id: apiKey.id });
  expect((await open(orphaned)).json.message).toContain("revoked or expired");
});

test("a link that is opened in a session adds its seat", async () => {
  const session = await signInToConsole(svc, { key: svc.key });
  const { key } = await createKey();
  const headers = { cookie: session.cookie, "svc-session": session.half };
  const answer = await sendAsPage(svc, "/console/session", { link: await makeLink(key) }, { headers });
  expect(answer.json.half).toBe(session.half);
  expect(answer.json.seats).toHaveLength(2);
});

test("looking at a link returns its seat any number of times, without using it or signing in", async () => {
  const { apiKey, key } = await createKey();
  const link = await makeLink(key);
  const look = (body: object) => sendAsPage(svc, "/console/session", body, { headers: elsewhere() });
  for (let times = 0; times < 2; times++) {
    const looked = await look({ link, look: true });
    const seat = { keyId: apiKey.id, keyName: "of a link", projectId, projectName: "default", role: "member" };
    expect([looked.json, looked.headers.get("set-cookie")]).toEqual([{ seat }, null]);
  }
  expect(await look({ key, look: true })).toMatchObject({ status: 401, reason: "LINK_INVALID" });
  expect((await open(link)).status).toBe(200);
  expect(await look({ link, look: true })).toMatchObject({ status: 401, reason: "LINK_INVALID" });
});

test("links are stored as digests, and are in no log line", async () => {
  const link = await makeLink();
  await open(link);
  const rows = await svc.database.db.sql.unsafe<{ row: string }[]>("select l::text as row from console_links l");
  const texts = rows.map(({ row }) => row).join("\n") + svc.logs.join("");
  for (const form of ["utf8", "base64url"] as const)
    expect(texts).not.toContain(Buffer.from(link, form).toString("hex"));
  expect(texts).not.toContain(link);
});

test("a key lists and ends its own sessions, and no other key's", async () => {
  const { apiKey, key } = await createKey();
  const mine = await signInToConsole(svc, { key });
  const call = (name: string, body: unknown, bearer: string) =>
    svc.call(`svc.v1.ConsoleService/${name}`, body, { bearer });
  const { sessions } = (await call("ListSessions", {}, key)).json;
  expect(sessions).toEqual([
    {
      id: expect.stringMatching(/^ses_/),
      userAgent: "node",
      createdAt: expect.any(String),
      usedAt: expect.any(String),
      expiresAt: expect.any(String),
    },
  ]);
  const [{ id }] = sessions;
  expect((await call("ListSessions", {}, svc.key)).json.sessions.map((one: { id: string }) => one.id)).not.toContain(
    id,
  );
  expect(await call("EndSession", { id }, svc.key)).toMatchObject({ status: 404, reason: "SESSION_NOT_FOUND" });
  expect((await mine.call(apiKey.id, "svc.v1.IdentityService/GetIdentity")).status).toBe(200);
  expect((await call("EndSession", { id }, key)).status).toBe(200);
  expect((await mine.call(apiKey.id, "svc.v1.IdentityService/GetIdentity")).reason).toBe("SESSION_INVALID");
});

test("a start at a terminal shows a link with the seat of the first key; with a shared database or beyond loopback none", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "first-key-"));
  try {
    await writeFile(join(dataDir, "first-key"), `${svc.key}\n`);
    const own = { databaseUrl: undefined, host: "127.0.0.1", dataDir, bootstrapKey: undefined, cell: undefined };
    const links = { db: svc.database.db, clock: systemClock, publicUrl: () => svc.url };
    const link = (await firstConsoleLink(own, links)) ?? "";
    expect(consoleText(link)).toBe(`Console: ${link}\n(once, within ten minutes; later: npx svc console)\n\n`);
    expect((await open(link.split("#link=")[1] ?? "")).json.seats[0].role).toBe("approver");
    for (const other of [{ databaseUrl: "postgres://db/svc" }, { host: "0.0.0.0" }, { dataDir: tmpdir() }])
      expect(await firstConsoleLink({ ...own, ...other }, links)).toBeUndefined();
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test("a node without a console makes no link to it", async () => {
  const other = await startTestServer({ variables: { SVC_CONSOLE: "off" } });
  try {
    const answer = await other.call("svc.v1.ConsoleService/CreateSignInLink");
    expect(answer).toMatchObject({ status: 400, reason: "CONSOLE_OFF" });
  } finally {
    await other.stop();
  }
});

test("after ten failures within a minute an address is refused, even with a valid key; others are not", async () => {
  const session = await signInToConsole(svc, { key: svc.key });
  const headers = elsewhere();
  const attempt = (body: unknown, from = headers) => sendAsPage(svc, "/console/session", body, { headers: from });
  for (let failed = 0; failed < 10; failed++) {
    const body = failed % 2 === 0 ? { key: `nobody-has-this-key-${failed}` } : { link: `nor-this-link-${failed}` };
    expect((await attempt(body)).status).toBe(401);
  }
  const answer = await attempt({ key: svc.key });
  expect(answer).toMatchObject({ status: 429, reason: "SIGN_INS_EXCEEDED" });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await attempt({ key: svc.key }, elsewhere())).status).toBe(200);
  // The limit does not affect a session that is already signed in.
  expect((await session.call(keyId, "svc.v1.IdentityService/GetIdentity", {}, headers)).status).toBe(200);
});

test("of many wrong keys at once ten are checked, and valid ones at once all sign in", async () => {
  const attempt = (key: string, headers: PageHeaders) => sendAsPage(svc, "/console/session", { key }, { headers });
  const headers = elsewhere();
  const wrong = await Promise.all(
    Array.from({ length: 150 }, (_, nth) => attempt(`nobody-has-this-key-${nth}`, headers)),
  );
  expect(wrong.filter(({ status }) => status === 401)).toHaveLength(10);
  for (const { status, reason } of wrong) if (status !== 401) expect(reason).toBe("SIGN_INS_EXCEEDED");
  const { key } = await createKey();
  const from = elsewhere();
  const good = await Promise.all(Array.from({ length: 40 }, () => attempt(key, from)));
  expect(new Set(good.map(({ status }) => status))).toEqual(new Set([200]));
});

test("one key signs in a hundred times a minute at most, and leaves as many sessions as it may have", async () => {
  const { apiKey, key } = await createKey();
  const statuses: number[] = [];
  for (let nth = 0; nth < 101; nth++)
    statuses.push((await sendAsPage(svc, "/console/session", { key }, { headers: elsewhere() })).status);
  expect(statuses.indexOf(429)).toBe(100);
  const seatless =
    "select id from console_sessions s where admin_digest is null and not exists (select from console_seats t where t.session_id = s.id)";
  expect(await svc.database.db.sql.unsafe(seatless)).toEqual([]);
  const { json } = await svc.call("svc.v1.ConsoleService/ListSessions", {}, { bearer: key });
  expect([apiKey.id, json.sessions.length]).toEqual([apiKey.id, 50]);
});

test("posted bodies are limited before the caller is known", async () => {
  const send = (body: string) => sendAsPage(svc, "/console/session", body, { headers: elsewhere() });
  expect(await send(JSON.stringify({ key: "x".repeat(20_000) }))).toMatchObject({ reason: "BODY_TOO_LARGE" });
  for (const body of ["[]", "{", '{"key": 7}', '{"key": "a", "link": "b"}', "[".repeat(5_000)])
    expect(await send(body)).toMatchObject({ status: 400, reason: "REQUEST_MALFORMED" });
});

test("a key has fifty sessions at most: the one that began longest ago ends", async () => {
  const { apiKey, key } = await createKey();
  const first = await signInToConsole(svc, { key });
  for (let more = 0; more < 50; more++) await signInToConsole(svc, { key });
  await until(
    async () => (await first.call(apiKey.id, "svc.v1.IdentityService/GetIdentity")).reason === "SESSION_INVALID",
  );
});
