import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { systemClock } from "@svc/core";
import { expect, onTestFinished, test } from "vitest";
import { splitTarget } from "../http/answer.ts";
import { createLogger } from "../logger.ts";
import { createDoor, type DoorOptions } from "./door.ts";

const publicUrl = "https://svc.example.com";

/** Starts a server that answers with the result of its door (the check of each request): the reason of the refusal, or `passes`. */
async function open(rules: Partial<DoorOptions> = {}) {
  const logs: string[] = [];
  const logger = await createLogger({ level: "warn", destination: { write: (line) => void logs.push(line) } });
  const door = createDoor({ publicUrl, hosts: [], isLoopbackOnly: true, clock: systemClock, logger, ...rules });
  const server = createServer((req, res) => {
    const refusal = door(req, splitTarget(req).path);
    res.end(refusal?.error.details[0]?.reason ?? "passes");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const judge = async (...lines: readonly string[]) => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`${[...lines, "connection: close"].join("\r\n")}\r\n\r\n`);
    return (await text(socket)).split("\r\n\r\n")[1] ?? "";
  };
  return { judge, logs };
}

test.each([
  ["127.0.0.1:8080", "passes"],
  ["localhost:1", "passes"],
  ["LOCALHOST.", "passes"],
  ["[::1]:8080", "passes"],
  ["svc.example.com", "passes"],
  ["svc.example.com.:8443", "passes"],
  ["rebound.evil.com", "HOST_REFUSED"],
  ["127.0.0.1.evil.com:8080", "HOST_REFUSED"],
  ["localhost.evil.com", "HOST_REFUSED"],
  ["svc.example.com.evil.com", "HOST_REFUSED"],
  ["10.0.0.7:8080", "HOST_REFUSED"],
  [".", "HOST_REFUSED"],
  ["", "HOST_REFUSED"],
  ["a b\\", "HOST_REFUSED"],
])("on a loopback address the host %j: %s", async (host, verdict) => {
  const { judge } = await open();
  expect(await judge("POST /mcp HTTP/1.1", `Host: ${host}`)).toBe(verdict);
  expect(await judge("POST /healthz HTTP/1.1", `Host: ${host}`)).toBe("passes");
});

test("beyond loopback any host passes until its names are known; then they do, loopback and the address that was dialled", async () => {
  const nameless = await open({ isLoopbackOnly: false });
  expect(await nameless.judge("GET / HTTP/1.1", "Host: any.example.net")).toBe("passes");
  const { judge } = await open({ isLoopbackOnly: false, hosts: ["svc.lan"] });
  const hosts = ["any.example.net", "10.0.0.7", "svc.lan:80", "SVC.LAN.", "svc.example.com", "localhost"];
  const verdicts = await Promise.all(hosts.map((host) => judge("GET / HTTP/1.1", `Host: ${host}`)));
  expect(verdicts).toEqual(["HOST_REFUSED", "HOST_REFUSED", "passes", "passes", "passes", "passes"]);
});

test("the host of an absolute form is checked in addition to the header's", async () => {
  const { judge } = await open();
  expect(await judge("GET http://rebound.evil.com/ HTTP/1.1", "Host: 127.0.0.1")).toBe("HOST_REFUSED");
  expect(await judge("GET http://localhost/ HTTP/1.1", "Host: rebound.evil.com")).toBe("HOST_REFUSED");
  expect(await judge("GET http://localhost/ HTTP/1.1", "Host: localhost")).toBe("passes");
});

test.each([
  "https://evil.example.com",
  "https://svc.example.com.evil.com",
  "http://svc.example.com",
  "https://svc.example.com:8443",
  "http://localhost.evil.com",
  "http://10.0.0.7",
  "null",
  "file://",
  "chrome-extension://abc",
])("a page of %s is refused, also beyond loopback", async (origin) => {
  for (const isLoopbackOnly of [true, false]) {
    const { judge } = await open({ isLoopbackOnly });
    expect(await judge("POST /mcp HTTP/1.1", "Host: localhost", `Origin: ${origin}`)).toBe("ORIGIN_REFUSED");
    expect(await judge("GET /oauth/callback?state=1 HTTP/1.1", "Host: localhost", `Origin: ${origin}`)).toBe("passes");
    const issuer = "GET /oauth/callback/0123456789abcdef?state=1 HTTP/1.1";
    expect(await judge(issuer, "Host: localhost", `Origin: ${origin}`)).toBe("passes");
    expect(await judge("POST /webhooks/calendar HTTP/1.1", "Host: x", `Origin: ${origin}`)).toBe("passes");
  }
});

test.each(["http://localhost:5173", "http://127.0.0.1", "http://[::1]:80", publicUrl, "http://svc.lan:8080"])(
  "a page of %s is served",
  async (origin) => {
    const { judge } = await open({ hosts: ["svc.lan"] });
    expect(await judge("POST /mcp HTTP/1.1", "Host: localhost", `Origin: ${origin}`)).toBe("passes");
  },
);

test("a page of the address that was called is the service's own; one of a name that was called may be rebound", async () => {
  const { judge } = await open({ isLoopbackOnly: false });
  expect(await judge("POST /mcp HTTP/1.1", "Host: 10.0.0.7:8080", "Origin: http://10.0.0.7:8080")).toBe("passes");
  expect(await judge("POST /mcp HTTP/1.1", "Host: evil.com", "Origin: http://evil.com")).toBe("ORIGIN_REFUSED");
});

test("refusals are logged once a minute", async () => {
  const { judge, logs } = await open();
  for (const host of ["one.evil.com", "two.evil.com"]) await judge("GET /mcp?key=k HTTP/1.1", `Host: ${host}`);
  expect(logs.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ reason: "HOST_REFUSED", path: "/mcp", msg: expect.stringContaining('"one.evil.com"') }),
  ]);
});
