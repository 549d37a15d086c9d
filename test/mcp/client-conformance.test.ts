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

/** Longest time of a scenario. Most take two seconds of processor time. */
const timeoutMs = 300_000;

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

/**
 * Runs one scenario at a protocol revision, and returns its failed checks. The suite itself would start all scenarios at the same time, with
 * a process each, so that the time limits of svc would end the imports on a busy machine.
 */
async function run(scenario: string, revision: string): Promise<readonly Check[]> {
  const folder = await mkdtemp(join(tmpdir(), "svc-mcp-client-"));
  const command = `${process.execPath} ${join(import.meta.dirname, "client.fixture.ts")}`;
  const which = ["--scenario", scenario, "--spec-version", revision, "--force"];
  const args = ["client", ...which, "--command", command, "--timeout", String(timeoutMs), "-o", folder];
  const { NODE_OPTIONS: _options, ...others } = process.env;
  const own = { SVC_TEST_URL: server.url, SVC_TEST_ADMIN: server.adminToken, SVC_TEST_PUBLIC_URL: publicUrl };
  const child = spawn(process.execPath, [join(suite, "dist", "index.js"), ...args], {
    stdio: "ignore",
    env: { ...others, ...own },
  });
  try {
    await once(child, "exit");
    const path = (await readdir(folder, { recursive: true })).find((name) => name.endsWith("checks.json"));
    const checks: Check[] = JSON.parse(await readFile(join(folder, path ?? "no checks.json"), "utf8"));
    return checks.filter(({ status }) => status === "FAILURE");
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

type Requirements = {
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
};

const read = (path: string) => readFile(path, "utf8");

/** Reason of each scenario that svc does not pass, by revision. */
const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  await read(join(import.meta.dirname, "expected-client-failures.json")),
);

const scenarios = await Promise.all(
  ["2025-11-25", "2026-07-28"].map(async (revision) => {
    const requirements: Requirements = parse(await read(join(suite, "requirements", `${revision}.yaml`)));
    const others = requirements.not_scored.flatMap(({ scenario, leg }) => (leg === "client" ? [scenario] : []));
    const reasons = expected[revision] ?? {};
    return [...requirements.client, ...others].map((scenario) => ({ revision, scenario, reason: reasons[scenario] }));
  }),
);

test.each(scenarios.flat().filter(({ reason }) => reason === undefined))(
  "$revision: svc passes the scenario $scenario",
  async ({ scenario, revision }) => expect(await run(scenario, revision)).toEqual([]),
  timeoutMs,
);

test.each(scenarios.flat().filter(({ reason }) => reason !== undefined))(
  "$revision: svc does not pass the scenario $scenario ($reason)",
  async ({ scenario, revision }) => expect(await run(scenario, revision)).not.toEqual([]),
  timeoutMs,
);

test("each scenario with a reason is in the suite and on the page about the protocol, and no other one is", async () => {
  const known = scenarios.flat().map(({ revision, scenario }) => `${revision} ${scenario}`);
  const listed = Object.entries(expected).flatMap(([revision, reasons]) =>
    Object.keys(reasons).map((scenario) => `${revision} ${scenario}`),
  );
  expect(known).toEqual(expect.arrayContaining(listed));
  const page = await read(join(import.meta.dirname, "../../docs/reference/mcp/protocol.md"));
  const shown = page.split("\n").flatMap((line) => {
    const [, names = "", revisions = "", required = ""] = line.split("|").map((cell) => cell.trim());
    if (required !== "yes" && required !== "no") return [];
    const dates = revisions === "both" ? Object.keys(expected) : [revisions];
    return dates.flatMap((date) => [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => `${date} ${name}`));
  });
  expect(shown.toSorted()).toEqual(listed.toSorted());
});
