import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

const script = "export const answer = 42;\n";
const pages = [
  { path: "p/*/jobs/*", files: ["assets/job-1.js", "assets/job-2.css"] },
  { path: "p/*/jobs/new", files: ["assets/new-3.js"] },
  { path: "p/*/home", files: [] },
];
let folder: string;
let svc: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "console-"));
  await mkdir(join(folder, "assets"));
  await mkdir(join(folder, ".vite"));
  const html = (title: string) =>
    `<!doctype html><html><head><base href="/console/" /><title>${title}</title></head></html>`;
  const files: [string, string | Buffer][] = [
    ["index.html", html("index")],
    ["answer.html", html("answer")],
    ["icon.svg", "<svg/>"],
    ["assets/main-abc123.js", script],
    ["assets/main-abc123.js.gz", gzipSync(script)],
    ["assets/notes.exe", "no type of ours"],
    [".vite/manifest.json", "{}"],
    [".vite/pages.json", JSON.stringify(pages)],
  ];
  for (const [path, body] of files) await writeFile(join(folder, path), body);
  svc = await startTestServer({
    variables: { SVC_PUBLIC_URL: "https://svc.example.com/tools/svc" },
    consoleFolder: folder,
  });
});
afterAll(async () => {
  await svc.stop();
  await rm(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${svc.url}${path}`, { method, redirect: "manual", headers: { "accept-encoding": "identity", ...headers } });

test.each([
  ["/console/"],
  ["/console/p/prj_1/tools/messaging_bot.delete_message"],
  ["/console/answer"],
  ["/console/assets/main-abc123.js"],
  ["/console/assets/missing.js"],
  ["/console/session"],
  ["/console"],
])("every answer to %s has the headers of the console, whatever it is", async (path) => {
  for (const method of ["GET", "HEAD", "POST", "PUT"]) {
    const { headers } = await get(path, {}, method);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  }
});

test("a request that the door refuses has the headers too", async () => {
  const res = await get("/console/", { origin: "https://evil.example.com" });
  expect([res.status, res.headers.get("x-content-type-options")]).toEqual([403, "nosniff"]);
});

test.each(["/console/", "/console/p/prj_1/events", "/console/p/prj_1/tools/a.b", "/console/admin/keys/x.y"])(
  "%s is the index page, whose base is where browsers have the console",
  async (path) => {
    const res = await get(path);
    expect(res.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(res.headers.get("cache-control")).toBe("no-cache");
    expect(await res.text()).toBe(
      '<!doctype html><html><head><base href="/tools/svc/console/"><title>index</title></head></html>',
    );
  },
);

test.each([
  [
    "p/prj_1/jobs/job_2",
    "</tools/svc/console/assets/job-1.js>; rel=modulepreload, </tools/svc/console/assets/job-2.css>; rel=preload; as=style; crossorigin",
  ],
  ["p/prj_1/jobs/new", "</tools/svc/console/assets/new-3.js>; rel=modulepreload"],
  ["p/prj_1/jobs", null],
  ["p/prj_1/home", null],
  ["answer", null],
  ["icon.svg", null],
])("the answer to %s names the files that its page needs", async (path, link) => {
  expect((await get(`/console/${path}`)).headers.get("link")).toBe(link);
});

test("the answer page has its own path", async () => {
  expect(await (await get("/console/answer")).text()).toContain("<title>answer</title>");
});

test("in a sandbox the page of the console says so from the first, those of links do not", async () => {
  const sandbox = await startTestServer({ variables: { SVC_SANDBOX: "force" }, consoleFolder: folder });
  try {
    const says = '<meta name="svc-sandbox" content="on">';
    const textOf = async (url: string) => await (await fetch(url)).text();
    expect(await textOf(`${sandbox.url}/console/`)).toContain(says);
    expect(await textOf(`${sandbox.url}/console/answer`)).not.toContain(says);
    expect(await textOf(`${svc.url}/console/`)).not.toContain(says);
  } finally {
    await sandbox.stop();
  }
});

test("a page that the browser has is not sent again", async () => {
  const etag = (await get("/console/")).headers.get("etag") ?? "";
  expect((await get("/console/", { "if-none-match": `"other", ${etag}` })).status).toBe(304);
  expect((await get("/console/", { "if-none-match": '"other"' })).status).toBe(200);
});

test("an asset is cached forever, and compressed if the client accepts that", async () => {
  const path = "/console/assets/main-abc123.js";
  const plain = await get(path);
  expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(plain.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(await plain.text()).toBe(script);
  const zipped = await get(path, { "accept-encoding": "br, gzip" });
  expect([zipped.headers.get("content-encoding"), await zipped.text()]).toEqual(["gzip", script]);
  const refused = await get(path, { "accept-encoding": "gzip;q=0, *" });
  expect(refused.headers.get("content-encoding")).toBeNull();
  expect(refused.headers.get("vary")).toBe("accept-encoding");
});

test("pages are compressed, too", async () => {
  const answer = await svc.raw(
    "GET /console/ HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n",
  );
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head.toLowerCase()).toContain("content-encoding: br");
  expect(brotliDecompressSync(Buffer.from(body, "latin1")).toString()).toContain("<title>index</title>");
});

test("HEAD answers what GET answers, without the body", async () => {
  const [asked, answered] = [await get("/console/icon.svg", {}, "HEAD"), await get("/console/icon.svg")];
  expect(await asked.text()).toBe("");
  for (const name of ["content-length", "content-type", "etag"])
    expect(asked.headers.get(name)).toBe(answered.headers.get(name));
});

test.each([
  "/console/assets/missing.js",
  "/console/missing.js",
  "/console/assets/notes.exe",
  "/console/.vite/manifest.json",
  "/console/../package.json",
  "/console/%2e%2e/package.json",
])("%s is no page and no file", async (path) => {
  const answer = await svc.raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 404 /);
});

test("other methods are refused with those that are taken", async () => {
  const res = await get("/console/p/prj_1/events", {}, "POST");
  expect([res.status, res.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("a browser that opens the address is redirected to the console, other clients get the list of paths", async () => {
  for (const path of ["/", "/console"]) {
    const res = await get(path, { accept: "text/html,application/xhtml+xml" });
    expect([res.status, res.headers.get("location")]).toEqual([302, "/tools/svc/console/"]);
  }
  expect(await (await get("/", { accept: "*/*" })).json()).toMatchObject({ service: "svc" });
});

test("without a build the service runs, and its pages say what the build said and how to build", async () => {
  const unbuilt = await mkdtemp(join(tmpdir(), "console-"));
  await writeFile(join(unbuilt, "build-error.txt"), 'src/main.tsx: "<" expected & missing');
  const other = await startTestServer({ consoleFolder: unbuilt });
  try {
    const res = await fetch(`${other.url}/console/p/prj_1/events`);
    expect(res.status).toBe(503);
    const text = await res.text();
    expect(text).toContain("npm run console:build");
    expect(text).toContain('src/main.tsx: "&lt;" expected &amp; missing');
    expect((await other.call("svc.v1.IdentityService/GetIdentity")).status).toBe(200);
  } finally {
    await other.stop();
    await rm(unbuilt, { recursive: true });
  }
});

test.each([{ SVC_CONSOLE: "off" }, { SVC_ROLE: "worker" }])("with %j there is no console", async (variables) => {
  const other = await startTestServer({ variables, consoleFolder: folder });
  try {
    for (const path of ["/console/", "/console/session", "/console/assets/main-abc123.js"])
      expect((await fetch(`${other.url}${path}`)).status).toBe(404);
    const home = await fetch(`${other.url}/`, { headers: { accept: "text/html" }, redirect: "manual" });
    expect(home.status).toBe(200);
    const answer = await other.call(
      "svc.v1.IdentityService/GetIdentity",
      {},
      {
        bearer: null,
        headers: { "svc-session": "half", "svc-seat": "admin" },
      },
    );
    expect(answer.reason).toBe(variables.SVC_ROLE === undefined ? "API_KEY_MISSING" : "CALL_UNKNOWN");
  } finally {
    await other.stop();
  }
});
