import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createAddressGuard, generateSigningSecret, type ResolveName } from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";
import { createTestClock } from "@svc/testing/clock";
import { type Answer, startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createSigningKeys } from "./endpoint.ts";
import { resolveLimits } from "./limits.ts";
import type { OutgoingDelivery } from "./outgoing.ts";
import { isAborted, send } from "./send.ts";
import { Sender } from "./sender.ts";

const receiver = await startTestReceiver();
const agent = agentFor(["127.0.0.0/8"]);
afterAll(async () => {
  await agent.destroy();
  await receiver[Symbol.asyncDispose]();
});

function agentFor(allowedRanges: string[], resolve?: ResolveName): GuardedAgent {
  return createGuardedAgent({
    guard: createAddressGuard({ allowedRanges }),
    connections: 10,
    connectTimeoutMs: 2_000,
    headersTimeoutMs: 5_000,
    bodyTimeoutMs: 5_000,
    ...(resolve === undefined ? {} : { resolve }),
  });
}

function post(
  origin = `http://127.0.0.1:${receiver.port}`,
  options: { agent?: GuardedAgent; timeoutMs?: number } = {},
) {
  const headers = ["content-type", "application/json", "X-Test", "yes"];
  const request = {
    origin,
    path: "/hook?a=1",
    headers,
    body: Buffer.from("{}"),
    timeoutMs: options.timeoutMs ?? 5_000,
  };
  return send(options.agent ?? agent, request);
}

function answered(answer: Answer, timeoutMs?: number) {
  receiver.script(answer);
  return post(undefined, timeoutMs === undefined ? {} : { timeoutMs });
}

/** Starts a TCP server. When it first receives data on a connection, it sends these bytes and then calls `after`. */
async function startRawServer(bytes: string | Buffer, after: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.write(bytes, () => after(socket)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return { origin: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() };
}

test("a request is a POST of the exact body to path and query, with the given headers", async () => {
  receiver.requests.length = 0;
  const attempt = await answered({ status: 204 });
  expect(attempt).toEqual({
    statusCode: 204,
    error: "",
    address: "127.0.0.1",
    responseHeaders: expect.objectContaining({ connection: "keep-alive" }),
    responseBody: "",
  });
  expect(receiver.requests).toMatchObject([{ method: "POST", path: "/hook?a=1", body: Buffer.from("{}") }]);
  expect(receiver.requests[0]?.headers).toMatchObject({ "x-test": "yes", "content-length": "2" });
});

test.each([200, 201, 202, 204, 206, 299])("%i is a success", async (status) => {
  expect(await answered({ status })).toMatchObject({ statusCode: status, error: "" });
});

test.each([300, 304, 400, 401, 404, 410, 418, 429, 500, 503, 599])("%i is a failure with its code", async (status) => {
  expect(await answered({ status })).toMatchObject({ statusCode: status, error: `http_${status}` });
});

test.each([301, 302, 303, 307, 308])("a redirect (%i) is not followed", async (status) => {
  await using target = await startTestReceiver();
  const attempt = await answered({ status, headers: { location: target.url } });
  expect(attempt).toMatchObject({ error: `http_${status}`, responseHeaders: { location: target.url } });
  expect(target.requests).toHaveLength(0);
});

test("an interim answer is not the answer", async () => {
  const attempt = await answered((_req, res) => {
    res.writeProcessing();
    res.writeHead(500).end("no");
  });
  expect(attempt).toMatchObject({ statusCode: 500, error: "http_500", responseBody: "no" });
});

test("a repeated header is kept joined, names in lower case, values up to 1,024 characters", async () => {
  const { responseHeaders } = await answered({ headers: { "X-Many": ["a", "b"], "X-Long": "x".repeat(3_000) } });
  expect(responseHeaders).toMatchObject({ "x-many": "a, b", "x-long": "x".repeat(1_024) });
});

test("kept headers have at most 4,096 bytes together, and one that does not fit is left out whole", async () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x-${index}`, "v".repeat(1_000)]));
  const { responseHeaders } = await answered({ headers: { ...many, "x-last": "fits" } });
  const sizes = Object.entries(responseHeaders).map(([name, value]) => name.length + value.length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(4_096);
  expect(responseHeaders).toMatchObject({ "x-0": "v".repeat(1_000), "x-last": "fits" });
});

test("at most 50 headers are kept", async () => {
  const headers = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`x-${index}`, "v"]));
  expect(Object.keys((await answered({ headers })).responseHeaders)).toHaveLength(50);
});

test("the first 1,024 bytes of the answer are kept", async () => {
  expect((await answered({ status: 500, body: "é".repeat(2_000) })).responseBody).toBe("é".repeat(512));
});

test("a character cut in two is left out; bytes that are not UTF-8 and U+0000 are replaced, which the text says", async () => {
  const cut = await answered({ body: `a${"é".repeat(600)}` });
  expect(cut.responseBody).toBe(`a${"é".repeat(511)}`);
  const binary = await answered({ body: Buffer.from([0, 255, 0, 65, 0xc3]) });
  const note = "(not all of it is text: some bytes are shown as \ufffd)";
  expect(binary.responseBody).toBe(`\ufffd\ufffd\ufffdA\ufffd ${note}`);
  expect((await answered({ body: "a\0b" })).responseBody).toBe(`a\ufffdb ${note}`);
});

test("an answer is shown in the charset that it declares", async () => {
  const headers = { "content-type": "text/plain; charset=iso-8859-1" };
  expect((await answered({ headers, body: Buffer.from("caf\xe9", "latin1") })).responseBody).toBe("café");
});

test("an endless answer is cut off and its status stands", async () => {
  let isClosed = false;
  const attempt = await answered((req, res) => {
    req.socket.once("close", () => {
      isClosed = true;
    });
    const write = () => {
      while (!res.destroyed && res.write("x".repeat(16_384)));
    };
    res.on("drain", write);
    write();
  });
  expect(attempt).toMatchObject({ statusCode: 200, error: "", responseBody: "x".repeat(1_024) });
  await until(() => isClosed);
});

test("an endpoint that does not answer is a timeout", async () => {
  expect(await answered(() => {}, 60)).toMatchObject({ statusCode: 0, error: "timeout", address: "127.0.0.1" });
});

test("an endpoint that never ends its answer is a timeout, and its status is kept", async () => {
  const attempt = await answered((_req, res) => void res.writeHead(200).write("{"), 600);
  expect(attempt).toMatchObject({ statusCode: 200, error: "timeout", responseBody: "{" });
});

test("a request that waits in line for a connection ends at its own timeout, and is never sent", async () => {
  await using slow = await startTestReceiver();
  slow.hold();
  const narrow = createGuardedAgent({
    guard: createAddressGuard({ allowedRanges: ["127.0.0.0/8"] }),
    connections: 1,
    connectTimeoutMs: 2_000,
    headersTimeoutMs: 5_000,
    bodyTimeoutMs: 5_000,
  });
  const origin = `http://127.0.0.1:${slow.port}`;
  const first = post(origin, { agent: narrow });
  await until(() => slow.inFlight() === 1);
  expect(await post(origin, { agent: narrow, timeoutMs: 60 })).toMatchObject({ statusCode: 0, error: "timeout" });
  slow.release();
  expect(await first).toMatchObject({ error: "" });
  await narrow.close();
  expect(slow.requests).toHaveLength(1);
});

test("a port that nobody listens on is connection_refused", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as { port: number };
  closed.close();
  await once(closed, "close");
  expect(await post(`http://127.0.0.1:${port}`)).toMatchObject({
    statusCode: 0,
    error: "connection_refused",
    address: "127.0.0.1",
  });
});

test("a connection that is reset is connection_reset", async () => {
  expect(await answered((req) => req.socket.resetAndDestroy())).toMatchObject({
    statusCode: 0,
    error: "connection_reset",
  });
});

test("a connection that is closed before the answer is connection_closed", async () => {
  expect(await answered((req) => req.socket.destroy())).toMatchObject({ statusCode: 0, error: "connection_closed" });
});

test("a connection that is closed in the middle of the answer is a failure, whatever its status said", async () => {
  const attempt = await answered((req, res) => {
    res.writeHead(200, { "content-length": "100" });
    res.write("half", () => req.socket.destroy());
  });
  expect(attempt).toMatchObject({ statusCode: 200, error: "connection_closed", responseBody: "half" });
});

test.each([
  ["SSH-2.0-OpenSSH_9.2\r\n", "http_malformed"],
  ["HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", "http_malformed"],
  ["HTTP/1.1 200 OK\r\nx-nul: a\0b\r\n\r\n", "http_malformed"],
])("an answer that is not HTTP (%j) is a failure", async (bytes, error) => {
  using server = await startRawServer(bytes, (socket) => socket.end());
  expect(await post(server.origin)).toMatchObject({ error });
});

test("headers without end are a failure with a name of their own", async () => {
  using server = await startRawServer(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(400_000)}`, (socket) => socket.end());
  expect(await post(server.origin)).toMatchObject({ statusCode: 0, error: "headers_too_large" });
});

test("an answer with 64 KiB of headers is an answer", async () => {
  const bytes = `HTTP/1.1 200 OK\r\nx: ${"y".repeat(65_536)}\r\ncontent-length: 0\r\n\r\n`;
  using server = await startRawServer(bytes, (socket) => socket.end());
  expect(await post(server.origin)).toMatchObject({ statusCode: 200, error: "" });
});

test.each(["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"])(
  "what comes before the answer (%j) is neither it nor a failure",
  async (before) => {
    using server = await startRawServer(`${before}HTTP/1.1 204 No Content\r\n\r\n`, (socket) => socket.end());
    expect(await post(server.origin)).toMatchObject({ statusCode: 204, error: "" });
    using silent = await startRawServer(before, (socket) => socket.end());
    expect(await post(silent.origin)).toMatchObject({ statusCode: 0, error: "connection_closed" });
  },
);

test("header values of any byte can be stored as JSON text", async () => {
  const bytes = Buffer.concat([
    Buffer.from("HTTP/1.1 200 OK\r\nx-bytes: "),
    Buffer.from(Array.from({ length: 128 }, (_, index) => 128 + index)),
    Buffer.from("\r\ncontent-length: 0\r\n\r\n"),
  ]);
  using server = await startRawServer(bytes, (socket) => socket.end());
  const attempt = await post(server.origin);
  expect(attempt.error).toBe("");
  expect(JSON.stringify(attempt.responseHeaders).isWellFormed()).toBe(true);
  expect(JSON.stringify(attempt.responseHeaders)).not.toMatch(/\\u(0000|d[89ab])/i);
});

test("an endpoint that speaks no TLS is a tls_error", async () => {
  const { error, statusCode } = await post(`https://127.0.0.1:${receiver.port}`);
  expect(statusCode).toBe(0);
  expect(error).toMatch(/^tls_error/);
});

test("a certificate that nobody vouches for is a tls_error", async () => {
  await using secure = await startTestReceiver({ tls: selfSigned });
  expect(await post(`https://127.0.0.1:${secure.port}`)).toMatchObject({
    statusCode: 0,
    error: "tls_error: DEPTH_ZERO_SELF_SIGNED_CERT",
  });
  expect(secure.requests).toHaveLength(0);
});

test("an address that is not public is refused before anything is dialled", async () => {
  const guarded = agentFor([]);
  receiver.requests.length = 0;
  expect(await post(undefined, { agent: guarded })).toEqual({
    statusCode: 0,
    error: "address_refused: 127.0.0.1 is not a public address (loopback)",
    address: "",
    responseHeaders: {},
    responseBody: "",
  });
  expect(receiver.requests).toHaveLength(0);
  await guarded.close();
});

test("a name is judged by every address it leads to, at every attempt", async () => {
  const answers = [["93.184.216.34", "10.0.0.8"], ["127.0.0.1"]];
  const guarded = agentFor(["127.0.0.0/8"], async () =>
    (answers.shift() ?? []).map((address) => ({ address, family: 4 })),
  );
  const origin = `http://rebinding.example.com:${receiver.port}`;
  receiver.script({ headers: { connection: "close" } });
  const [first, second] = [await post(origin, { agent: guarded }), await post(origin, { agent: guarded })];
  expect(first.error).toBe(
    'address_refused: "rebinding.example.com" leads to 10.0.0.8, which is not a public address (private)',
  );
  expect(second).toMatchObject({ error: "", address: "127.0.0.1" });
  await guarded.close();
});

test("a name that does not exist is dns_not_found", async () => {
  const guarded = agentFor([], async () => []);
  expect(await post("http://nowhere.example.com", { agent: guarded })).toMatchObject({ error: "dns_not_found" });
  await guarded.close();
});

test("an attempt that is broken off says so, and its connection is closed", async () => {
  receiver.script({});
  receiver.hold();
  let abort = () => {};
  const request = {
    origin: `http://127.0.0.1:${receiver.port}`,
    path: "/",
    headers: [],
    body: Buffer.alloc(0),
    timeoutMs: 5_000,
  };
  const attempt = send(agent, request, (given) => {
    abort = given;
  });
  await until(() => receiver.inFlight() === 1);
  abort();
  expect(isAborted(await attempt)).toBe(true);
  await until(() => receiver.inFlight() === 0);
  receiver.release();
});

/** A test certificate for 127.0.0.1, valid until the year 2126. */
const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+mR7QDL/R0AJ5c9s
JZjzwGhRjAcgBNf9yz8nICeb4WWhRANCAAQMde9lfdM75L8gotnUYlb9DvWEztlK
qQWhjf3kvrehm/arg/CAf8bdPIQKjL0zQB/fXmTT49B8zIf6M9m44V9M
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmjCCAUCgAwIBAgITNRLkWjv7MfBf5Ez4xvD0isGXsDAKBggqhkjOPQQDAjAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwIBcNMjYxMTIxMTM1NTEzWhgPMjEyNjEwMjgx
MzU1MTNaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABAx172V90zvkvyCi2dRiVv0O9YTO2UqpBaGN/eS+t6Gb9quD8IB/xt08
hAqMvTNAH99eZNPj0HzMh/oz2bjhX0yjbzBtMB0GA1UdDgQWBBTaYNfUDCHtWaWk
W/dnGb82cKZdijAfBgNVHSMEGDAWgBTaYNfUDCHtWaWkW/dnGb82cKZdijAPBgNV
HRMBAf8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAKBggqhkjO
PQQDAgNIADBFAiEA6o0XTJCmmiW3NIvMSUz79QyeWkKaTRDomV/JB9iZfy4CIEAi
Dz4qg15krcIovuxcjVgHK1zbCquQoD00TGpduXSL
-----END CERTIFICATE-----`,
};

test("the request for a token is a part of the attempt's time, because an attempt ends before its lease", async () => {
  const clock = createTestClock();
  const limits = resolveLimits({ endpointConcurrency: 4, retryScheduleMs: [1_000] });
  await using tokens = await startTestReceiver();
  tokens.script((_req, res) => {
    clock.advance(limits.attemptTimeoutMs - 50);
    res.writeHead(200, { "content-type": "application/json" }).end('{"access_token":"t","token_type":"Bearer"}');
  });
  await using silent = await startTestReceiver();
  silent.hold();
  const sender = new Sender({
    guard: createAddressGuard({ allowedRanges: ["127.0.0.0/8"] }),
    clock,
    limits,
    observer: { authenticated: () => {} },
  });
  const auth = { kind: "oauth2", tokenUrl: tokens.url, clientId: "svc", clientSecret: "s", scope: "", audience: "" };
  const endpoint = {
    origin: `http://127.0.0.1:${silent.port}`,
    path: "/",
    keys: createSigningKeys(generateSigningSecret()),
  };
  const delivery = { id: "dlv_1", messageId: "dlv_1", body: Buffer.from("{}") };
  const startedMs = performance.now();
  const attempt = await sender.send(
    { ...delivery, endpoint: { ...endpoint, credentials: { headers: [], auth } } } as unknown as OutgoingDelivery,
    clock.now(),
  );
  expect(attempt.error).toBe("timeout");
  expect(performance.now() - startedMs).toBeLessThan(limits.attemptTimeoutMs / 2);
  silent.release();
  await sender.close();
});
