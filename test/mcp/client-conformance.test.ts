import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";

// Runs the client scenarios of the official conformance suite of the protocol against svc, which calls tools of the suite's servers.

const publicUrl = "https://svc.example.com";
let server: TestServer;
beforeAll(async () => {
  const ranges = { SVC_PROVIDER_CIDRS: "127.0.0.1/32,::1/128" };
  server = await startTestServer({ variables: { SVC_SANDBOX: "off", SVC_PUBLIC_URL: publicUrl, ...ranges } });
});
afterAll(() => server?.stop());

const suite = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"));

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

/** Runs the scenarios that a protocol revision requires of a client. Returns what failed in each scenario. */
async function run(revision: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = await mkdtemp(join(tmpdir(), "svc-mcp-client-"));
  const command = `${process.execPath} ${join(import.meta.dirname, "client.fixture.ts")}`;
  const args = ["client", "--requirements", revision, "--command", command, "--timeout", "840000", "-o", folder];
  const { NODE_OPTIONS: _options, ...others } = process.env;
  const own = { SVC_TEST_URL: server.url, SVC_TEST_ADMIN: server.adminToken, SVC_TEST_PUBLIC_URL: publicUrl };
  const child = spawn(process.execPath, [join(suite, "dist", "index.js"), ...args], {
    stdio: "ignore",
    env: { ...others, ...own },
  });
  try {
    await once(child, "exit");
    const results = new Map<string, readonly Check[]>();
    for (const path of await readdir(folder, { recursive: true })) {
      if (!path.endsWith("checks.json")) continue;
      const scenario = dirname(path).replace(/-\d{4}-\d\d-\d\dT.*$/, "");
      const checks: Check[] = JSON.parse(await readFile(join(folder, path), "utf8"));
      results.set(
        scenario,
        checks.filter(({ status }) => status === "FAILURE"),
      );
    }
    return results;
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

type Requirements = {
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
};
type Expected = Readonly<Record<string, Readonly<Record<string, string>>>>;

const read = (path: string) => readFile(path, "utf8");

test.each(["2025-11-25", "2026-07-28"] as const)(
  "%s: no scenario fails but those that are listed with a reason, and all of those do",
  async (revision) => {
    const expected: Expected = JSON.parse(await read(join(import.meta.dirname, "expected-client-failures.json")));
    const requirements: Requirements = parse(await read(join(suite, "requirements", `${revision}.yaml`)));
    const results = await run(revision);
    const others = requirements.not_scored.flatMap(({ scenario, leg }) => (leg === "client" ? [scenario] : []));
    expect([...results.keys()].toSorted()).toEqual([...requirements.client, ...others].toSorted());
    const failed = [...results].filter(([, checks]) => checks.length > 0);
    const texts = failed.flatMap(([scenario, checks]) =>
      checks.map(({ id, errorMessage }) => `${scenario}: ${id}: ${errorMessage}`),
    );
    expect(failed.map(([scenario]) => scenario).toSorted(), texts.join("\n")).toEqual(
      Object.keys(expected[revision] ?? {}).toSorted(),
    );
  },
  900_000,
);
