import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { systemClock } from "@svc/core";
import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../logger.ts";
import { createClientAddresses } from "./client-address.ts";
import { type Connections, createConnections } from "./connections.ts";
import { createHttpServer, type HttpTimeouts } from "./http-server.ts";

const request = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

/** Starts a server without any handlers. Returns it with functions to open connections to it. */
async function start(connections: Connections, timeouts: HttpTimeouts = {}) {
  const server = createHttpServer({
    door: () => undefined,
    webhooks: undefined,
    rpc: { handles: () => false, serve: () => {} },
    probes: new Map(),
    pages: new Map(),
    mcp: undefined,
    console: undefined,
    docs: undefined,
    isDraining: () => false,
    clock: systemClock,
    logger: await createLogger({ level: "info", destination: { write: () => {} } }),
    connections,
    timeouts,
  });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close(0));
  const open = async () => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }).on("error", () => {});
    onTestFinished(() => void socket.destroy());
    const before = connections.stats();
    await once(socket, "connect");
    await expect.poll(() => connections.stats()).not.toEqual(before);
    return socket;
  };
  return Object.assign(open, { close: server.close });
}

const ask = async (socket: Socket) => {
  socket.write(request);
  return String((await once(socket, "data"))[0]);
};

test("a connection answered with 408 is closed, even if its client never closes it", async () => {
  const connections = createConnections({ max: 16, perAddressMax: 16, addresses: createClientAddresses([]) });
  const socket = await (await start(connections, { headersMs: 200, checkMs: 20 }))();
  expect(connections.stats().open.halfOpen).toBe(1);
  expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 408 /);
  await expect.poll(() => connections.stats().open.halfOpen).toBe(0);
});

test("a client that sends no HTTP gets the reason, and its connection is closed even if the client never closes it", async () => {
  const connections = createConnections({ max: 16, perAddressMax: 16, addresses: createClientAddresses([]) });
  const socket = await (await start(connections))();
  socket.write("hello\r\n\r\n");
  expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 400 /);
  await expect.poll(() => connections.stats().open, { timeout: 3_000 }).toEqual({ halfOpen: 0, keyless: 0, keyed: 0 });
});

test("above a limit, a connection without a request is closed and the new one is served", async () => {
  const connections = createConnections({ max: 16, perAddressMax: 1, addresses: createClientAddresses([]) });
  const open = await start(connections);
  const idle = (await open()).resume();
  const ended = once(idle, "end");
  const next = await open();
  await ended;
  expect(await ask(next)).toMatch(/^HTTP\/1\.1 404/);
  expect(connections.stats()).toEqual({ open: { halfOpen: 0, keyless: 1, keyed: 0 }, shed: 1 });
});

test("a stopping server does not wait for connections without a request", async () => {
  const connections = createConnections({ max: 16, perAddressMax: 16, addresses: createClientAddresses([]) });
  const open = await start(connections);
  await open();
  (await open()).write("POST /webhooks/x HTTP/1.1\r\nhost: x\r\n");
  const answered = await open();
  await ask(answered);
  answered.write("GET / HT");
  const startedMs = performance.now();
  await open.close(60_000);
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});
