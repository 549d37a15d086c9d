import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { createAddressGuard, createId } from "@svc/core";
import { expect, onTestFinished, test } from "vitest";
import type { AppCall, AppRequest } from "./app-transport.ts";
import { createAppTransport } from "./network-transport.ts";

// A call with the only fields that the network transport reads: the project, and whether the toolkit is private.
const call = { projectId: createId("prj", 1), toolkit: { ownerProjectId: "" } } as AppCall;

async function startServer(respond: RequestListener) {
  const seen: string[] = [];
  let connections = 0;
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    respond(req, res);
  });
  server.on("connection", () => connections++);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return {
    seen,
    server,
    connections: () => connections,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
}

/** Starts a TCP server. `accept` gets each new connection. */
async function startTcpServer(accept: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    accept(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function startTransport(allowedRanges = ["127.0.0.1/32"]) {
  const transport = createAppTransport({ guard: createAddressGuard({ allowedRanges }) });
  onTestFinished(() => transport.close());
  return (url: string, changes: Partial<AppRequest> = {}, timeoutMs = 5_000) =>
    transport.send({ method: "GET", url, headers: {}, body: undefined, ...changes }, call, { timeoutMs });
}

test("a request arrives as it was built, and the answer as it was given", async () => {
  let body = "";
  const { url, seen } = await startServer((req, res) => {
    req.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    req.on("end", () => res.writeHead(201, { "X-Two": ["a", "b"], "content-type": "text/plain" }).end("bytes"));
  });
  const send = startTransport();
  const answer = await send(`${url}/a%2Fb?x=1&x=2`, { method: "PATCH", headers: { "x-key": "k" }, body: '{"a":"ü"}' });
  expect(answer).toMatchObject({
    kind: "answer",
    status: 201,
    headers: { "x-two": "a, b", "content-type": "text/plain" },
  });
  expect(answer.kind === "answer" && answer.body.toString()).toBe("bytes");
  expect(seen).toEqual(["PATCH /a%2Fb?x=1&x=2"]);
  expect(body).toBe('{"a":"ü"}');
});

test.each([
  ["http://127.0.0.2:1/", /127\.0\.0\.2/],
  ["http://[::1]:1/", /::1/],
  ["http://169.254.169.254/latest", /metadata/],
  ["http://localhost:1/", /localhost/],
  ["ftp://127.0.0.1/", /not an http/],
  ["http://user:pw@127.0.0.1/", /not an http/],
  ["nonsense", /not an http/],
])("%s is refused and not dialled", async (url, message) => {
  expect(await startTransport(["127.0.0.3/32"])(url)).toMatchObject({
    kind: "refused",
    message: expect.stringMatching(message),
  });
});

test("a port that nobody listens on, and a name without an address, are unreachable", async () => {
  const { url, server } = await startServer(() => {});
  await new Promise((closed) => server.close(closed));
  const send = startTransport();
  expect(await send(url)).toEqual({ kind: "unreachable", message: "the connection was refused" });
  expect(await send("http://nowhere.invalid/")).toMatchObject({ kind: "unreachable" });
});

test("a server that speaks no TLS is unreachable: nothing was sent", async () => {
  const { url, seen } = await startServer((_req, res) => res.end());
  expect(await startTransport()(url.replace("http:", "https:"))).toMatchObject({ kind: "unreachable" });
  expect(seen).toEqual([]);
});

test.each([
  ["before the headers", (socket: Socket) => socket.destroy()],
  ["within the headers", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Le")],
  ["within the body", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")],
  ["with something that is not HTTP", (socket: Socket) => socket.end("hello\r\n\r\n")],
])("a connection that ends %s is broken, and the request may have been carried out", async (_where, end) => {
  const url = await startTcpServer((socket) => socket.once("data", () => end(socket)));
  expect(await startTransport()(url, { method: "POST", body: "{}" })).toMatchObject({ kind: "broken", sent: true });
});

test("an answer that does not come, or does not end, in time is a timeout", async () => {
  const send = startTransport();
  const silent = await startTcpServer(() => {});
  expect(await send(silent, {}, 200)).toMatchObject({ kind: "timeout", sent: true });
  const endless = await startServer((_req, res) => {
    res.write("{");
    const timer = setInterval(() => res.write(" "), 5);
    res.on("close", () => clearInterval(timer));
  });
  expect(await send(endless.url, {}, 300)).toMatchObject({ kind: "timeout", sent: true });
});

test("a request that waits for its turn until its time is over was not sent", async () => {
  const { url, seen } = await startServer(() => {});
  const send = startTransport();
  const busy = Array.from({ length: 32 }, () => send(url, {}, 1_500));
  while (seen.length < 32) await new Promise((resolve) => setImmediate(resolve));
  expect(await send(`${url}/late`, { method: "POST" }, 100)).toMatchObject({ kind: "timeout", sent: false });
  await Promise.all(busy);
  expect(seen).not.toContain("POST /late");
});

test("an answer of 100 MB is cut off at 8 MiB, declared or not, and its connection with it", async () => {
  let written = 0;
  const chunk = Buffer.alloc(1024 * 1024);
  const { url } = await startServer((req, res) => {
    if (req.url === "/declared") res.writeHead(200, { "content-length": 100 * chunk.byteLength });
    const write = () => {
      if (res.destroyed || written >= 100) return;
      written++;
      res.write(chunk, write);
    };
    write();
  });
  const send = startTransport();
  expect(await send(url)).toEqual({ kind: "too_large", status: 200 });
  expect(written).toBeLessThan(60);
  written = 0;
  expect(await send(`${url}/declared`)).toEqual({ kind: "too_large", status: 200 });
});

test("an answer of exactly 8 MiB is whole", async () => {
  const { url } = await startServer((_req, res) => res.end(Buffer.alloc(8 * 1024 * 1024)));
  const answer = await startTransport()(url);
  expect(answer.kind === "answer" && answer.body.byteLength).toBe(8 * 1024 * 1024);
});

test("a GET follows up to three redirects within its origin, with its headers", async () => {
  const keys: unknown[] = [];
  const { url, seen } = await startServer((req, res) => {
    keys.push(req.headers["x-key"]);
    const step = Number(req.url?.slice(1));
    res.writeHead(302, { location: `/${step + 1}` }).end();
  });
  const answer = await startTransport()(`${url}/0`, { headers: { "x-key": "k" } });
  expect(answer).toMatchObject({ kind: "answer", status: 302, headers: { location: "/4" } });
  expect(seen).toEqual(["GET /0", "GET /1", "GET /2", "GET /3"]);
  expect(keys).toEqual(["k", "k", "k", "k"]);
});

test("a redirect to another origin, or of another method, is the answer", async () => {
  const other = await startServer((_req, res) => res.end("stolen"));
  const { url, seen } = await startServer((req, res) => {
    res.writeHead(307, { location: req.url === "/out" ? `${other.url}/x` : "/again" }).end();
  });
  const send = startTransport();
  expect(await send(`${url}/out`)).toMatchObject({ kind: "answer", status: 307 });
  expect(await send(`${url}/post`, { method: "POST", body: "{}" })).toMatchObject({ kind: "answer", status: 307 });
  expect(other.seen).toEqual([]);
  expect(seen).toEqual(["GET /out", "POST /post"]);
});

test.each([{ "x-key": "a\r\nx-evil: 1" }, { "x-key\r\nx-evil": "1" }, { "x key": "1" }])(
  "headers %j write nothing",
  async (headers) => {
    const { url, seen } = await startServer((_req, res) => res.end());
    expect(await startTransport()(url, { headers })).toMatchObject({ kind: "unreachable" });
    expect(seen).toEqual([]);
  },
);

test("a method that is none writes nothing", async () => {
  const { url, seen } = await startServer((_req, res) => res.end());
  expect(await startTransport()(url, { method: "GET / HTTP/1.1\r\nx: y" })).toMatchObject({ kind: "unreachable" });
  expect(seen).toEqual([]);
});

test("connections are kept and used again", async () => {
  const { url, connections } = await startServer((_req, res) => res.end("ok"));
  const send = startTransport();
  for (let n = 0; n < 5; n++) expect(await send(url)).toMatchObject({ kind: "answer", status: 200 });
  // When the second request is sent, the connection of the first may not be free yet. So there may be two connections.
  expect(connections()).toBeLessThanOrEqual(2);
});

test("a request on a kept connection that the server closes at that moment is not claimed to be unsent", async () => {
  let answered = 0;
  const url = await startTcpServer((socket) => {
    socket.on("data", () => {
      // The server closes the connection while the second request uses it.
      if (answered++ > 0) return socket.destroy();
      return socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok");
    });
  });
  const send = startTransport();
  expect(await send(url)).toMatchObject({ kind: "answer", status: 200 });
  expect(await send(url, { method: "POST", body: "{}" })).toMatchObject({ kind: "broken", sent: true });
});

test("a kept connection that the server closed before is not used again", async () => {
  const { url, server } = await startServer((_req, res) => res.end("ok"));
  const send = startTransport();
  await send(url);
  server.closeAllConnections();
  for (let n = 0; n < 3; n++) {
    expect(await send(url, { method: "POST", body: "{}" })).toMatchObject({ kind: "answer", status: 200 });
  }
});

test("an interim answer is not the answer", async () => {
  const url = await startTcpServer((socket) => {
    socket.once("data", () =>
      socket.write("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    );
  });
  expect(await startTransport()(url)).toMatchObject({
    kind: "answer",
    status: 200,
    headers: { "content-length": "2" },
  });
});

const text = Buffer.from(JSON.stringify({ id: "caf\u00e9".repeat(500) }));

test.each<[string, Buffer]>([
  ["gzip", gzipSync(text)],
  ["x-gzip", gzipSync(text)],
  [" GZIP ", gzipSync(text)],
  ["deflate", deflateSync(text)],
  ["deflate", deflateRawSync(text)],
  ["br", brotliCompressSync(text)],
  ["identity", text],
  ["gzip, br", brotliCompressSync(gzipSync(text))],
  ["identity, gzip", gzipSync(text)],
])("an answer that is encoded by %j is decoded", async (coding, body) => {
  const { url } = await startServer((req, res) => {
    res.writeHead(200, { "content-encoding": coding, "x-asked": req.headers["accept-encoding"] ?? "" }).end(body);
  });
  const answer = await startTransport()(url);
  expect(answer).toMatchObject({ kind: "answer", headers: { "x-asked": "gzip, deflate, br" } });
  expect(answer.kind === "answer" && answer.body.equals(text)).toBe(true);
  expect(answer).not.toHaveProperty("unreadable");
});

test.each<[string, Buffer]>([
  ["gzip", text],
  ["gzip", gzipSync(text).subarray(0, 40)],
  ["zstd", text],
  ["br, compress", text],
])("an answer that is not what its coding (%j) says stays as it came, and says why", async (coding, body) => {
  const { url } = await startServer((_req, res) => res.writeHead(201, { "content-encoding": coding }).end(body));
  const answer = await startTransport()(url);
  expect(answer).toMatchObject({ kind: "answer", status: 201, unreadable: expect.any(String) });
});

test("an answer without a body has nothing to decode", async () => {
  const { url } = await startServer((_req, res) => res.writeHead(204, { "content-encoding": "gzip" }).end());
  expect(await startTransport()(url)).toMatchObject({ kind: "answer", status: 204, body: Buffer.alloc(0) });
});

test.each(["gzip", "br", "gzip, gzip"])(
  "a bomb (%s) is cut off at 8 MiB, and many at once take no more memory than their turns",
  async (coding) => {
    const zeros = Buffer.alloc(100 * 1024 * 1024);
    const once =
      coding === "br"
        ? brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
        : gzipSync(zeros);
    const body = coding === "gzip, gzip" ? gzipSync(once) : once;
    const { url } = await startServer((_req, res) => res.writeHead(200, { "content-encoding": coding }).end(body));
    const send = startTransport();
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(url, {}, 60_000)));
    expect(answers).toEqual(answers.map(() => ({ kind: "too_large", status: 200 })));
  },
);

test("an answer that names its own coding wish keeps it", async () => {
  const { url } = await startServer((req, res) => res.end(req.headers["accept-encoding"]));
  const answer = await startTransport()(url, { headers: { "accept-encoding": "identity" } });
  expect(answer.kind === "answer" && answer.body.toString()).toBe("identity");
});

test("1xx, large headers and folded lines of an app are read; headers without bound are a failure with a name", async () => {
  const before = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n";
  const headers = `X-Long: ${"x".repeat(65_536)}\r\nX-Two: a\r\n b\r\n`;
  const answerWith = (bytes: string) => startTcpServer((socket) => void socket.once("data", () => socket.write(bytes)));
  const send = startTransport();
  const good = await answerWith(`${before}HTTP/1.1 200 OK\r\n${headers}Content-Length: 2\r\n\r\n{}`);
  expect(await send(good, { method: "POST", body: "{}" })).toMatchObject({
    kind: "answer",
    headers: { "x-two": "a b" },
  });
  const endless = await answerWith(`HTTP/1.1 200 OK\r\n${`X: ${"x".repeat(8_000)}\r\n`.repeat(40)}\r\n`);
  expect(await send(endless, { method: "POST", body: "{}" })).toEqual({
    kind: "broken",
    sent: true,
    message: "the answer's headers are larger than 256 KiB",
  });
});
