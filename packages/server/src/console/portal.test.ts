import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestSecret } from "@svc/core";
import { openPortal, sendAsPage, signInToConsole } from "@svc/testing/console-session";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

let svc: TestServer;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-portal-"));
  await writeFile(join(folder, "index.html"), "<!doctype html><html><head></head><body>console</body></html>");
  await writeFile(join(folder, "portal.html"), "<!doctype html><html><head></head><body>portal</body></html>");
  svc = await startTestServer({ consoleFolder: folder, erasures: { graceMs: 0, pollMs: 100 } });
  await made("PutEventType", { name: "invoice.paid", offered: true });
  await made("PutEventType", { name: "payroll.run" });
});
afterAll(async () => {
  await svc?.stop();
  await rm(folder, { recursive: true });
});

async function made(method: string, body: object = {}) {
  const answer = await svc.call(`svc.v1.TriggersService/${method}`, body);
  if (answer.status !== 200) throw new Error(`${method}: ${JSON.stringify(answer.json)}`);
  return answer.json;
}

const call = (method: string) => `svc.v1.TriggersService/${method}`;
const endpoint = { endpointUrl: "http://127.0.0.1:9/nobody" };

test("a link opens sessions in which a customer sees its own endpoints only, until it is revoked", async () => {
  const link = await made("CreatePortalLink", { entityId: "ada" });
  const [first, second] = [await openPortal(svc, link.url), await openPortal(svc, link.url)];
  await made("CreateSubscription", { ...endpoint, entityId: "ada" });
  const { subscription } = (await first.call(call("CreateSubscription"), endpoint)).json;
  expect(subscription).toMatchObject({ entityId: "ada", origin: "portal", toolkitSlug: "events", active: true });
  const bob = await openPortal(svc, (await made("CreatePortalLink", { entityId: "bob" })).url);
  await bob.call(call("CreateSubscription"), endpoint);
  for (const portal of [first, second]) {
    const { json } = await portal.call(call("ListSubscriptions"));
    expect(json.subscriptions.map(({ id }: { id: string }) => id)).toEqual([subscription.id]);
    expect(json.limitedTo).toBe('the entity "ada"');
  }
  expect(await made("RevokePortalLinks", { entityId: "ada" })).toEqual({ revoked: 1 });
  for (const portal of [first, second])
    expect(await portal.call(call("ListSubscriptions"))).toMatchObject({ status: 401, reason: "SESSION_INVALID" });
  expect((await bob.call(call("ListSubscriptions"))).status).toBe(200);
  const again = await sendAsPage(svc, "/portal/session", { link: link.url.split("#link=")[1] });
  expect(again).toMatchObject({ status: 401, reason: "LINK_INVALID" });
});

test("a revocation by id ends that link alone, and every one of its pages", async () => {
  const [kept, ended] = [
    await made("CreatePortalLink", { entityId: "cy" }),
    await made("CreatePortalLink", { entityId: "cy" }),
  ];
  const [open, gone] = [await openPortal(svc, kept.url), await openPortal(svc, ended.url)];
  expect(await made("RevokePortalLinks", { linkId: ended.linkId })).toEqual({ revoked: 1 });
  expect((await svc.call(call("RevokePortalLinks"), { linkId: ended.linkId })).reason).toBe("LINK_NOT_FOUND");
  expect((await gone.call("svc.v1.IdentityService/GetIdentity")).reason).toBe("SESSION_INVALID");
  expect((await gone.call("svc.v1.IdentityService/GetIdentity")).status).toBe(401);
  const { json } = await open.call("svc.v1.IdentityService/GetIdentity");
  expect(json).toMatchObject({ entityId: "cy", toolkitSlugs: ["events"], accessClasses: [] });
  expect((await made("ListPortalLinks", { entityId: "cy" })).links.map(({ id }: { id: string }) => id)).toEqual([
    kept.linkId,
  ]);
  const rows = await svc.database.db.sql.unsafe<{ row: string }[]>(
    "select s::text as row from console_seats s join api_keys k on k.id = s.key_id where k.revoked_at is not null",
  );
  expect(rows).toHaveLength(0);
});

test("a link of another customer opens a session only if the browser wants to replace its own, which then ends", async () => {
  const tokenOf = async (entityId: string) =>
    (await made("CreatePortalLink", { entityId })).url.split("#link=")[1] as string;
  const ada = await openPortal(svc, (await made("CreatePortalLink", { entityId: "asked-ada" })).url);
  const bobs = await tokenOf("asked-bob");
  const open = (body: object, headers: Record<string, string>) => sendAsPage(svc, "/portal/session", body, { headers });
  const asked = await open({ link: bobs }, ada.headers);
  expect([asked.status, asked.headers.get("set-cookie")]).toEqual([200, null]);
  expect(asked.json).toEqual({
    replaces: {
      from: { projectId: ada.seat.projectId, entityId: "asked-ada", projectName: "default" },
      to: { projectId: ada.seat.projectId, entityId: "asked-bob", projectName: "default" },
    },
  });
  expect((await open({ link: bobs, replace: "yes" }, ada.headers)).json).toHaveProperty("replaces");
  expect((await ada.call(call("ListSubscriptions"))).status).toBe(200);
  const replaced = await open({ link: bobs, replace: true }, ada.headers);
  expect(replaced.json.seat.entityId).toBe("asked-bob");
  expect(await ada.call(call("ListSubscriptions"))).toMatchObject({ status: 401, reason: "SESSION_INVALID" });
  // A session of the same customer is replaced at once. A session that has ended needs no question.
  const bob = await openPortal(svc, (await made("CreatePortalLink", { entityId: "asked-bob" })).url);
  const again = await open({ link: await tokenOf("asked-bob") }, bob.headers);
  expect(again.json.seat.entityId).toBe("asked-bob");
  expect((await bob.call(call("ListSubscriptions"))).status).toBe(401);
  expect((await open({ link: await tokenOf("asked-cy") }, ada.headers)).json.seat.entityId).toBe("asked-cy");
});

test("an expired link opens nothing, and its pages are signed out", async () => {
  const link = await made("CreatePortalLink", { entityId: "dee", readOnly: true });
  const portal = await openPortal(svc, link.url);
  expect(portal.seat).toMatchObject({ entityId: "dee", readOnly: true });
  await svc.database.db.sql.unsafe("update api_keys set expires_at = now() where entity_id = 'dee'");
  await svc.database.db.sql.unsafe("update console_links set expires_at = now() where digest = $1", [
    digestSecret(link.url.split("#link=")[1]),
  ]);
  await expect
    .poll(async () => (await portal.call(call("ListSubscriptions"))).reason, { timeout: 10_000 })
    .toBe("SESSION_INVALID");
  const again = await sendAsPage(svc, "/portal/session", { link: link.url.split("#link=")[1] });
  expect(again).toMatchObject({ status: 401, reason: "LINK_INVALID" });
});

test("a link ends with the key that made it, and is none of that key's agent keys", async () => {
  const { projects } = (await svc.admin("ListProjects")).json;
  const made = { projectId: projects[0].id, role: "ROLE_APPROVER", name: "backend" };
  const { apiKey, key } = (await svc.admin("CreateApiKey", made)).json;
  const link = (await svc.call(call("CreatePortalLink"), { entityId: "made-by-key" }, { bearer: key })).json;
  const portal = await openPortal(svc, link.url);
  expect((await portal.call(call("ListSubscriptions"))).status).toBe(200);
  const agents = await svc.call("svc.v1.GrantsService/ListAgentKeys", {}, { bearer: key });
  expect(agents.json.apiKeys).toEqual([]);
  await svc.admin("RevokeApiKey", { id: apiKey.id });
  expect(await portal.call(call("ListSubscriptions"))).toMatchObject({ status: 401, reason: "SESSION_INVALID" });
  const again = await sendAsPage(svc, "/portal/session", { link: link.url.split("#link=")[1] });
  expect(again).toMatchObject({ status: 401, reason: "LINK_INVALID" });
});

test("the pages of one customer make 600 calls in a minute, and those of another are not affected", async () => {
  const [gus, hal] = [
    await openPortal(svc, (await made("CreatePortalLink", { entityId: "busy" })).url),
    await openPortal(svc, (await made("CreatePortalLink", { entityId: "calm" })).url),
  ];
  const answers = await Promise.all(Array.from({ length: 601 }, () => gus.call("svc.v1.IdentityService/GetIdentity")));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused).toHaveLength(1);
  expect(refused[0]).toMatchObject({ status: 429, reason: "PORTAL_CALLS_TOO_MANY" });
  expect((await hal.call("svc.v1.IdentityService/GetIdentity")).status).toBe(200);
});

test("a session of the portal is none of the console, and the other way round", async () => {
  const portal = await openPortal(svc, (await made("CreatePortalLink", { entityId: "eve" })).url);
  const signedIn = await signInToConsole(svc, { key: svc.key });
  const cookie = portal.setCookie.split(";")[0]?.split("=")[1] ?? "";
  const consoleName = signedIn.cookie.split("=")[0];
  const asConsole = { "svc-portal-session": null, "svc-session": portal.half, cookie: `${consoleName}=${cookie}` };
  expect((await portal.call(call("ListSubscriptions"), {}, asConsole)).reason).toBe("SESSION_INVALID");
  const seat = signedIn.seats[0]?.keyId ?? "";
  const asPortal = {
    "svc-session": null,
    "svc-portal-session": signedIn.half,
    cookie: signedIn.cookie.replace(consoleName ?? "", portal.headers["cookie"]?.split("=")[0] ?? ""),
  };
  expect((await signedIn.call(seat, call("ListSubscriptions"), {}, asPortal)).reason).toBe("SESSION_INVALID");
  const link = await made("CreatePortalLink", { entityId: "eve" });
  const signIn = await sendAsPage(svc, "/console/session", { link: link.url.split("#link=")[1] });
  expect(signIn.reason).toBe("LINK_INVALID");
  const foreign = await portal.call(call("ListSubscriptions"), {}, { origin: "https://app.example.com" });
  expect(foreign).toMatchObject({ status: 403, reason: "ORIGIN_REFUSED" });
});

test("the key of a link is listed only when asked for, and its text exists nowhere", async () => {
  const { linkId } = await made("CreatePortalLink", { entityId: "fay" });
  const { projects } = (await svc.admin("ListProjects")).json;
  const projectId = projects[0].id;
  const names = async (more: object) =>
    (await svc.admin("ListApiKeys", { projectId, pageSize: 500, ...more })).json.apiKeys.map(
      ({ name, purpose }: { name: string; purpose: string }) => `${name} ${purpose}`,
    );
  expect(await names({ ofPortalLinks: true })).toContain(`portal link ${linkId} portal`);
  for (const name of await names({})) expect(name).not.toContain("portal");
});

test("a page may be in a frame only of the sites that the project names, and then has a cookie of its own", async () => {
  const https = await startTestServer({
    consoleFolder: folder,
    variables: { SVC_PUBLIC_URL: "https://svc.example.com" },
  });
  try {
    const put = (portal: object) => https.call(call("PutEventSettings"), { settings: { portal } });
    const link = (await https.call(call("CreatePortalLink"), { entityId: "ada" })).json;
    const page = async () => {
      const { pathname } = new URL(link.url);
      const response = await fetch(`${https.url}${pathname}endpoints`);
      expect(await response.text()).toContain('<base href="/portal/">');
      return response.headers.get("content-security-policy") ?? "";
    };
    const open = (body: object, headers: Record<string, string> = {}) =>
      sendAsPage(https, "/portal/session", body, { headers: { origin: "https://svc.example.com", ...headers } });
    const token = { link: link.url.split("#link=")[1] };
    expect(await page()).toContain("frame-ancestors 'none'");
    const plain = await open(token);
    expect(plain.headers.get("set-cookie")).toMatch(/^__Host-svc_portal_443=.*; Path=\/; .*; SameSite=Strict; Secure$/);
    const logo = Buffer.from("\x89PNG\r\n\x1a\n", "latin1").toString("base64");
    await put({ name: "Acme", color: "#1A73E8", logo, origins: ["https://app.example.com", "http://localhost:3000"] });
    await expect
      .poll(page, { timeout: 10_000 })
      .toContain("frame-ancestors https://app.example.com http://localhost:3000;");
    const framed = await open(token);
    const setCookie = framed.headers.get("set-cookie") ?? "";
    expect(setCookie).toMatch(/^__Host-svc_portal_framed_443=.*; SameSite=None; Secure; Partitioned$/);
    expect(framed.json.portal).toEqual({ name: "Acme", color: "#1a73e8", logo: `data:image/png;base64,${logo}` });
    // A browser that also has the cookie of the portal outside of a frame.
    const cookie = `${plain.headers.get("set-cookie")?.split(";")[0]}; ${setCookie.split(";")[0]}`;
    for (const { half } of [plain.json, framed.json])
      expect((await open({}, { cookie, "svc-portal-session": half })).json.seat.entityId).toBe("ada");
    const kept = await https.call(call("PutEventSettings"), {
      settings: { unknownTypes: "UNKNOWN_EVENT_TYPES_CREATE" },
    });
    expect(kept.json.settings).toMatchObject({
      unknownTypes: "UNKNOWN_EVENT_TYPES_CREATE",
      portal: { name: "Acme", logo },
    });
    expect((await put({})).json.settings.portal).toMatchObject({ name: "", color: "", logo: "", origins: [] });
  } finally {
    await https.stop();
  }
});

test.each([
  ["/portal/", 404],
  ["/portal/nobody/", 404],
  ["/portal/assets/nothing.js", 404],
])("%s answers %i", async (path, status) => {
  const response = await fetch(`${svc.url}${path}`);
  expect(response.status).toBe(status);
  expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

test("an export of an entity has its links and endpoints, and an erasure ends all of them", async () => {
  const [link, other] = [
    await made("CreatePortalLink", { entityId: "gus" }),
    await made("CreatePortalLink", { entityId: "hal" }),
  ];
  const [portal, kept] = [await openPortal(svc, link.url), await openPortal(svc, other.url)];
  const { subscription } = (await portal.call(call("CreateSubscription"), endpoint)).json;
  const projectId = portal.seat.projectId;
  const response = await fetch(`${svc.url}/svc.v1.AdminService/ExportEntity`, {
    method: "POST",
    headers: { "content-type": "application/connect+json", authorization: `Bearer ${svc.adminToken}` },
    body: framed(JSON.stringify({ projectId, entityId: "gus" })),
  });
  const exported = await response.text();
  for (const one of [subscription.id, link.linkId, portal.seat.keyId]) expect(exported).toContain(one);
  expect(exported).not.toContain(other.linkId);
  const { erasure } = (await svc.admin("EraseEntity", { projectId, entityId: "gus" })).json;
  const stateOf = async () => (await svc.admin("GetErasure", { id: erasure.id })).json.erasure.state;
  await expect.poll(stateOf, { timeout: 20_000 }).toMatch(/done/i);
  await expect.poll(async () => (await portal.call(call("ListSubscriptions"))).status, { timeout: 10_000 }).toBe(401);
  const rows = await svc.database.db.sql.unsafe<{ left: number }[]>(
    `select (select count(*) from api_keys where entity_id = 'gus') + (select count(*) from subscriptions where entity_id = 'gus')
       + (select count(*) from console_links l where not exists (select from api_keys k where k.id = l.key_id))::int as left`,
  );
  expect(Number(rows[0]?.left)).toBe(0);
  expect((await kept.call(call("ListSubscriptions"))).status).toBe(200);
});

function framed(text: string): Buffer {
  const message = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

test("the audit log names the customer of a link and of what it does as a digest alone", async () => {
  const link = await made("CreatePortalLink", { entityId: "customer-ivy" });
  const portal = await openPortal(svc, link.url);
  const { subscription } = (await portal.call(call("CreateSubscription"), endpoint)).json;
  await made("RevokePortalLinks", { entityId: "customer-ivy" });
  const rows = await svc.database.db.sql.unsafe<{ action: string; subject: string; row: string; about: string }[]>(
    `select action, subject, a::text as row, encode(about_digest, 'hex') as about from audit_events a
     where subject in ($1, $2) or action like '%RevokePortalLinks' order by id`,
    [link.linkId, subscription.id],
  );
  const own = rows.filter(({ about }) => about === rows.find(({ subject }) => subject === link.linkId)?.about);
  expect(own.map(({ action }) => action)).toEqual([
    "TriggersService.CreatePortalLink",
    "TriggersService.CreateSubscription",
    "TriggersService.RevokePortalLinks",
  ]);
  for (const { row } of rows) expect(row).not.toContain("customer-ivy");
});
