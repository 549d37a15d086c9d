import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { createCertificate } from "@svc/testing/certificate";
import { afterEach, expect, test } from "vitest";
import { createClientAddresses } from "./client-address.ts";
import { type ConnectionLimits, type Connections, createConnections } from "./connections.ts";

let server: Server;
let nowMs = 0;
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.closeAllConnections();
  server.close();
});

/** Answers every request with "ok", except `/held`, which is never answered. A request to `/key` counts as one with a valid key. */
function serve(connections: Connections, req: IncomingMessage, res: ServerResponse): void {
  if (!connections.noteRequest(req.socket)) return;
  if (req.url === "/key") connections.noteKey(req.socket);
  if (req.url === "/address") res.end(connections.addressOf(req));
  else if (req.url !== "/held") res.end("ok");
}

async function start(limits: Partial<ConnectionLimits>): Promise<Connections> {
  const connections = createConnections({
    max: 8,
    perAddressMax: 100,
    addresses: createClientAddresses([]),
    nowMs: () => nowMs,
    ...limits,
  });
  server = createServer((req, res) => serve(connections, req, res));
  server.on("connection", (socket) => connections.accept(socket, false));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return connections;
}

/** Opens a connection. The clock is first moved forward by `laterMs`. */
async function open(laterMs = 1_000): Promise<Socket> {
  nowMs += laterMs;
  const accepted = once(server, "connection");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
  clients.push(client);
  await accepted;
  return client.on("end", () => client.destroy());
}

/** Sends a request and returns the answer. Empty if the connection ends without an answer. */
async function ask(client: Socket, path: string, headers = ""): Promise<string> {
  const answered = Promise.race([once(client, "data"), once(client, "close").then(() => [""])]);
  client.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`);
  return String((await answered)[0]);
}

const isOpen = (client: Socket) => !client.destroyed && !client.readableEnded;
const ended = (client: Socket) => expect.poll(() => isOpen(client.resume())).toBe(false);

test("without a key the oldest half-open connection goes first, then the one idle for longest", async () => {
  const connections = await start({ max: 4 });
  const first = await open();
  await ask(first, "/");
  const second = await open();
  await ask(second, "/");
  const halfOpen = await open();
  const third = await open();
  await ended(halfOpen);
  await ask(third, "/");
  const fourth = await open();
  await ended(first);
  expect([second, third, fourth].map(isOpen)).toEqual([true, true, true]);
  expect(connections.stats()).toEqual({ open: { halfOpen: 1, keyless: 2, keyed: 0 }, shed: 2 });
});

test("a quarter is reserved for connections with a key, and those are not closed for others", async () => {
  const connections = await start({ max: 8 });
  const keyed = await open();
  await ask(keyed, "/key");
  const others: Socket[] = [];
  for (let index = 0; index < 20; index++) others.push(await open());
  expect(connections.stats().open).toEqual({ halfOpen: 6, keyless: 0, keyed: 1 });
  expect(await ask(keyed, "/")).toContain("200 OK");
  expect(await ask(others[19]!, "/")).toContain("200 OK");
});

test("if there are too many keyed connections, the one idle for longest is closed, and one with a running request stays", async () => {
  const connections = await start({ max: 4 });
  const keyed: Socket[] = [];
  for (let index = 0; index < 4; index++) {
    const client = await open();
    await ask(client, "/key");
    keyed.push(client);
  }
  const requested = once(server, "request");
  keyed[0]!.write("GET /held HTTP/1.1\r\nhost: x\r\n\r\n");
  await requested;
  const last = await open();
  await ended(keyed[1]!);
  expect([keyed[0]!, keyed[2]!, keyed[3]!].map(isOpen)).toEqual([true, true, true]);
  expect(await ask(last, "/")).toContain("200 OK");
  expect(connections.stats().shed).toBe(1);
});

test("a new connection is not closed before those that were idle in between", async () => {
  await start({ max: 4 });
  const idle: Socket[] = [];
  for (let index = 0; index < 3; index++) {
    const client = await open();
    await ask(client, "/");
    idle.push(client);
  }
  const fresh = await open();
  await ended(idle[0]!);
  await open(0);
  await ended(idle[1]!);
  expect(await ask(fresh, "/")).toContain("200 OK");
});

test("a request without its body does not keep a connection without a key open", async () => {
  await start({ max: 4 });
  const slow: Socket[] = [];
  for (let index = 0; index < 3; index++) {
    const client = await open();
    const requested = once(server, "request");
    client.write("POST /held HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n");
    await requested;
    slow.push(client);
  }
  expect(await ask(await open(), "/")).toContain("200 OK");
  await ended(slow[0]!);
});

test("an answer under way without a key keeps its connection for a second, and no longer", async () => {
  const connections = await start({ max: 4 });
  const hold = async () => {
    const client = await open(0);
    const requested = once(server, "request");
    client.write("GET /held HTTP/1.1\r\nhost: x\r\n\r\n");
    await requested;
    return client;
  };
  const held = [await hold(), await hold(), await hold()];
  await ended(await open(999));
  expect(held.map(isOpen)).toEqual([true, true, true]);
  expect(await ask(await open(), "/")).toContain("200 OK");
  expect(held.map(isOpen).filter(Boolean)).toHaveLength(2);
  expect(connections.stats().open.keyless).toBe(3);
});

test("one address has its limit, and a trusted proxy none, whose requests are counted as those of its clients", async () => {
  const direct = await start({ perAddressMax: 2, max: 100 });
  const first = await open();
  await open();
  await open();
  await ended(first);
  expect(direct.stats().open.halfOpen).toBe(2);
  server.close();
  const proxied = await start({ perAddressMax: 2, max: 100, addresses: createClientAddresses(["127.0.0.0/8"]) });
  const proxy = await open();
  await open();
  await open();
  expect(proxied.stats().open.halfOpen).toBe(3);
  expect(await ask(proxy, "/address", "x-forwarded-for: 203.0.113.9, 192.0.2.7\r\n")).toContain("192.0.2.7");
  expect(await ask(proxy, "/address", "x-forwarded-for: 203.0.113.9\r\n")).toContain("203.0.113.9");
});

const burst = "GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(500);

test("more requests at once than a connection can have answers to end it, and no other of its address", async () => {
  const connections = await start({});
  const [idle, keyed, held, hostile] = [await open(), await open(), await open(), await open()];
  await ask(idle, "/");
  await ask(keyed, "/key");
  const requested = once(server, "request");
  held.write("GET /held HTTP/1.1\r\nhost: x\r\n\r\n");
  await requested;
  let requests = 0;
  server.on("request", () => requests++);
  hostile.write(burst);
  await ended(hostile);
  // The rest of the burst of requests is not even parsed.
  expect(requests).toBe(65);
  expect([idle, keyed, held].map(isOpen)).toEqual([true, true, true]);
  expect(connections.stats()).toEqual({ open: { halfOpen: 0, keyless: 2, keyed: 1 }, shed: 1 });
  expect(await ask(await open(0), "/key")).toContain("200 OK");
});

test("new connections of an address with repeated punishments are read a few at a time, and keys are answered", async () => {
  const connections = await start({ max: 1_000 });
  for (let index = 0; index < 8; index++) {
    const hostile = await open(0);
    hostile.write(burst);
    await ended(hostile);
  }
  let requests = 0;
  server.on("request", () => requests++);
  const flood = await Promise.all(Array.from({ length: 10 }, () => open(0)));
  for (const hostile of flood) hostile.write(burst);
  const keyed = await open(0);
  const answered = ask(keyed, "/key");
  expect(await answered).toContain("200 OK");
  // Each closed connection could cost at most 65 requests, even if it had sent more.
  expect(requests).toBeLessThanOrEqual(10 * 65 + 1);
  // A connection whose sender has shown a valid key is not held back.
  for (let index = 0; index < 20; index++) expect(await ask(keyed, "/")).toContain("200 OK");
  // A second later, the address is treated like any other address.
  nowMs += 1_000;
  expect(await ask(await open(0), "/")).toContain("200 OK");
  expect(connections.stats().open.keyed).toBe(1);
});

test("successive requests with one answer each are not punished", async () => {
  const connections = await start({});
  const client = await open();
  for (let index = 0; index < 200; index++) expect(await ask(client, "/")).toContain("200 OK");
  expect(connections.stats().shed).toBe(0);
});

test("the other connections of a trusted proxy are other clients'", async () => {
  await start({ addresses: createClientAddresses(["127.0.0.0/8"]) });
  const [other, hostile] = [await open(), await open()];
  await ask(other, "/");
  hostile.write(burst);
  await ended(hostile);
  expect(isOpen(other)).toBe(true);
  expect(await ask(await open(0), "/")).toContain("200 OK");
});

test("behind TLS a connection is the same before and after its handshake", async () => {
  const connections = createConnections({ max: 8, perAddressMax: 100, addresses: createClientAddresses([]) });
  server = createTlsServer(createCertificate(), (req, res) => serve(connections, req, res));
  server.on("connection", (socket) => connections.accept(socket, true));
  server.on("secureConnection", (socket) => connections.secure(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await open();
  expect(connections.stats().open).toEqual({ halfOpen: 1, keyless: 0, keyed: 0 });
  const client = connectTls({
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    rejectUnauthorized: false,
  });
  clients.push(client.on("error", () => {}));
  await once(client, "secureConnect");
  expect(await ask(client, "/key")).toContain("200 OK");
  expect(connections.stats().open).toEqual({ halfOpen: 1, keyless: 0, keyed: 1 });
  client.destroy();
  await expect.poll(() => connections.stats().open.keyed).toBe(0);
});
