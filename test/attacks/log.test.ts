import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { generateVaultKey } from "@svc/core";
import { checkoutDir } from "@svc/server/config";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDataDir } from "@svc/testing/data-dir";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { type TestContext, test } from "vitest";

const main = await bundled(join(checkoutDir, "packages/cli/src/main.ts"));
const serve = [process.execPath, main, "serve"];

/** Runs a command with these variables. Returns the output of both streams as one text, as a log collector sees it. */
function run(
  { onTestFinished }: TestContext,
  [command = "", ...args]: readonly string[],
  variables: Record<string, string>,
) {
  const env = { ...compileCache, PATH: process.env["PATH"], SVC_TOOLKITS: fewToolkits, SVC_PORT: "0", ...variables };
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let written = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (written += data));
  return { child, written: () => written, closed: once(child, "close") };
}

async function dataDir({ onTestFinished }: TestContext): Promise<string> {
  const folder = await createTestDataDir();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}

function linesOf(written: string): Record<string, unknown>[] {
  return written
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

// Most of the time of a test is the start of a process, so the tests run concurrently.
test.concurrent("without a terminal every line is JSON, at the level that tells most too, and none has a key or a token", async (context) => {
  const { expect } = context;
  const folder = await dataDir(context);
  const secrets = {
    SVC_ADMIN_TOKEN: "admin-token-0123456789-0123456789",
    SVC_WEBHOOK_SECRET_CALENDAR: "swordfish-1234",
  };
  const { child, written, closed } = run(context, serve, { SVC_DATA_DIR: folder, SVC_LOG_LEVEL: "trace", ...secrets });
  await expect.poll(written, { timeout: 60_000 }).toContain("kept in this file");
  const lines = linesOf(written());
  const url = lines.find((line) => line["url"] !== undefined)?.["url"];
  const key = readFileSync(join(folder, "first-key"), "utf8").trim();
  const vaultKey = readFileSync(join(folder, "vault-key"), "utf8").trim();
  expect(lines.find((line) => line["file"] !== undefined)).toMatchObject({
    level: "info",
    file: join(folder, "first-key"),
  });
  const post = (path: string, bearer: string, body: object = {}) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const statuses = [
    await post("/svc.v1.TriggersService/ListEvents", key),
    await post("/svc.v1.AdminService/ListProjects", secrets.SVC_ADMIN_TOKEN),
    // Sends keys to calls of the wrong kind, and to places where no key belongs.
    await post("/svc.v1.AdminService/ListProjects", key),
    await post("/svc.v1.TriggersService/ListEvents", secrets.SVC_ADMIN_TOKEN),
    await post(`/svc.v1.TriggersService/GetEvent?key=${key}`, key, { id: key }),
    await post("/mcp", key, { jsonrpc: "2.0", id: 1, method: key }),
    await post("/webhooks/calendar?token=swordfish-1234", key),
    await post("/webhooks/calendar?token=swordfish-1235", key),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 403, 403, 400, 200, 202, 401]);
  child.kill("SIGHUP");
  await expect.poll(written, { timeout: 60_000 }).toContain("SIGHUP");
  child.kill("SIGTERM");
  await closed;
  expect(linesOf(written()).map(({ msg }) => msg)).toContain("stopped");
  for (const secret of [key, key.slice(4, 40), vaultKey, vaultKey.split(":")[1] ?? "", ...Object.values(secrets)]) {
    expect(written()).not.toContain(secret);
  }
});

test.concurrent("a start that is refused without a terminal tells so in JSON, without the value of a secret", async (context) => {
  const { expect } = context;
  const cases: Record<string, string>[] = [
    { SVC_PORT: "x", SVC_ADMIN_TOKEN: "too-short-token", SVC_VAULT_KEY: "k1:dG9vLXNob3J0" },
    { SVC_DATABASE_URL: "postgres://svc:pass-word-1@127.0.0.1:1/svc", SVC_VAULT_KEY: generateVaultKey() },
  ];
  const runs = cases.map((variables) => run(context, serve, variables));
  for (const { closed, written } of runs) {
    expect((await closed)[0]).toBe(1);
    expect(linesOf(written()).at(-1)).toMatchObject({
      level: "fatal",
      msg: expect.stringContaining("svc cannot start"),
    });
    expect(written()).not.toMatch(/too-short-token|pass-word-1|dG9vLXNob3J0/);
  }
});

// The program `script` of util-linux, which runs a command on a terminal.
const terminal = "script";

test.concurrent("on a terminal a person reads the first key", async (context) => {
  const { expect } = context;
  context.skip(spawnSync(terminal, ["--version"]).status !== 0, "no terminal can be had here");
  const folder = await dataDir(context);
  const command = [terminal, "--quiet", "--return", "--command", serve.join(" "), "/dev/null"];
  const { written, child, closed } = run(context, command, { SVC_DATA_DIR: folder });
  try {
    await expect.poll(written, { timeout: 60_000 }).toContain("npx svc listen");
    expect(written()).toContain(readFileSync(join(folder, "first-key"), "utf8").trim());
    expect(written()).toMatch(/INFO.*svc .* listens on/);
  } finally {
    // Sends Ctrl-C to the terminal.
    child.stdin.write("\x03");
    await closed;
  }
});
