import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Provider, reply, startProvider } from "../tools/provider.ts";
import { hasEnded, reach, submit, trySubmit } from "./project.ts";

// Checks which hosts a program's requests may go to. An address that the address guard refuses stays refused, even if its host is allowed.
// packages/core/src/net/dial.test.ts covers the addresses behind a host name, which are checked at each connection.

let open: TestServer;
let guarded: TestServer;
let app: Provider;

beforeAll(async () => {
  // The guarded server is reachable from other machines, and therefore never connects to addresses of its own machine.
  [open, guarded, app] = await Promise.all([
    startTestServer({ variables: { SVC_SANDBOX: "force" } }),
    startTestServer({ variables: { SVC_SANDBOX: "force", SVC_HOST: "0.0.0.0" } }),
    startProvider(),
  ]);
  for (const server of [open, guarded]) {
    const put = { name: "token", value: "planted-token" };
    expect((await server.call("svc.v1.SecretsService/PutSecret", put)).code).toBe("ok");
  }
});
afterAll(async () => {
  await Promise.all([open?.stop(), guarded?.stop(), app?.close()]);
});
beforeEach(() => app.reset());

async function allow(server: TestServer, ...hosts: string[]): Promise<void> {
  const { projectId } = (await server.call("svc.v1.IdentityService/GetIdentity")).json;
  const set = await server.admin("SetProjectPolicy", { projectId, http: { hosts } });
  expect(set.code).toBe("ok");
}

const programOf = (url: string) => ({
  steps: [{ id: "one", http: { method: "POST", url, headers: { authorization: { $secret: "token" } } } }],
});

test.each([
  ["http://127.0.0.1:PORT/", "127.0.0.1:PORT"],
  ["http://127.1:PORT/", "127.0.0.1:PORT"],
  ["http://2130706433:PORT/", "127.0.0.1:PORT"],
  ["http://0x7f000001:PORT/", "127.0.0.1:PORT"],
  ["http://localhost:PORT/", "localhost:PORT"],
  ["http://LOCALHOST:PORT/", "localhost:PORT"],
  ["http://[::1]:PORT/", "[::1]:PORT"],
  ["https://169.254.169.254/latest/meta-data/", "169.254.169.254"],
  ["https://[::ffff:169.254.169.254]/", "[::ffff:a9fe:a9fe]"],
  ["https://10.0.0.1/", "10.0.0.1"],
  ["https://[64:ff9b::7f00:1]/", "[64:ff9b::7f00:1]"],
  ["https://0.0.0.0:PORT/", "0.0.0.0:PORT"],
])("%s is on the list, and is not dialled all the same", async (address, host) => {
  const at = (text: string) => text.replace("PORT", String(app.port));
  await allow(guarded, at(host));
  const job = await reach(guarded, await submit(guarded, programOf(at(address))), hasEnded);
  expect(job.status).toBe("JOB_STATUS_FAILED");
  expect(job.lastError).toMatch(/^unreachable: step one: .* is not a public address \(\w+\)$/);
  expect(app.connections).toBe(0);
});

test.each([
  ["http://127.0.0.1:PORT/", "127.0.0.1:PORT"],
  ["http://2130706433:PORT/", "127.0.0.1:PORT"],
  ["http://127.0.0.1:PORT/", "2130706433:PORT"],
  ["http://localhost:PORT/", "LOCALHOST:PORT"],
])("%s is the host %s, however it is written", async (address, host) => {
  app.answer = (_seen, res) => reply(res, {});
  const at = (text: string) => text.replace("PORT", String(app.port));
  await allow(open, at(host));
  const job = await reach(open, await submit(open, programOf(at(address))), hasEnded);
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete" } });
  expect(app.seen[0]?.headers.authorization).toBe("planted-token");
});

test.each([
  // Refused variants: another port, another name of the same machine, a name with a final dot, a subdomain, a parent domain, a similar
  // name.
  ["http://127.0.0.1:PORT/", "127.0.0.1"],
  ["http://127.0.0.1:PORT/", "127.0.0.1:1"],
  ["http://127.0.0.1:PORT/", "localhost:PORT"],
  ["http://127.0.0.2:PORT/", "127.0.0.1:PORT"],
  ["http://localhost.:PORT/", "localhost:PORT"],
  ["https://a.example.com/", "example.com"],
  ["https://example.com/", "a.example.com"],
  ["https://example.com.evil.example/", "example.com"],
  ["https://еxample.com/", "example.com"],
])("%s is not the host %s", async (address, host) => {
  const at = (text: string) => text.replace("PORT", String(app.port));
  await allow(open, at(host));
  const { code, reason } = await trySubmit(open, programOf(at(address)));
  expect([code, reason]).toEqual([
    "invalid_argument",
    // With the final dot the name is no loopback address, so `http` without TLS is not allowed for it at all.
    address.includes("localhost.:") ? "PROGRAM_MALFORMED" : "PROGRAM_HOST_NOT_ALLOWED",
  ]);
  expect(app.connections).toBe(0);
});

test("over https nothing is said to a host that does not speak TLS", async () => {
  await allow(open, `127.0.0.1:${app.port}`);
  const job = await reach(open, await submit(open, programOf(`https://127.0.0.1:${app.port}/`)), hasEnded);
  expect(job.lastError).toMatch(/^unreachable: step one: TLS failed/);
  expect(app.seen).toEqual([]);
});
