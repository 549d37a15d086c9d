import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { withProfile } from "./profile/offer.ts";

// Runs the official conformance suite of the protocol against a service that has the suite's tools in addition to its own.

let server: TestServer;
let front: Server;
beforeAll(async () => {
  server = await startTestServer({ mcpOffers: withProfile });
  front = await startFront(server);
});
afterAll(async () => {
  front?.close();
  await server?.stop();
});

/** Starts a proxy that adds the API key to the suite's requests, because the suite sends none. Everything else passes unchanged. */
async function startFront({ url, key }: TestServer): Promise<Server> {
  const { hostname, port } = new URL(url);
  const made = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${key}` };
    const onwards = request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onwards.on("error", () => res.destroy());
    res.on("close", () => onwards.destroy());
    req.pipe(onwards);
  });
  made.listen(0, "127.0.0.1");
  await once(made, "listening");
  return made;
}

const suite = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

/** Runs the scenarios that a protocol revision requires, and returns the checks of each scenario. */
async function run(revision: string): Promise<Results> {
  const folder = await mkdtemp(join(tmpdir(), "svc-mcp-"));
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
  const args = ["server", "--url", url, "--requirements", revision, "--output-dir", folder];
  const child = spawn(process.execPath, [join(dirname(suite), "dist", "index.js"), ...args], { stdio: "ignore" });
  try {
    await once(child, "exit");
    const results = new Map<string, readonly Check[]>();
    for (const name of await readdir(folder)) {
      const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? name;
      results.set(scenario, JSON.parse(await readFile(join(folder, name, "checks.json"), "utf8")));
    }
    return results;
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

type Requirements = {
  readonly server: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
};
type Expected = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Expected numbers for each revision: required scenarios, those of them that fail, and checks of all scenarios. */
const counts = {
  "2025-11-25": { required: 30, failed: 4, passedChecks: 63 },
  "2026-07-28": { required: 37, failed: 0, passedChecks: 179 },
} as const;

test.each(["2025-11-25", "2026-07-28"] as const)(
  "%s: nothing fails but what is expected to, and all of that does",
  async (revision) => {
    const expected: Expected = JSON.parse(await read(join(import.meta.dirname, "expected-failures.json")));
    const expectedNames = Object.keys(expected[revision] ?? {}).toSorted();
    let results = await run(revision);
    // The suite waits half a second for some answers, which a busy machine may exceed. A real failure happens again in the second run.
    if (!isDeepStrictEqual(failedOf(results), expectedNames)) results = await run(revision);
    const requirements: Requirements = parse(await read(join(dirname(suite), "requirements", `${revision}.yaml`)));
    const others = requirements.not_scored.flatMap(({ scenario, leg }) => (leg === "server" ? [scenario] : []));
    expect([...results.keys()].toSorted()).toEqual([...requirements.server, ...others].toSorted());

    const failures = [...results].flatMap(([scenario, checks]) =>
      checks.filter(isFailure).map(({ id, errorMessage }) => `${scenario}:${id}: ${errorMessage}`),
    );
    // A scenario that is expected to fail but passes must be removed from the list for good.
    expect(failedOf(results), failures.join("\n")).toEqual(expectedNames);
    const passedChecks = [...results.values()].flat().filter(({ status }) => status === "SUCCESS").length;
    expect({
      required: requirements.server.length,
      failed: failedOf(results).filter((scenario) => requirements.server.includes(scenario)).length,
      passedChecks,
    }).toEqual(counts[revision]);
  },
);

type Results = ReadonlyMap<string, readonly Check[]>;

const isFailure = ({ status }: Check) => status === "FAILURE";
const failedOf = (results: Results) =>
  [...results].flatMap(([scenario, checks]) => (checks.some(isFailure) ? [scenario] : [])).toSorted();
const read = (path: string) => readFile(path, "utf8");
