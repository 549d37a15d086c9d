import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";

// The server card of MCP, by SEP-2127 and its schema of version 1.

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server?.stop());

const get = (init: RequestInit = {}) => fetch(`${server.url}/mcp/server-card`, init);

test("a client reads the card from any page, without a key, and connects by it", async () => {
  const answer = await get({
    headers: { origin: "https://editor.example", accept: "application/mcp-server-card+json" },
  });
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/mcp-server-card+json",
    "cache-control": "public, max-age=3600",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag",
  });
  const card = (await answer.json()) as Record<string, unknown> & {
    remotes: { url: string; supportedProtocolVersions: string[] }[];
  };
  expect(Object.keys(card).toSorted()).toEqual(["$schema", "description", "name", "remotes", "title", "version"]);
  expect(card["name"]).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(String(card["description"]).length).toBeLessThanOrEqual(100);
  const [remote] = card.remotes;
  expect(remote).toMatchObject({ type: "streamable-http", url: `${server.url}/mcp` });

  // What the server says of itself is what the card says, in both families of revisions.
  const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
  const ask = async (body: object, more: Record<string, string> = {}) =>
    (
      await fetch(remote?.url ?? "", { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) })
    ).json();
  const older = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
  const { result } = (await ask({ jsonrpc: "2.0", id: 1, method: "initialize", params: older })) as {
    result: { serverInfo: Record<string, string> };
  };
  const { name = "", title, version } = result.serverInfo;
  expect(card).toMatchObject({ title, version });
  expect(String(card["name"]).split("/")[1]).toBe(name);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const newer = (await ask(
    { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta } },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" },
  )) as { result: { supportedVersions: string[] } };
  expect(remote?.supportedProtocolVersions).toEqual(expect.arrayContaining(newer.result.supportedVersions));
  expect(remote?.supportedProtocolVersions).toContain("2025-11-25");
});

test("a client that has the card is told that it has not changed, and only reads it", async () => {
  const etag = (await get()).headers.get("etag") ?? "";
  const again = await get({ headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const asked = await get({ method: "OPTIONS", headers: { origin: "https://editor.example" } });
  expect([asked.status, asked.headers.get("access-control-allow-headers")]).toEqual([
    204,
    "Content-Type, If-None-Match, MCP-Protocol-Version",
  ]);
  const posted = await get({ method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
});

test("the card names the public address of the service", async () => {
  const named = await startTestServer({ variables: { SVC_PUBLIC_URL: "https://svc.example.com" } });
  const card = (await (await fetch(`${named.url}/mcp/server-card`)).json()) as {
    name: string;
    remotes: { url: string }[];
  };
  await named.stop();
  expect([card.name, card.remotes[0]?.url]).toEqual(["com.example.svc/svc", "https://svc.example.com/mcp"]);
});
