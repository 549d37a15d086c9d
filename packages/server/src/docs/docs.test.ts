import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliDecompressSync } from "node:zlib";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Logger } from "../logger.ts";
import { createDocs } from "./docs.ts";

// Tests with the documentation that `npm run setup` has built.
let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_PUBLIC_URL: "https://svc.example.com/tools/svc" } });
});
afterAll(() => svc.stop());

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${svc.url}${path}`, { method, redirect: "manual", headers: { "accept-encoding": "identity", ...headers } });

test.each([
  ["/docs/", "text/html; charset=utf-8", "<title>svc documentation</title>"],
  ["/docs/index.md", "text/markdown; charset=utf-8", "# svc documentation"],
  ["/docs/changelog", "text/html; charset=utf-8", "<title>Changelog · svc</title>"],
  ["/docs/changelog.md", "text/markdown; charset=utf-8", "# Changelog"],
  ["/docs/llms.txt", "text/plain; charset=utf-8", "[Changelog](changelog.md)"],
  ["/docs/llms-full.txt", "text/plain; charset=utf-8", "Page: changelog.md"],
  ["/docs/svc.service", "text/plain; charset=utf-8", "[Unit]"],
  ["/docs/examples/count-deals.json", "application/json", "count"],
])("%s is %s, to anyone", async (path, type, text) => {
  const res = await get(path);
  expect([res.status, res.headers.get("content-type"), res.headers.get("cache-control")]).toEqual([
    200,
    type,
    "no-cache",
  ]);
  expect(await res.text()).toContain(text);
});

test.each([
  ["/docs", "/tools/svc/docs/"],
  ["/docs/changelog/", "/tools/svc/docs/changelog"],
])("%s leads to %s", async (path, location) => {
  const res = await get(path);
  expect([res.status, res.headers.get("location")]).toEqual([302, location]);
});

test("an address without a page has a page that says so, whose links are right at any depth", async () => {
  const res = await get("/docs/guides/no/such-page");
  expect([res.status, res.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  const text = await res.text();
  expect(text).toContain('<base href="/tools/svc/docs/">');
  expect(text).toContain("This page does not exist");
});

test.each([
  "/docs/missing.md",
  "/docs/assets/missing.js",
  "/docs/../package.json",
  "/docs/%2e%2e/package.json",
  "/docs/.vite/manifest.json",
])("%s is no file", async (path) => {
  const answer = await svc.raw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 404 /);
});

test("every answer has the headers of the console", async () => {
  for (const path of ["/docs", "/docs/", "/docs/missing", "/docs/llms.txt"]) {
    for (const method of ["GET", "HEAD", "POST"]) {
      const { headers } = await get(path, {}, method);
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  }
});

test("no page has a script or a style in it, and none loads anything from elsewhere", async () => {
  for (const path of ["/docs/", "/docs/changelog", "/docs/missing"]) {
    const text = await (await get(path)).text();
    const loaded = [...text.matchAll(/<(?:script|link|img)\b[^>]*?\b(?:src|href)="([^"]*)"/g)].map(
      ([, url = ""]) => url,
    );
    expect(loaded.length).toBeGreaterThan(3);
    expect(loaded.filter((url) => /^(?:[a-z]+:|\/\/)/.test(url))).toEqual([]);
    expect(text.match(/<script(?![^>]*src=)|<style|\sstyle="|\son\w+="/g) ?? []).toEqual([]);
  }
});

test("cached pages are not sent again, and assets are cached forever", async () => {
  const page = await get("/docs/");
  expect((await get("/docs/", { "if-none-match": page.headers.get("etag") ?? "" })).status).toBe(304);
  const [, asset = ""] = /src="(assets\/site-[^"]+)"/.exec(await page.text()) ?? [];
  expect((await get(`/docs/${asset}`)).headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
});

test("pages are sent compressed", async () => {
  const answer = await svc.raw(
    "GET /docs/ HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n",
  );
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head.toLowerCase()).toContain("content-encoding: br");
  expect(brotliDecompressSync(Buffer.from(body, "latin1")).toString()).toContain("<title>svc documentation</title>");
});

test("other methods are refused with those that are taken", async () => {
  const res = await get("/docs/", {}, "POST");
  expect([res.status, res.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test.each([{ SVC_DOCS: "off" }, { SVC_ROLE: "worker" }])("with %j there is no documentation", async (variables) => {
  const other = await startTestServer({ variables });
  try {
    for (const path of ["/docs", "/docs/", "/docs/llms.txt"])
      expect((await fetch(`${other.url}${path}`)).status).toBe(404);
  } finally {
    await other.stop();
  }
});

test("files that cannot be read are answered with the id under which the log has the cause", async () => {
  const logged: unknown[] = [];
  const logger = { error: (entry: unknown) => logged.push(entry) } as unknown as Logger;
  // This name is too long for a folder, so reading the folder fails.
  const docs = createDocs({ folder: "x".repeat(300), base: "/docs/", logger, createRequestId: () => "req_1" });
  const server = createServer((req, res) => docs.serve("/docs/", req, res)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const res = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/`);
  expect([res.status, res.headers.get("x-request-id")]).toEqual([500, "req_1"]);
  expect(await res.json()).toMatchObject({ code: "internal", message: expect.stringContaining("req_1") });
  expect(logged).toMatchObject([{ requestId: "req_1", err: { code: "ENAMETOOLONG" } }]);
});
