import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createAddressGuard } from "@svc/core";
import { createCertificate } from "@svc/testing/certificate";
import { createTestClock } from "@svc/testing/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClientDocuments, createClientDocuments } from "./find-client.ts";

const certificate = createCertificate();
const trusted = getCACertificates("default");
const clock = createTestClock(Date.UTC(2026, 0, 5));
const open = createAddressGuard({ allowedRanges: ["127.0.0.0/8"] });
let base = "";
let asked: string[] = [];
let documents: ClientDocuments;
const server = createServer(certificate, (req, res) => {
  asked.push(req.url ?? "");
  const [, kind = ""] = (req.url ?? "").split("/");
  const client = { client_id: `${base}${req.url}`, client_name: "Editor", redirect_uris: ["http://127.0.0.1/cb"] };
  const bodies: Record<string, unknown> = {
    good: client,
    other: { ...client, client_id: `${base}/good/client.json` },
    secret: { ...client, client_secret: "everybody's" },
    nameless: { ...client, client_name: 7 },
    foreign: { ...client, redirect_uris: ["http://evil.example/cb"] },
    long: { ...client, client_uri: "x".repeat(20_000) },
  };
  if (kind === "moved") return res.writeHead(302, { location: `${base}/good/client.json` }).end();
  if (kind === "silent") return undefined;
  return res.end(JSON.stringify(bodies[kind] ?? null));
});

beforeAll(async () => {
  setDefaultCACertificates([...trusted, certificate.cert]);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `https://localhost:${(server.address() as AddressInfo).port}`;
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
  documents = createClientDocuments({ guard: open, clock, resolve, timeoutMs: 1_500 });
});
afterAll(async () => {
  setDefaultCACertificates(trusted);
  await documents.close();
  server.closeAllConnections();
  server.close();
});

const find = (path: string, from = documents) => from.find(path.startsWith("https:") ? path : `${base}${path}`);

test("a client is known by what stands at its address, which is asked again after a while", async () => {
  asked = [];
  const client = { id: `${base}/good/client.json`, name: "Editor", redirectUris: ["http://127.0.0.1/cb"] };
  const both = await Promise.all([find("/good/client.json"), find("/good/client.json")]);
  expect(both).toEqual([
    { ...client, host: new URL(base).host },
    { ...client, host: new URL(base).host },
  ]);
  expect(asked).toHaveLength(1);
  clock.advance(299_000);
  await find("/good/client.json");
  expect(asked).toHaveLength(1);
  clock.advance(2_000);
  await find("/good/client.json");
  expect(asked).toHaveLength(2);
});

test.each([
  ["/other/client.json", "is another address"],
  ["/secret/client.json", "client_secret"],
  ["/nameless/client.json", "client_name"],
  ["/foreign/client.json", "http must lead to 127.0.0.1"],
  ["/long/client.json", "no valid answer"],
  ["/moved/client.json", "has status 302"],
  ["/silent/client.json", "no valid answer"],
  ["/none/client.json", "not a JSON object"],
  ["https://localhost/", "not an https address with a path"],
  ["https://localhost:1/../client.json", "not an https address with a path"],
  ["https://u:p@localhost:1/client.json", "not an https address with a path"],
  ["https://localhost:1/client.json#x", "not an https address with a path"],
])("%s is no description of a client", async (path, why) => {
  await expect(find(path)).rejects.toThrow(why);
});

test("no address inside is dialled for anyone's client, whatever its name", async () => {
  asked = [];
  const guard = createAddressGuard({ allowedRanges: [] });
  const resolve = async () => [{ address: "169.254.169.254", family: 4 }];
  const guarded = createClientDocuments({ guard, clock, resolve, timeoutMs: 1_500 });
  const { port } = new URL(base);
  for (const address of [
    `https://127.0.0.1:${port}/good/client.json`,
    `https://inside.example:${port}/good/client.json`,
  ])
    await expect(find(address, guarded)).rejects.toThrow("no valid answer");
  expect(asked).toEqual([]);
  await guarded.close();
});
