import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { builtFolder } from "@svc/console";
import { signInToConsole } from "@svc/testing/console-session";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

// Tests that every response below /console/ has the required headers. They cover all built files and all refusals.
let svc: TestServer;
let built: string[];
beforeAll(async () => {
  const entries = await readdir(builtFolder, { recursive: true, withFileTypes: true });
  built = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(builtFolder.length + 1));
  svc = await startTestServer();
});
afterAll(() => svc.stop());

/** The required headers of the console. */
const wanted = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Sends a request to a path below `/console/`, checks the headers of the answer, and returns its status. */
async function statusOf(
  path: string,
  { headers = {}, ...init }: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<number> {
  const res = await fetch(`${svc.url}${path}`, { redirect: "manual", ...init, headers });
  await res.arrayBuffer();
  const had = Object.fromEntries(Object.keys(wanted).map((name) => [name, res.headers.get(name)]));
  expect(had, `${init.method ?? "GET"} ${path} answered ${res.status}`).toEqual(wanted);
  // A refusal must not be cached, because the file may exist in the next version.
  if (res.status >= 400) expect(res.headers.get("cache-control"), path).toBe("no-store");
  return res.status;
}

/** Sends a request as raw bytes, checks the headers of the answer, and returns its status. */
async function statusOfRaw(lines: readonly string[]): Promise<number> {
  const answer = await svc.raw(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
  const [status = "", ...had] = (answer.split("\r\n\r\n")[0] ?? "").split("\r\n");
  for (const [name, value] of Object.entries(wanted)) {
    expect(
      had.map((line) => line.replace(/^[^:]*/, (one) => one.toLowerCase())),
      lines.join(" | "),
    ).toContain(`${name}: ${value}`);
  }
  return Number(status.split(" ")[1]);
}

const ownOrigin = () => ({ origin: new URL(svc.url).origin });
const json = { "content-type": "application/json" };
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  statusOf(path, { method: "POST", body: JSON.stringify(body), headers: { ...json, ...ownOrigin(), ...headers } });

test("each file that was built, plain and compressed, asked for again, and by HEAD", async () => {
  const files = built.filter((path) => !/\.(?:br|gz)$/.test(path) && !path.startsWith("."));
  expect(files.length).toBeGreaterThan(50);
  for (const path of files) {
    for (const encoding of ["identity", "gzip", "br"])
      expect(await statusOf(`/console/${path}`, { headers: { "accept-encoding": encoding } })).toBe(200);
    expect(await statusOf(`/console/${path}`, { method: "HEAD" })).toBe(200);
    const again = await statusOf(`/console/${path}`, { headers: { "if-none-match": "*" } });
    expect(again).toBe(path.startsWith("assets/") ? 200 : 304);
  }
});

test("what lies beside them and is no file of the console", async () => {
  for (const path of built.filter((one) => /\.(?:br|gz)$/.test(one) || one.startsWith(".")))
    expect(await statusOf(`/console/${path}`)).toBe(404);
  for (const path of ["assets/", "assets/none.js", "none.js", "index.html/none.js", "%2e%2e%2fpackage.json", "%zz.js"])
    expect(await statusOf(`/console/${path}`)).toBe(404);
});

test("pages: the index at every path, those of links, and the way to them", async () => {
  const pages = ["", "p/prj_1/events?open=evt_1", "p/prj_1/tools/a.b", "admin/projects", "none", "answer", "connect"];
  for (const path of pages) {
    for (const method of ["GET", "HEAD"]) expect(await statusOf(`/console/${path}`, { method })).toBe(200);
    const headers = { "if-none-match": "*" };
    for (const method of ["GET", "HEAD"]) expect(await statusOf(`/console/${path}`, { method, headers })).toBe(304);
  }
  for (const method of ["GET", "HEAD", "POST"]) expect(await statusOf("/console", { method })).toBe(302);
  expect(await statusOf("/console?from=here")).toBe(302);
});

test("methods that are not taken", async () => {
  for (const path of ["", "p/prj_1/events", "assets/none.js", "session", "answer", "connect"]) {
    for (const method of ["PUT", "PATCH", "OPTIONS", ...(path === "session" ? ["GET", "HEAD"] : ["DELETE"])])
      expect([path, method, await statusOf(`/console/${path}`, { method })]).toEqual([path, method, 405]);
  }
});

test("what pages post: taken, malformed, of another type, too large, and by whom nobody knows", async () => {
  expect(await post("/console/session", { key: svc.key })).toBe(200);
  const { cookie, half } = await signInToConsole(svc, { key: svc.key });
  expect(
    await statusOf("/console/session", { method: "DELETE", headers: { cookie, "svc-session": half, ...ownOrigin() } }),
  ).toBe(200);
  expect(await statusOf("/console/session", { method: "DELETE", headers: ownOrigin() })).toBe(401);
  expect(await statusOf("/console/session", { method: "DELETE" })).toBe(403);
  expect(await post("/console/session", {})).toBe(401);
  for (const path of ["/console/session", "/console/answer", "/console/connect"]) {
    expect(await post(path, { key: "svc_wrong", token: "dead" })).toBe(401);
    expect(await post(path, [])).toBe(400);
    const headers = { ...json, ...ownOrigin() };
    expect(await statusOf(path, { method: "POST", headers, body: "{" })).toBe(400);
    expect(await post(path, {}, { "content-type": "text/plain" })).toBe(415);
    // Both requests come from one address and share its limit, so either refusal is possible.
    expect([413, 429]).toContain(await post(path, { key: "k".repeat(20_000) }));
  }
});

test("whom the door refuses, and who tries too often", async () => {
  for (const path of ["/console/", "/console/answer", "/console/session", "/console/assets/none.js"]) {
    const headers = { origin: "https://evil.example.com" };
    expect(await statusOf(path, { headers })).toBe(403);
    expect(await post(path, {}, headers)).toBe(403);
    expect(await statusOfRaw([`GET ${path} HTTP/1.1`, "Host: evil.example.com"])).toBe(403);
    expect(await statusOfRaw([`GET ${path} HTTP/1.1`])).toBe(400);
  }
  const tries = async () => post("/console/session", { key: "svc_wrong" });
  let status = await tries();
  for (let n = 0; n < 20 && status !== 429; n += 1) status = await tries();
  expect(status).toBe(429);
});

test("what is asked of the server itself, of another protocol, or in another form", async () => {
  const host = "Host: 127.0.0.1";
  expect(await statusOfRaw(["GET /console/ HTTP/1.1", host, "Expect: a-miracle"])).toBe(200);
  expect(await statusOfRaw(["GET /console/ HTTP/1.1", host, "Connection: upgrade", "Upgrade: websocket"])).toBe(200);
  expect(await statusOfRaw(["GET /console/ HTTP/1.0", host])).toBe(200);
  expect(await statusOfRaw(["GET http://127.0.0.1/console/ HTTP/1.1", host])).toBe(200);
});

test("nothing that was built names another host to load from", async () => {
  const elsewhere = {
    ".html": /(?:src|href|srcset|content|action)\s*=\s*["']?\s*(?:[a-z]+:)?\/\/[^"'\s>]*/gi,
    ".css": /(?:url\(\s*["']?|@import\s*["'])\s*(?:[a-z]+:)?\/\/[^)"']*/gi,
    ".svg": /(?:href|src)\s*=\s*["'](?:[a-z]+:)?\/\/[^"']*|url\(\s*["']?(?:[a-z]+:)?\/\/[^)]*/gi,
    // Patterns for addresses that a file makes the browser load. A text that merely contains an address, such as a namespace, does not
    // match.
    ".js": /(?:\bimport\s*\(?|\bfrom|\bfetch\(|\bimportScripts\(|\bWorker\(|\bsrc\s*=)\s*["'`](?:[a-z]+:)?\/\/[^"'`]*/g,
  };
  for (const [ending, pattern] of Object.entries(elsewhere)) {
    const files = built.filter((path) => path.endsWith(ending));
    expect(files.length, ending).toBeGreaterThan(0);
    for (const path of files)
      expect([path, (await readFile(join(builtFolder, path), "utf8")).match(pattern)]).toEqual([path, null]);
  }
  // Every kind of file that the console serves was checked.
  const kinds = new Set(built.filter((path) => !path.startsWith(".")).map((path) => extname(path)));
  expect(Array.from(kinds).sort()).toEqual([".br", ".css", ".gz", ".html", ".js", ".svg"]);
});
