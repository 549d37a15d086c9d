import { spawn } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTestCommand } from "@svc/cli/test-command";
import { createSealer, generateVaultKey, parseVaultKeys } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { startEmbeddedPostgres } from "@svc/db/embedded/postgres";
import { migrateDatabase } from "@svc/db/migrate";
import { ensureVaultCheck } from "@svc/db/projects/repo";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDataDir } from "@svc/testing/data-dir";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { codeBlocksOf } from "./markdown.ts";
import { readText, root } from "./source.ts";

// `svc doctor` as a user runs it: its output, its exit status and the examples of the guides. Each check has its own tests in
// packages/server/src/doctor.

let database: TestDatabase;
let healthy: Readonly<Record<string, string>>;
const main = await bundled(join(root, "packages/cli/src/main.ts"));

beforeAll(async () => {
  database = await createTestDatabase();
  healthy = {
    ...{ SVC_DATABASE_URL: database.url, SVC_VAULT_KEY: generateVaultKey() },
    ...{ SVC_TOOLKITS: fewToolkits, SVC_CONNECTIONS: "100" },
  };
});
afterAll(() => database?.drop());

test("the exit status is 0 if all is right, 1 if there are warnings, and 2 if there are errors", async () => {
  const good = await runTestCommand(["doctor"], healthy);
  expect(good).toMatchObject({ code: 0, noted: [] });
  expect(good.printed.filter((line) => !line.startsWith("ok "))).toEqual([]);
  const warned = await runTestCommand(["doctor"], { ...healthy, SVC_HOST: "0.0.0.0" });
  expect(warned).toMatchObject({ code: 1, noted: ["svc: the checks found 1 warning"] });
  expect(warned.printed).toContain(
    "         mend: Set SVC_PUBLIC_URL to the https address at which callers and apps reach svc.",
  );
  const failed = await runTestCommand(["doctor", "--json"], { ...healthy, SVC_HOST: "0.0.0.0", SVC_PORT: "none" });
  expect(failed).toMatchObject({ code: 2, noted: ["svc: the checks found 1 error, 1 warning"] });
  const findings: Record<string, string>[] = JSON.parse(failed.printed.join("\n"));
  expect(findings[0]).toEqual({
    check: "configuration",
    state: "error",
    message: 'SVC_PORT: "none" is not a whole number from 0 to 65535',
    mend: "Correct the variable in the environment or in SVC_ENV_FILE.",
  });
  for (const finding of findings) expect(Object.keys(finding)).toEqual(["check", "state", "message", "mend"]);
});

test("a process with a low limit of open files, and one without its file of variables, end with 2", async () => {
  const low = await runInShell(`ulimit -n 256; exec "${process.execPath}" "${main}" doctor`, healthy);
  expect(low.output).toMatch(/^error {4}open files: a process may open 256 files, and svc needs up to 600/m);
  expect(low.code).toBe(2);
  const noFile = await runInShell(`exec "${process.execPath}" "${main}" doctor`, { SVC_ENV_FILE: "/missing/env" });
  expect(noFile.output).toBe(
    'error    configuration: SVC_ENV_FILE: "/missing/env" cannot be read (ENOENT); name a readable file of NAME=value lines\n         mend: Correct SVC_ENV_FILE.\n',
  );
  expect(noFile.code).toBe(2);
});

test("the guides show what the command prints", async () => {
  const dataDir = await createTestDataDir();
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const postgres = await startEmbeddedPostgres({ dataDir, durability: "full" });
  onTestFinished(() => postgres.stop());
  await migrateDatabase(postgres.url);
  const key = generateVaultKey();
  await writeFile(join(dataDir, "vault-key"), key, { mode: 0o600 });
  const db = openDatabase({ url: postgres.url });
  const sealed = createSealer(parseVaultKeys(key)).seal(Buffer.from("svc"), "deployment/vault_check/1");
  await ensureVaultCheck(db, sealed).finally(() => db.close());
  await writeFile(join(dataDir, "env"), "");
  for (const page of ["troubleshoot.md", "install.md"]) {
    const blocks = codeBlocksOf(readText(`docs/guides/operations/${page}`));
    const at = blocks.findIndex(({ language, text }) => language === "sh" && text.includes("svc doctor"));
    const script = `svc() { "${process.execPath}" "${main}" "$@" 2>&1; }\n${blocks[at]?.text}`;
    const places = (text: string) =>
      text.replaceAll("/var/lib/svc", dataDir).replace("/etc/svc/env", join(dataDir, "env"));
    const { output } = await runInShell(places(script), {});
    expect(stable(output.replaceAll(dataDir, "/var/lib/svc")), page).toBe(stable(blocks[at + 1]?.text ?? ""));
  }
});

/** The output without what differs between machines: the free disk, the limit of open files, and a generated key. */
function stable(output: string): string {
  return output
    .trim()
    .split("\n")
    .filter((line) => !/ (?:disk|open files): | mend: Raise the limit| mend: Give the disk/.test(line))
    .join("\n")
    .replace(/\(k[0-9a-f]{8}\)/, "(ID)");
}

async function runInShell(script: string, variables: Readonly<Record<string, string>>) {
  const env = { ...compileCache, PATH: process.env["PATH"] ?? "/usr/bin:/bin", ...variables };
  const child = spawn("bash", ["-c", script], { env, stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}
