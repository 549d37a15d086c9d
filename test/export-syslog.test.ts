import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { createCertificate } from "@svc/testing/certificate";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { adminToken, type ServerProcess, startServerProcess, vaultKey } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// The audit log of a service, as a syslog receiver gets it over TLS. The process trusts the receiver's certificate by NODE_EXTRA_CA_CERTS.

const trusted = createCertificate("localhost");
const folder = mkdtempSync(join(tmpdir(), "svc-syslog-"));
let database: TestDatabase;
let receiver: Server;
let server: ServerProcess;
let received = "";
const refusals: string[] = [];

beforeAll(async () => {
  // Same name, other key: no authority that the service knows has signed it.
  receiver = createServer({ ...createCertificate("localhost") }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received += chunk.toString("utf8");
    });
  });
  receiver.on("tlsClientError", ({ message }) => refusals.push(message));
  await new Promise<void>((resolve) => receiver.listen(0, "localhost", resolve));
  const { port } = receiver.address() as { port: number };
  const authority = join(folder, "ca.pem");
  writeFileSync(authority, trusted.cert);
  database = await createTestDatabase();
  server = await startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_EXPORT_TO: `syslog+tls://localhost:${port}`,
    NODE_EXTRA_CA_CERTS: authority,
  });
}, 300_000);
afterAll(async () => {
  await server?.end("SIGTERM");
  receiver?.close();
  await database?.drop();
  rmSync(folder, { recursive: true });
});

/** Returns the audit records that the receiver got, from messages of RFC 5425, each after its length in bytes. */
function recordsOf(bytes: Buffer): { action: string; position: number }[] {
  const records = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(" ", at);
    const end = space + 1 + Number(bytes.subarray(at, space).toString());
    const [, json = "null"] = / svc - audit - (\{.*\})$/.exec(bytes.subarray(space + 1, end).toString()) ?? [];
    records.push(JSON.parse(json));
    at = end;
  }
  return records;
}

test("an untrusted receiver gets nothing, and a trusted one then gets every record of the audit log", async () => {
  // An action of the administrator is an entry of the audit log.
  const created = await fetch(`${server.url}/svc.v1.AdminService/CreateProject`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "billing" }),
  });
  expect(created.status).toBe(200);
  const isWarned = () => server.output().includes("records could not be sent to SVC_EXPORT_TO");
  await until(isWarned);
  expect(refusals.length).toBeGreaterThan(0);
  expect(received).toBe("");
  receiver.setSecureContext({ ...trusted });
  await until(() => received.endsWith("}"));
  const records = recordsOf(Buffer.from(received));
  expect(records.length).toBeGreaterThan(0);
  expect(records.map(({ position }) => position)).toEqual(records.map((_, index) => index + 1));
}, 300_000);
