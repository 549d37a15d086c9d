import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { gzipSync } from "node:zlib";
import { createCertificate } from "@svc/testing/certificate";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { rounds } from "./rounds.ts";

let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force", SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" } });
});
afterAll(() => svc.stop());

async function start(variables: Record<string, string>): Promise<TestServer> {
  const own = await startTestServer({ variables });
  onTestFinished(() => own.stop());
  return own;
}

/** Returns a raw request as a browser or a scraper would send it. */
function head(line: string, host: string, more: readonly string[] = [], body = ""): string {
  const headers = [`Host: ${host}`, "Content-Type: application/json", `Content-Length: ${body.length}`, ...more];
  return `${line} HTTP/1.1\r\n${headers.join("\r\n")}\r\nConnection: close\r\n\r\n${body}`;
}

/** Returns all paths that return data or change something, each with the credential for it. */
function surfaces(): { line: string; more: string[]; body: string }[] {
  const [key, token] = [[`Authorization: Bearer ${svc.key}`], [`Authorization: Bearer ${svc.adminToken}`]];
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  return [
    { line: "POST /mcp", more: key, body: ping },
    { line: "POST /svc.v1.TriggersService/ListEvents", more: key, body: "{}" },
    { line: "POST /svc.v1.ToolsService/CallTool", more: key, body: "{}" },
    { line: "POST /svc.v1.AdminService/ListProjects", more: token, body: "{}" },
    { line: "GET /metrics", more: [], body: "" },
    { line: "GET /", more: [], body: "" },
    { line: "GET /sandbox/oauth/authorize", more: [], body: "" },
  ];
}

const rebound = ["rebound.evil.com", "127.0.0.1.evil.com:8080", "localhost.evil.com", "evil.com:80", "[::ffff:a00:1]"];

test("a page that had its name lead here gets nothing, by header or absolute form; health and posts are answered", async () => {
  for (let round = 0; round < rounds; round++) {
    for (const { line, more, body } of surfaces()) {
      expect(await svc.raw(head(line, "127.0.0.1", more, body)), line).not.toMatch(/HOST_REFUSED|ORIGIN_REFUSED/);
      for (const host of rebound) {
        expect(await svc.raw(head(line, host, more, body)), `${line} by ${host}`).toMatch(
          /^HTTP\/1\.1 403 .*HOST_REFUSED/s,
        );
        const absolute = line.replace(" ", ` http://${host}`);
        expect(await svc.raw(head(absolute, "127.0.0.1", more, body)), absolute).toContain("HOST_REFUSED");
      }
    }
  }
  for (const host of rebound) {
    expect(await svc.raw(head("GET /readyz", host))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await svc.raw(head("POST /grpc.health.v1.Health/Check", host, [], "{}"))).toMatch(/^HTTP\/1\.1 200 /);
    const post = head("POST /webhooks/calendar?token=swordfish", host, ["X-Calendar-Resource-State: sync"]);
    expect(await svc.raw(post)).toMatch(/^HTTP\/1\.1 202 /);
  }
});

test("beyond loopback the names of SVC_HOSTS and SVC_PUBLIC_URL are taken, and no others", async () => {
  const variables = { SVC_HOST: "0.0.0.0", SVC_HOSTS: "svc.lan", SVC_PUBLIC_URL: "https://svc.example.com" };
  const own = await start(variables);
  const ask = async (host: string) => (await own.raw(head("GET /metrics", host))).slice(9, 12);
  expect(await Promise.all(["svc.lan", "svc.example.com", "127.0.0.1", "localhost"].map(ask))).toEqual(
    Array(4).fill("200"),
  );
  expect(await Promise.all([...rebound, "10.0.0.7"].map(ask))).toEqual(Array(rebound.length + 1).fill("403"));
});

test("pages of other origins are refused at every call, with a good key too", async () => {
  const origins = ["https://evil.com", "http://localhost.evil.com", "null", "https://127.0.0.1.evil.com", "file://"];
  for (const { line, more, body } of surfaces()) {
    for (const origin of origins) {
      const answer = await svc.raw(head(line, "127.0.0.1", [...more, `Origin: ${origin}`], body));
      expect(answer, `${line} from ${origin}`).toMatch(/^HTTP\/1\.1 403 .*ORIGIN_REFUSED/s);
      expect(answer.toLowerCase()).not.toContain("access-control-allow");
    }
  }
});

test.each(["GET /healthz", "GET /metrics", "POST /webhooks/calendar?token=swordfish", "POST /mcp"])(
  "two Host lines are refused at %s, however they are written, and end the connection",
  async (line) => {
    for (const second of ["Host: 127.0.0.1", "host: evil.com", "HOST:evil.com", "hOsT:\tevil.com", "Host:"]) {
      const bytes = `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n${second}\r\n\r\n`;
      expect(await svc.raw(bytes), second).toMatch(/^HTTP\/1\.1 400 .*REQUEST_MALFORMED/s);
    }
    // The header line after these is beyond the 2,000 headers that Node keeps by default.
    const hidden = "a:\r\n".repeat(2_100);
    expect(await svc.raw(`${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${hidden}Host: evil.com\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  },
);

test.each([
  "GET /healthz\r\n\r\n",
  "GET /\r\n",
  "GET / HTTP/0.9\r\n\r\n",
  "GET / HTTP/2.0\r\nHost: localhost\r\n\r\n",
  "GET / HTTP/1.2\r\nHost: localhost\r\n\r\n",
])("no other version than HTTP/1.0 and 1.1 is served: %j", async (bytes) => {
  const socket = await svc.connect();
  socket.end(bytes);
  const answer = (await buffer(socket)).toString("latin1");
  expect(answer).toMatch(/^HTTP\/1\.1 (400|505) .*REQUEST_MALFORMED/s);
});

const watchPath = "grpc.health.v1.Health/Watch";

/** Returns the error in the last frame of a stream. */
async function lastFrame(
  frame: Buffer,
  type = "json",
  { path = watchPath, headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<{ code: string; reason: string }> {
  const res = await fetch(`${svc.url}/${path}`, {
    method: "POST",
    headers: { "content-type": `application/connect+${type}`, "connect-accept-encoding": "identity", ...headers },
    body: frame,
  });
  const bytes = Buffer.from(await res.arrayBuffer());
  const { error } = JSON.parse(bytes.subarray(5).toString()) as {
    error: { code: string; details: { debug: { reason: string } }[] };
  };
  return { code: error.code, reason: error.details[0]?.debug.reason ?? "" };
}

function frame(flags: number, length: number, data: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags, 0);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, data]);
}

test("a broken frame of a stream is the caller's fault, and no fault of the service", async () => {
  const broken: [string, Buffer, string?][] = [
    ["nothing", Buffer.alloc(0)],
    ["half a prefix", Buffer.from([0, 0, 0])],
    ["a prefix alone", frame(0, 10, Buffer.alloc(0))],
    ["less than was promised", frame(0, 10, Buffer.from("{}"))],
    ["more than was promised", frame(0, 1, Buffer.from("{}"))],
    ["two messages", Buffer.concat([frame(0, 2, Buffer.from("{}")), frame(0, 2, Buffer.from("{}"))])],
    ["no JSON", frame(0, 3, Buffer.from("{]}"))],
    ["bytes that are no text", frame(0, 2, Buffer.from([0xc3, 0x28]))],
    ["an unknown field", frame(0, 10, Buffer.from('{"nope":1}'))],
    ["a text with U+0000", frame(0, 22, Buffer.from('{"service":"a\\u0000b"}'))],
    ["no message in the binary form", frame(0, 2, Buffer.from([0xff, 0xff])), "proto"],
    ["compressed in no known way", frame(1, 2, Buffer.from("{}"))],
    ["an end", frame(2, 2, Buffer.from("{}"))],
    ["a compressed end", frame(3, 2, Buffer.from("{}"))],
    ["every flag", frame(255, 2, Buffer.from("{}"))],
  ];
  const before = svc.logs.filter((line) => line.includes('"level":"error"')).length;
  for (const [name, bytes, type] of broken) {
    expect(await lastFrame(bytes, type), name).toEqual({ code: "invalid_argument", reason: "REQUEST_MALFORMED" });
  }
  const huge = await lastFrame(frame(0, 0xffff_ffff, Buffer.from("{}")));
  expect(["invalid_argument", "resource_exhausted"]).toContain(huge.code);
  expect(svc.logs.filter((line) => line.includes('"level":"error"'))).toHaveLength(before);
});

test("a compressed message of a stream is read, as far as it is no larger than another", async () => {
  const headers = { "connect-content-encoding": "gzip", authorization: `Bearer ${svc.key}` };
  const watch = { path: "svc.v1.JobsService/WatchJob", headers };
  const ask = async (text: string) => {
    const packed = gzipSync(text);
    return lastFrame(frame(1, packed.byteLength, packed), "json", watch);
  };
  expect(await ask('{"nope":1}')).toEqual({ code: "invalid_argument", reason: "REQUEST_MALFORMED" });
  const jobId = "job_01m83pqq6wewk898k65m2ekg43";
  expect(await ask(JSON.stringify({ jobId }))).toEqual({ code: "not_found", reason: "JOB_NOT_FOUND" });
  expect(await ask(JSON.stringify({ jobId: "x".repeat(2_000_000) }))).toMatchObject({ code: "resource_exhausted" });
  const broken = await lastFrame(frame(1, 2, Buffer.from("{}")), "json", watch);
  expect(broken).toEqual({ code: "invalid_argument", reason: "REQUEST_MALFORMED" });
});

test("administration and metrics on a listener of their own are nowhere else, and nothing else is there", async () => {
  const own = await start({ SVC_ADMIN_LISTEN: "127.0.0.1:0" });
  const adminUrl = own.server.adminUrl ?? "";
  const ask = async (url: string, path: string, bearer = own.adminToken) => {
    const isGet = /^\/(?:metrics|healthz|readyz|$)/.test(path);
    const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
    const res = await fetch(`${url}${path}`, isGet ? { headers } : { method: "POST", headers, body: "{}" });
    await res.arrayBuffer();
    return res.status;
  };
  const listProjects = "/svc.v1.AdminService/ListProjects";
  const listEvents = "/svc.v1.TriggersService/ListEvents";
  for (const path of ["/metrics", listProjects]) {
    expect(await ask(own.url, path), path).toBe(404);
    expect(await ask(adminUrl, path), path).toBe(200);
  }
  for (const path of ["/healthz", "/readyz", "/grpc.health.v1.Health/Check"]) {
    expect([await ask(own.url, path), await ask(adminUrl, path)], path).toEqual([200, 200]);
  }
  expect(await ask(own.url, listEvents, own.key)).toBe(200);
  for (const path of [listEvents, "/mcp", "/webhooks/calendar", "/"]) {
    expect(await ask(adminUrl, path, own.key), path).toBe(404);
  }
  expect(await ask(adminUrl, listProjects, own.key)).toBe(403);
});

/** Makes a GET request over TLS with a client that trusts only `ca`. Resolves to the status and the certificate's fingerprint. */
function getOverTls(url: string, ca: string): Promise<{ status: number | undefined; fingerprint: string }> {
  return new Promise((resolve, reject) => {
    const req = request(url, { ca, agent: false }, (res) => {
      const fingerprint = (res.socket as ReturnType<typeof connectTls>).getPeerCertificate().fingerprint256;
      res.resume().on("end", () => resolve({ status: res.statusCode, fingerprint }));
    });
    req.on("error", reject).end();
  });
}

test("TLS is spoken from 1.2 on and nothing else, and an exchanged certificate holds for the next connection", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-door-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const [one, two] = [createCertificate(), createCertificate()];
  writeFileSync(certFile, one.cert);
  writeFileSync(keyFile, one.key);
  const own = await start({ SVC_TLS_CERT: certFile, SVC_TLS_KEY: keyFile, SVC_ADMIN_LISTEN: "127.0.0.1:0" });
  const adminUrl = own.server.adminUrl ?? "";
  expect([own.url, adminUrl]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^https:/)]);
  const first = await getOverTls(`${own.url}/readyz`, one.cert);
  expect(first.status).toBe(200);
  expect((await getOverTls(`${adminUrl}/metrics`, one.cert)).status).toBe(200);
  await expect(getOverTls(`${own.url}/readyz`, two.cert)).rejects.toThrow();

  const port = Number(new URL(own.url).port);
  const plain = connectTcp(port, "127.0.0.1").on("error", () => {});
  plain.write("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect((await buffer(plain)).toString("latin1")).not.toContain("HTTP/1.1");
  const old = connectTls({ port, host: "127.0.0.1", ca: one.cert, minVersion: "TLSv1", maxVersion: "TLSv1.1" });
  await expect(
    new Promise((resolve, reject) => old.on("secureConnect", resolve).on("error", reject)),
  ).rejects.toThrow();

  // Open connections stay open when the certificate changes. A certificate and key that do not match change nothing.
  const kept = connectTls({ port, host: "127.0.0.1", ca: one.cert });
  onTestFinished(() => void kept.destroy());
  await new Promise((resolve) => kept.once("secureConnect", resolve));
  writeFileSync(keyFile, two.key);
  await own.server.reloadTls();
  expect(await getOverTls(`${own.url}/readyz`, one.cert)).toEqual(first);
  writeFileSync(certFile, two.cert);
  // No signal is needed, because the server reads the files every 2 seconds.
  if (rounds === 1) await own.server.reloadTls();
  await expect
    .poll(() => getOverTls(`${own.url}/readyz`, two.cert).then(({ status }) => status, String), { timeout: 20_000 })
    .toBe(200);
  expect((await getOverTls(`${adminUrl}/metrics`, two.cert)).status).toBe(200);
  kept.write("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  expect((await buffer(kept)).toString("latin1")).toMatch(/^HTTP\/1\.1 200 /);
  expect(own.logs.join("")).not.toContain("PRIVATE KEY");
});

test("listening beyond loopback in the clear is warned of once", async () => {
  const own = await start({ SVC_HOST: "0.0.0.0" });
  expect(own.logs.filter((line) => line.includes("without TLS"))).toEqual([expect.stringContaining('"level":"warn"')]);
  expect(svc.logs.filter((line) => line.includes("without TLS"))).toEqual([]);
});
