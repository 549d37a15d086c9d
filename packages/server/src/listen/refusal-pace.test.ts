import { gzipSync } from "node:zlib";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRefusalPace } from "./refusal-pace.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_TOOLKITS: fewToolkits } });
});
afterAll(() => server?.stop());

test("an address is refused 32 times at once, then 200 times a second, and waits 10 s at most", () => {
  let nowMs = 0;
  const pace = createRefusalPace(() => nowMs);
  const waits = Array.from({ length: 34 }, () => pace.take("a"));
  expect(waits.slice(0, 32)).toEqual(Array.from({ length: 32 }, () => 0));
  expect(waits.slice(32)).toEqual([5, 10]);
  nowMs = 1_000;
  expect(pace.take("a")).toBe(0);
  for (let refused = 0; refused < 3_000; refused++) pace.take("a");
  expect(pace.take("a")).toBe(10_000);
});

test("refusals of one address do not delay another, unless the node refuses constantly", () => {
  const pace = createRefusalPace(() => 0);
  for (let refused = 0; refused < 100; refused++) pace.take("a");
  expect(pace.take("b")).toBe(0);
  for (let address = 0; address < 200; address++) pace.take(`c${address}`);
  expect(pace.take("d")).toBeGreaterThan(50);
  for (let address = 0; address < 5_000; address++) pace.take(`e${address}`);
  expect(pace.take("f")).toBe(1_000);
});

const list = "/svc.v1.TriggersService/ListSubscriptions";
const json = { "content-type": "application/json" };
const mcp = { ...json, accept: "application/json, text/event-stream" };
const frame = { "content-type": "application/connect+json" };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Kinds of requests that an unknown sender could repeat without end, each with the status of its answer. */
const floods: readonly (readonly [string, string, RequestInit, number])[] = [
  ["calls without a key", list, { headers: json, body: "{}" }, 401],
  [
    "compressed calls without a key",
    list,
    { headers: { ...json, "content-encoding": "gzip" }, body: gzipSync("{}") },
    401,
  ],
  ["calls in the binary form", list, { headers: { "content-type": "application/proto" }, body: "" }, 401],
  ["streams without a key", "/svc.v1.StatsService/WatchProject", { headers: frame, body: "\0\0\0\0\u0002{}" }, 200],
  [
    "streams with a wrong key",
    "/svc.v1.StatsService/WatchProject",
    { headers: { ...frame, ...bearer("no") }, body: "\0\0\0\0\u0002{}" },
    200,
  ],
  ["calls with a wrong key", list, { headers: { ...json, ...bearer("no") }, body: "{}" }, 401],
  [
    "compressed calls with a wrong key",
    list,
    { headers: { ...json, ...bearer("no"), "content-encoding": "gzip" }, body: gzipSync("{}") },
    401,
  ],
  ["MCP without a key", "/mcp", { headers: mcp, body: "{}" }, 401],
  ["MCP with a wrong key", "/mcp", { headers: { ...mcp, ...bearer("no") }, body: "{}" }, 401],
  ["unknown paths", "/nowhere", { body: "x" }, 404],
  ["another method", list, { method: "PUT", body: "{}" }, 405],
  ["another content type", list, { headers: { "content-type": "text/plain" }, body: "{}" }, 415],
  ["posts to a toolkit that is none", "/webhooks/none", { body: "{}" }, 404],
  ["posts to a toolkit whose secret is not set", "/webhooks/calendar?token=no", { body: "{}" }, 403],
  ["large bodies without a key", list, { headers: json, body: "x".repeat(100_000) }, 401],
];

async function refuse(path: string, request: RequestInit): Promise<number> {
  const answer = await fetch(server.url + path, { method: "POST", ...request });
  await answer.arrayBuffer();
  return answer.status;
}

test.each(floods)("%s wait for their refusals", async (_, path, request, status) => {
  const startedMs = performance.now();
  expect(new Set(await Promise.all(Array.from({ length: 100 }, () => refuse(path, request))))).toEqual(
    new Set([status]),
  );
  // Each refusal that was delayed came at least 5 ms after the one before.
  expect(performance.now() - startedMs).toBeGreaterThan((100 - 32) * 5 * 0.9);
});

test("a caller with a key does not wait for refusals of its address", async () => {
  const text = `POST ${list} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;
  let refused = 0;
  for (let connection = 0; connection < 10; connection++) {
    const socket = await server.connect();
    socket.on("data", (data) => {
      refused += String(data).split("HTTP/1.1 401 ").length - 1;
    });
    socket.write(text.repeat(60));
  }
  await expect.poll(() => refused, { timeout: 20_000 }).toBeGreaterThan(32);
  const { status } = await server.call("svc.v1.TriggersService/ListSubscriptions", {});
  expect([status, refused < 600]).toEqual([200, true]);
  await expect.poll(() => refused, { timeout: 20_000 }).toBe(600);
});
