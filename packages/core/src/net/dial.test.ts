import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { AddressRefusedError, createAddressGuard } from "./address-guard.ts";
import { createGuardedAgent, type GuardedAgentOptions, type Route } from "./dial.ts";
import type { ResolveName } from "./guarded-lookup.ts";

// In these tests, 127.0.0.1 is treated as a public address and 127.0.0.2 as a private one, so no test leaves the machine.
const loopbackOne = ["127.0.0.1/32"];

async function startServer(respond: RequestListener, { host = "127.0.0.1", port = 0 } = {}) {
  const requests: IncomingMessage[] = [];
  let connections = 0;
  const server = createServer((req, res) => {
    requests.push(req);
    respond(req, res);
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((listening) => server.listen(port, host, listening));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return { requests, connections: () => connections, port: (server.address() as AddressInfo).port };
}

function startAgent(allowedRanges: string[], options: Partial<GuardedAgentOptions> = {}) {
  const agent = createGuardedAgent({
    guard: createAddressGuard({ allowedRanges }),
    connections: 4,
    connectTimeoutMs: 5_000,
    headersTimeoutMs: 5_000,
    bodyTimeoutMs: 5_000,
    ...options,
  });
  onTestFinished(() => agent.destroy());
  const get = async (origin: string, route: Route = {}) => {
    const { statusCode, headers, body } = await agent.request({ origin, path: "/", method: "GET", route });
    return { statusCode, headers, text: await body.text(), address: route.connection?.remoteAddress };
  };
  return { agent, get };
}

/** Returns a resolver of names. Each call returns the next of these answers; the last answer is repeated. */
function scriptedResolver(...answers: [string[], ...string[][]]) {
  const asked: string[] = [];
  const resolve: ResolveName = async (hostname) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    return answer.map((address) => ({ address, family: 4 }));
  };
  return { asked, resolve };
}

const answerOk: RequestListener = (_req, res) => res.end("ok");

test("a request to an allowed name connects, and its route has the address", async () => {
  const { port, requests } = await startServer(answerOk);
  const { resolve } = scriptedResolver(["127.0.0.1"]);
  const { get } = startAgent(loopbackOne, { resolve });
  const answer = await get(`http://hook.example:${port}`);
  expect(answer).toMatchObject({ statusCode: 200, text: "ok", address: "127.0.0.1" });
  expect(requests[0]?.headers.host).toBe(`hook.example:${port}`);
});

test.each(["127.0.0.1", "2130706433", "0177.0.0.1", "0x7f.1", "127.1", "localhost"])(
  "nothing is dialled for a refused host: %s",
  async (host) => {
    const { port, connections } = await startServer(answerOk);
    const { get } = startAgent([]);
    const route: Route = {};
    await expect(get(`http://${host}:${port}`, route)).rejects.toBeInstanceOf(AddressRefusedError);
    expect(connections()).toBe(0);
    expect(route.connection?.remoteAddress).toBeUndefined();
  },
);

test("one refused address among a name's addresses refuses the name", async () => {
  const { port, connections } = await startServer(answerOk);
  const { resolve } = scriptedResolver(["127.0.0.1", "127.0.0.2"]);
  const { get } = startAgent(loopbackOne, { resolve });
  await expect(get(`http://hook.example:${port}`)).rejects.toMatchObject({
    code: "address_refused",
    address: "127.0.0.2",
    range: "loopback",
  });
  expect(connections()).toBe(0);
});

test("a name that changes its answer is resolved once per connection, and dialled as judged", async () => {
  const allowed = await startServer((_req, res) => res.setHeader("connection", "close").end("allowed"));
  const forbidden = await startServer(answerOk, { host: "127.0.0.2", port: allowed.port });
  const { asked, resolve } = scriptedResolver(["127.0.0.1"], ["127.0.0.2"]);
  const { get } = startAgent(loopbackOne, { resolve });
  const origin = `http://rebinding.example:${allowed.port}`;

  expect(await get(origin)).toMatchObject({ text: "allowed", address: "127.0.0.1" });
  expect(asked).toEqual(["rebinding.example"]);

  await expect(get(origin)).rejects.toMatchObject({ address: "127.0.0.2" });
  expect(asked).toHaveLength(2);
  expect(forbidden.connections()).toBe(0);
});

test("a redirect to a refused address is an answer, not a request", async () => {
  const forbidden = await startServer(answerOk, { host: "127.0.0.2" });
  const location = `http://127.0.0.2:${forbidden.port}/`;
  const { port, requests } = await startServer((_req, res) => res.writeHead(302, { location }).end());
  const { get } = startAgent(["127.0.0.0/8"]);
  const answer = await get(`http://127.0.0.1:${port}`);
  expect(answer).toMatchObject({ statusCode: 302, headers: { location } });
  expect(requests).toHaveLength(1);
  expect(forbidden.connections()).toBe(0);
});

test("requests share a kept connection, and each has its route", async () => {
  const { port, connections } = await startServer(answerOk);
  const { asked, resolve } = scriptedResolver(["127.0.0.1"]);
  const { get } = startAgent(loopbackOne, { resolve, connections: 1 });
  for (let count = 0; count < 3; count += 1) {
    expect(await get(`http://hook.example:${port}`)).toMatchObject({ address: "127.0.0.1" });
  }
  expect(connections()).toBe(1);
  expect(asked).toHaveLength(1);
});

test("if a name has several addresses, the route has the one that answered", async () => {
  const { port } = await startServer(answerOk);
  const { resolve } = scriptedResolver(["127.0.0.3", "127.0.0.1"]); // no server listens on 127.0.0.3
  const { get } = startAgent(["127.0.0.0/8"], { resolve });
  expect(await get(`http://hook.example:${port}`)).toMatchObject({ text: "ok", address: "127.0.0.1" });
});

test("a refused connection leaves the address that was tried", async () => {
  const { port } = await startServer(answerOk);
  const { get } = startAgent(["127.0.0.0/8"]);
  const route: Route = {};
  await expect(get(`http://127.0.0.3:${port}`, route)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(route.connection?.remoteAddress).toBe("127.0.0.3");
});

test("over TLS the route has the address as well, also if the handshake fails", async () => {
  const { port } = await startServer(answerOk); // this server understands only plain HTTP, not TLS
  const { resolve } = scriptedResolver(["127.0.0.1"]);
  const { get } = startAgent(loopbackOne, { resolve });
  const route: Route = {};
  await expect(get(`https://hook.example:${port}`, route)).rejects.toThrow();
  expect(route.connection?.remoteAddress).toBe("127.0.0.1");
});

test("requests beyond the connection limit wait in line", async () => {
  const { port, connections, requests } = await startServer(answerOk);
  const { get } = startAgent(loopbackOne, { connections: 2 });
  const origin = `http://127.0.0.1:${port}`;
  const answers = await Promise.all(Array.from({ length: 20 }, () => get(origin)));
  expect(answers.every(({ text, address }) => text === "ok" && address === "127.0.0.1")).toBe(true);
  expect(requests).toHaveLength(20);
  expect(connections()).toBe(2);
});

test("an answer larger than the limit fails the request", async () => {
  const { port } = await startServer((_req, res) => res.end("x".repeat(2_000)));
  const { get } = startAgent(loopbackOne, { responseBytesMax: 1_000 });
  await expect(get(`http://127.0.0.1:${port}`)).rejects.toMatchObject({
    code: "UND_ERR_RES_EXCEEDED_MAX_SIZE",
  });
});
