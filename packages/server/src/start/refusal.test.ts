import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { TLSSocket } from "node:tls";
import { migrateDatabase } from "@svc/db/migrate";
import { createCertificate } from "@svc/testing/certificate";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../config/settings.ts";
import { describeStartFault } from "./refusal.ts";

test("an unavailable database is named by what the operator configured: SVC_DATABASE_URL, or the data folder", () => {
  const error = Object.assign(new Error("the server ends"), { code: "57P03" });
  const config = { host: "127.0.0.1", port: 8080, dataDir: "/var/lib/svc" } as Config;
  expect(describeStartFault(error, { ...config, databaseUrl: "postgres://db/svc" })).toBe(
    "SVC_DATABASE_URL: the database is unavailable (57P03); check the address, and that the database runs",
  );
  expect(describeStartFault(error, { ...config, databaseUrl: undefined })).toBe(
    "the embedded PostgreSQL in /var/lib/svc is unavailable (57P03). If another svc used this folder, wait until it has stopped, and start again",
  );
});

const ownDatabase = {
  host: "127.0.0.1",
  port: 8080,
  dataDir: "/var/lib/svc",
  databaseUrl: "postgres://db/svc",
} as Config;

test("an untrusted certificate of the database is named with SVC_DATABASE_URL and NODE_EXTRA_CA_CERTS", async () => {
  const { cert, key } = createCertificate();
  const server = createServer((client) => {
    // The first packet of PostgreSQL's protocol asks for TLS; `S` agrees.
    client
      .on("error", () => {})
      .once("data", () => {
        client.write("S");
        new TLSSocket(client, { isServer: true, cert, key }).on("error", () => {});
      });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = `postgres://svc:secret@127.0.0.1:${port}/svc?sslmode=verify-full`;
  const error = await migrateDatabase(url).catch((reason: unknown) => reason);
  expect(describeStartFault(error, { ...ownDatabase, databaseUrl: url })).toBe(
    "SVC_DATABASE_URL: no known authority signed the certificate of the database. If it has a private authority, set NODE_EXTRA_CA_CERTS to the PEM file of that authority. A self-signed certificate is its own authority (DEPTH_ZERO_SELF_SIGNED_CERT)",
  );
});

test.each([
  ["ERR_TLS_CERT_ALTNAME_INVALID", /write a host name that the certificate contains/],
  ["CERT_HAS_EXPIRED", /has expired or is not valid yet/],
])("a certificate of the database that Node refuses with %s is explained", (code, says) => {
  const said = describeStartFault(Object.assign(new Error("tls"), { code }), ownDatabase);
  expect(said).toMatch(/^SVC_DATABASE_URL: /);
  expect(said).toMatch(says);
});
