import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { generateVaultKey, systemClock } from "@svc/core";
import { checkoutDir } from "@svc/server/config";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDataDir } from "@svc/testing/data-dir";
import { createTestDatabase } from "@svc/testing/database";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterEach, expect, test, vi } from "vitest";

// A start of the service takes a second of processor time, and its store another. Other tests may use the machine.
vi.setConfig({ testTimeout: 120_000 });

type Run = { child: ChildProcess; out: () => string; err: () => string; exit: Promise<[number | null, string | null]> };
const running = new Set<ChildProcess>();
const folders: string[] = [];
afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders.splice(0))
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const sources = join(checkoutDir, "packages/cli/src/main.ts");
const bundle = await bundled(sources);

/** Runs `svc serve` as a bundled process. Its environment has only `variables`, and a set of definitions that loads fast. */
function run(variables: Record<string, string>): Run {
  return runProgram(bundle, { SVC_TOOLKITS: fewToolkits, ...variables });
}

/** Runs `svc serve` from the sources, as users do, with only these variables. */
function runSources(variables: Record<string, string>): Run {
  return runProgram(sources, variables);
}

function runProgram(main: string, variables: Record<string, string>): Run {
  const env = { ...compileCache, PATH: process.env["PATH"], ...variables };
  const child = spawn(process.execPath, [main, "serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let out = "";
  let err = "";
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  const exit = once(child, "close").then(([code, signal]) => {
    running.delete(child);
    return [code, signal] as [number | null, string | null];
  });
  return { child, out: () => out, err: () => err, exit };
}

async function addressOf({ out, err }: Run): Promise<string> {
  await expect.poll(() => /"url":"([^"]+)"/.exec(out())?.[1] ?? err(), { timeout: 60_000 }).toMatch(/^http/);
  return /"url":"([^"]+)"/.exec(out())?.[1] ?? "";
}

/** Returns the output of a start that was refused: one line of JSON. */
async function refusalOf({ err, exit }: Run): Promise<string> {
  expect(await exit).toEqual([1, null]);
  const { level, msg } = JSON.parse(err()) as { level: string; msg: string };
  expect(level).toBe("fatal");
  return msg;
}

async function dataDir(): Promise<string> {
  const folder = await createTestDataDir();
  folders.push(folder);
  return folder;
}

test("the first start makes a key and names its file once; a later start keeps key and data, and is refused with the cure without the vault key; SIGTERM ends with 0", async () => {
  const folder = await dataDir();
  const first = runSources({ SVC_DATA_DIR: folder, SVC_PORT: "0" });
  const url = await addressOf(first);
  const key = readFileSync(join(folder, "first-key"), "utf8").trim();
  await expect.poll(first.out, { timeout: 60_000 }).toContain(`"file":"${join(folder, "first-key")}"`);
  expect(first.out()).not.toContain(key);
  for (const file of ["first-key", "vault-key"]) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(await listEvents(url, key)).toBe(200);
  first.child.kill("SIGTERM");
  expect(await first.exit).toEqual([0, null]);
  expect(first.err()).toBe("");

  const second = run({ SVC_DATA_DIR: folder, SVC_PORT: "0" });
  expect(await listEvents(await addressOf(second), key)).toBe(200);
  expect(second.out()).not.toContain("first-key");
  second.child.kill("SIGINT");
  expect(await second.exit).toEqual([0, null]);

  rmSync(join(folder, "vault-key"));
  const third = run({ SVC_DATA_DIR: folder, SVC_PORT: "0" });
  expect(await refusalOf(third)).toMatch(/SVC_VAULT_KEY: .*vault-key is missing.*restore the file/);
});

test("a key that no start has told of is told of by the next one that listens", async () => {
  const folder = await dataDir();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const failed = run({ SVC_DATA_DIR: folder, SVC_PORT: String(port) });
  expect(await failed.exit).toEqual([1, null]);
  taken.close();
  const key = readFileSync(join(folder, "first-key"), "utf8").trim();
  expect(failed.err()).not.toContain(key);
  const second = run({ SVC_DATA_DIR: folder, SVC_PORT: "0" });
  await addressOf(second);
  await expect.poll(second.out, { timeout: 60_000 }).toContain(`"file":"${join(folder, "first-key")}"`);
  expect(second.out() + second.err()).not.toContain(key);
  second.child.kill("SIGTERM");
  expect(await second.exit).toEqual([0, null]);
});

test("one Ctrl-C that arrives twice drains: the delivery in flight is finished, and the end is 0", async () => {
  const database = await createTestDatabase();
  const key = "the-bootstrap-key-of-this-very-test";
  const svc = run({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: generateVaultKey(),
    SVC_PORT: "0",
    SVC_BOOTSTRAP_KEY: key,
  });
  const url = await addressOf(svc);
  const arrived = Promise.withResolvers<() => void>();
  const endpoint = createHttpServer((_, res) => arrived.resolve(() => res.end())).listen(0, "127.0.0.1");
  await once(endpoint, "listening");
  const { port } = endpoint.address() as { port: number };
  const { subscription } = await call(url, key, "CreateSubscription", { endpointUrl: `http://127.0.0.1:${port}/` });
  await call(url, key, "SendTestEvent", { subscriptionId: subscription?.id });
  const answer = await arrived.promise;
  svc.child.kill("SIGINT");
  await systemClock.wait(50);
  svc.child.kill("SIGINT");
  await expect.poll(svc.out, { timeout: 60_000 }).toContain("stopping");
  answer();
  expect(await svc.exit).toEqual([0, null]);
  endpoint.close();
  await database.drop();
});

test("a configuration with faults ends with 1 and all of them", async () => {
  const refused = run({ SVC_PORT: "x", SVC_ROLE: "y" });
  expect(await refusalOf(refused)).toMatch(
    /^svc cannot start: the configuration has 2 problems:\n {2}SVC_PORT: .*\n {2}SVC_ROLE: .*$/,
  );
  expect(refused.out()).toBe("");
});

test("a configuration with faults tells those of its files too: certificate, key and every one of the deployment", async () => {
  const folder = await dataDir();
  const deployment = join(folder, "deployment.yaml");
  writeFileSync(deployment, "toolkits:\n  calendar:\n    provider_base_url: http://api.example.com\n    colour: red\n");
  const tls = { SVC_TLS_CERT: "/nowhere/cert.pem", SVC_TLS_KEY: "/nowhere/key.pem" };
  expect(await refusalOf(run({ SVC_PORT: "x", SVC_DEPLOYMENT: deployment, ...tls }))).toMatch(
    /^svc cannot start: the configuration has 5 problems:\n {2}SVC_PORT: .*\n {2}SVC_TLS_CERT: \/nowhere\/cert\.pem .*\n {2}SVC_TLS_KEY: .*\n {2}SVC_DEPLOYMENT: .*deployment\.yaml:\d .*\n {2}SVC_DEPLOYMENT: .*deployment\.yaml:\d .*$/,
  );
  expect(await refusalOf(run({ SVC_PORT: "x", SVC_DEPLOYMENT: "/nowhere/d.yaml" }))).toMatch(
    /2 problems:\n {2}SVC_PORT: .*\n {2}SVC_DEPLOYMENT: \/nowhere\/d\.yaml: cannot be read \(ENOENT\); name a readable YAML file/,
  );
});

test("a port in use, a database that is away or refuses, and a wrong definition are told in one line", async () => {
  const database = await createTestDatabase();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const good = { SVC_DATABASE_URL: database.url, SVC_VAULT_KEY: generateVaultKey(), SVC_PORT: "0" };
  const missing = new URL(database.url);
  missing.pathname = "/nowhere";
  const definitions = await dataDir();
  writeFileSync(join(definitions, "deployment.yaml"), "toolkits: {nope: {}}\n");
  const runs: [Record<string, string>, RegExp][] = [
    [
      { ...good, SVC_PORT: String(port) },
      /^svc cannot start: SVC_HOST, SVC_PORT: cannot listen on 127.0.0.1, port \d+ \(EADDRINUSE\)/,
    ],
    [
      { ...good, SVC_DATABASE_URL: "postgres://svc@127.0.0.1:1/svc" },
      /^svc cannot start: SVC_DATABASE_URL: the database is unavailable \(ECONNREFUSED\)/,
    ],
    [
      { ...good, SVC_DATABASE_URL: missing.href },
      /^svc cannot start: SVC_DATABASE_URL: database "nowhere" does not exist/,
    ],
    [
      { ...good, SVC_DEPLOYMENT: join(definitions, "deployment.yaml") },
      /deployment\.yaml:1 toolkits\.nope: is not a toolkit/,
    ],
  ];
  const refusals = runs.map(([variables, expected]) => [run(variables), expected] as const);
  for (const [refused, expected] of refusals) {
    const message = await refusalOf(refused);
    expect(message).toMatch(expected);
    expect(message).not.toMatch(/^\s+at /m);
  }
  taken.close();
  await database.drop();
});

test("a secret of SVC_ENV_FILE that the environment overrides is named at start and at SIGHUP, without its value", async () => {
  const database = await createTestDatabase();
  const file = join(await dataDir(), "variables");
  writeFileSync(file, "SVC_WEBHOOK_SECRET_CALENDAR=ofthefile\nSVC_SANDBOX=off\n");
  const variables = {
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: generateVaultKey(),
    SVC_PORT: "0",
    SVC_ENV_FILE: file,
  };
  const svc = run({ ...variables, SVC_WEBHOOK_SECRET_CALENDAR: "oftheenvironment" });
  await addressOf(svc);
  const said = "so the file's values have no effect: SVC_WEBHOOK_SECRET_CALENDAR";
  expect(svc.out().split(said)).toHaveLength(2);
  writeFileSync(file, "SVC_WEBHOOK_SECRET_CALENDAR=another\nSVC_SANDBOX=on\n");
  svc.child.kill("SIGHUP");
  await expect.poll(() => svc.out().split(said).length, { timeout: 60_000 }).toBe(3);
  expect(svc.out()).toContain("only a start reads them: SVC_SANDBOX");
  svc.child.kill("SIGTERM");
  expect(await svc.exit).toEqual([0, null]);
  expect(svc.out()).not.toMatch(/ofthefile|oftheenvironment|another/);
  await database.drop();
});

test("SIGHUP brings a new webhook secret, and a broken file keeps the old ones", async () => {
  const database = await createTestDatabase();
  const folder = await dataDir();
  const file = join(folder, "variables");
  writeFileSync(file, "SVC_WEBHOOK_SECRET_CALENDAR=first\n");
  const variables = {
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: generateVaultKey(),
    SVC_PORT: "0",
    SVC_ENV_FILE: file,
  };
  const svc = run({ ...variables, SVC_BOOTSTRAP_KEY: "the-bootstrap-key-of-this-very-test" });
  const url = await addressOf(svc);
  const post = async (secret: string) => {
    const headers = { "x-calendar-resource-state": "sync" };
    return (await fetch(`${url}/webhooks/calendar?token=${secret}`, { method: "POST", headers })).status;
  };
  expect([await post("first"), await post("second")]).toEqual([202, 401]);
  writeFileSync(file, "SVC_WEBHOOK_SECRET_CALENDAR=second first\n");
  svc.child.kill("SIGHUP");
  await expect.poll(() => post("second"), { timeout: 60_000 }).toBe(202);
  expect(await post("first")).toBe(202);
  expect(svc.out()).toContain("webhook secrets changed: SVC_WEBHOOK_SECRET_CALENDAR (2 secrets)");
  writeFileSync(file, "SVC_WEBHOOK_SECRET_CALENDAR: third\n");
  svc.child.kill("SIGHUP");
  await expect.poll(svc.out, { timeout: 60_000 }).toContain("line 1 is not of the form NAME=value");
  expect(await post("second")).toBe(202);
  rmSync(file);
  svc.child.kill("SIGHUP");
  await expect.poll(svc.out, { timeout: 60_000 }).toContain("cannot be read (ENOENT)");
  expect(await post("second")).toBe(202);
  svc.child.kill("SIGTERM");
  expect(await svc.exit).toEqual([0, null]);
  expect(svc.out()).not.toMatch(/token=|first|second|third/);
  await database.drop();
});

type Answer = { subscription?: { id: string } };

async function call(url: string, key: string, name: string, request: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify(request);
  const answer = await fetch(`${url}/svc.v1.TriggersService/${name}`, { method: "POST", headers, body });
  return (await answer.json()) as Answer;
}

async function listEvents(url: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return (await fetch(`${url}/svc.v1.TriggersService/ListEvents`, { method: "POST", headers, body: "{}" })).status;
}
