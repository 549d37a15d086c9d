import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPublicFile, jsonFile } from "./public-files.ts";

let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer();
});
afterAll(() => svc?.stop());

const paths: readonly (readonly [path: string, type: string, cacheControl: string])[] = [
  ["/openapi.json", "application/json", "no-cache"],
  ["/schemas/program.v1.json", "application/schema+json", "public, max-age=3600"],
  ["/schemas/standing.v1.json", "application/schema+json", "public, max-age=3600"],
  ["/mcp/server-card", "application/mcp-server-card+json", "public, max-age=3600"],
  ["/.well-known/oauth-protected-resource", "application/json", "no-store"],
  ["/.well-known/oauth-protected-resource/mcp", "application/json", "no-store"],
  ["/.well-known/oauth-authorization-server", "application/json", "no-store"],
];

test.each(paths)("a page of another origin reads %s without a key", async (path, type, cacheControl) => {
  const ask = (method: string, headers: Record<string, string> = {}) =>
    fetch(`${svc.url}${path}`, { method, headers: { origin: "https://editor.example", ...headers } });
  const answer = await ask("GET", { "mcp-protocol-version": "2025-11-25" });
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": type,
    "cache-control": cacheControl,
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag",
  });
  expect(await answer.json()).toBeInstanceOf(Object);
  const etag = answer.headers.get("etag") ?? "";
  const again = await ask("GET", { "if-none-match": etag });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const head = await ask("HEAD");
  expect([head.status, await head.text(), head.headers.get("etag")]).toEqual([200, "", etag]);
  const preflight = await ask("OPTIONS", { "access-control-request-headers": "mcp-protocol-version" });
  expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([
    204,
    "Content-Type, If-None-Match, MCP-Protocol-Version",
  ]);
  const posted = await ask("POST");
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
});

test("a page of another origin may not read what is not public", async () => {
  const answer = await fetch(`${svc.url}/mcp`, { method: "POST", headers: { origin: "https://editor.example" } });
  expect(answer.status).toBe(403);
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
});

test("a file that cannot be read is answered with an error, which is logged, and is read again for the next request", async () => {
  const logged: unknown[] = [];
  let asked = 0;
  const publicFile = createPublicFile({
    logger: { error: (line: unknown) => logged.push(line) } as never,
    createRequestId: () => "req_1",
  });
  const handler = publicFile(() => {
    asked += 1;
    if (asked === 1) throw new Error("the disk failed");
    return asked === 2 ? Promise.reject(new Error("the disk failed")) : jsonFile("application/json", "{}");
  });
  const server = createServer(handler as RequestListener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    for (const _time of [1, 2]) {
      const failed = await fetch(url);
      expect([failed.status, failed.headers.get("x-request-id")]).toEqual([500, "req_1"]);
    }
    expect(logged).toHaveLength(2);
    expect(await (await fetch(url)).json()).toEqual({});
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
