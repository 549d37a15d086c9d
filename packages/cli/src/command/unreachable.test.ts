import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createCertificate } from "@svc/testing/certificate";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../test-command.ts";
import { unreachableHint } from "./unreachable.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-cli-"));
const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
let secure: TestServer;
let plain: TestServer;

beforeAll(async () => {
  const { cert, key } = createCertificate();
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  secure = await startTestServer({ variables: { SVC_TLS_CERT: certFile, SVC_TLS_KEY: keyFile } });
  plain = await startTestServer({ variables: { SVC_ADMIN_LISTEN: "127.0.0.1:0" } });
});
afterAll(async () => {
  await secure.stop();
  await plain.stop();
  rmSync(folder, { recursive: true });
});

const secrets = { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };
const swapped = (url: string) =>
  url.startsWith("https:") ? url.replace("https:", "http:") : url.replace("http:", "https:");

test.each<[string, () => string, RegExp]>([
  ["a certificate nobody signed", () => secure.url, /DEPTH_ZERO_SELF_SIGNED_CERT\. .*NODE_EXTRA_CA_CERTS/],
  ["plain HTTP to TLS", () => swapped(secure.url), /closed without an answer\. .*SVC_TLS_CERT.* https:\/\/ in --url/],
  ["TLS to plain HTTP", () => swapped(plain.url), /ERR_SSL_\w+\. .*does not use TLS: write http:\/\//],
])("%s is told, and what to do about it", async (_, url, text) => {
  for (const argv of [["events"], ["projects", "list"], ["trigger", "calendar"]]) {
    const variables = { ...secrets, SVC_URL: url(), SVC_API_KEY: secure.key, SVC_ADMIN_TOKEN: secure.adminToken };
    const { code, noted } = await runTestCommand(argv, variables);
    expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringMatching(text)] });
    expect(noted.join()).not.toContain("Start the service");
  }
});

test("a command that trusts the authority by NODE_EXTRA_CA_CERTS is answered", async () => {
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const env = { ...process.env, SVC_URL: secure.url, SVC_API_KEY: secure.key, NODE_EXTRA_CA_CERTS: certFile };
  const { stdout } = await promisify(execFile)(process.execPath, [main, "whoami"], { env });
  expect(stdout).toContain("default");
});

test("a project's command and a post at the administrator's listener are told to go to the main one", async () => {
  const variables = { ...secrets, SVC_URL: plain.server.adminUrl ?? "", SVC_API_KEY: plain.key };
  for (const argv of [["events"], ["trigger", "calendar"]]) {
    const { code, noted } = await runTestCommand(argv, variables);
    expect({ code, noted }).toEqual({
      code: 1,
      noted: [expect.stringMatching(/SVC_ADMIN_LISTEN.*set --url or SVC_URL/)],
    });
  }
});

test("an administrator's command at the main listener is told of the administrator's", async () => {
  const variables = { SVC_URL: plain.url, SVC_ADMIN_TOKEN: plain.adminToken };
  const { noted } = await runTestCommand(["projects", "list"], variables);
  expect(noted).toEqual([expect.stringMatching(/AdminService may have a listener of its own \(SVC_ADMIN_LISTEN\)/)]);
});

test.each([
  ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate has another name"],
  ["CERT_HAS_EXPIRED", "certificate has expired or is not valid yet"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "NODE_EXTRA_CA_CERTS"],
  ["ECONNREFUSED", "Start the service"],
])("%s is described as %s", (code, text) => {
  const err = new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code }) });
  expect(unreachableHint(err, "https://svc.example.com")).toContain(text);
});
