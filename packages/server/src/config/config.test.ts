import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificate } from "@svc/testing/certificate";
import { afterAll, expect, test } from "vitest";
import { checkoutDir, loadConfig } from "./config.ts";
import { ConfigError, openEnvironment } from "./environment.ts";
import { isLoopbackHost } from "./loopback.ts";
import { unknownVariablesText } from "./unknown-variables.ts";
import { configVariables } from "./variables.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

const places = { workingDir: "/work", checkout: "/src/svc", isRoot: false };
const load = (variables: Record<string, string>, where = places) => loadConfig(openEnvironment(variables), where);
const vaultKey = `k1:${Buffer.alloc(32, 7).toString("base64")}`;

function faultsOf(variables: Record<string, string>, where = places): string[] {
  try {
    load(variables, where);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ variable, message }) => `${variable}: ${message}`);
    throw error;
  }
  return [];
}

test("an empty environment gives the documented defaults", () => {
  expect(load({})).toMatchObject({
    host: "127.0.0.1",
    port: 8080,
    databaseUrl: undefined,
    dataDir: "/src/svc/.svc",
    toolkitFolders: ["/src/svc/toolkits"],
    role: "all",
    processes: 1,
    endpointConcurrency: 16,
    retryScheduleMs: [5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200, 86_400].map((seconds) => seconds * 1_000),
    bodyBytesMax: 1_048_576,
    connectionsMax: 10_000,
    connectionsPerAddressMax: 2_500,
    trustedProxies: [],
    drainMs: 35_000,
    eventRetentionMs: 30 * 86_400_000,
    jobRetentionMs: undefined,
    logLevel: "info",
  });
});

test.each([
  ["http://collector.internal/svc", false],
  ["http://10.0.0.7/svc", false],
  ["https://collector.internal/svc", true],
  ["http://127.0.0.1:9000/svc", true],
  ["http://[::1]:9000/svc", true],
])("a token for the export to %s is accepted: %s", (address, isAccepted) => {
  const faults = faultsOf({ SVC_EXPORT_TO: address, SVC_EXPORT_TOKEN: "token-of-the-collector" });
  const fault =
    "SVC_EXPORT_TOKEN: is set, and SVC_EXPORT_TO begins with http://, so others could read it; use https://";
  expect(faults).toEqual(isAccepted ? [] : [fault]);
  expect(faultsOf({ SVC_EXPORT_TO: address })).toEqual([]);
});

test("several processes take Linux and no sandbox, and their number is a small one", () => {
  expect(load({ SVC_PROCESSES: "4", SVC_SANDBOX: "off" }).processes).toBe(4);
  expect(faultsOf({ SVC_PROCESSES: "2" })).toEqual([
    'SVC_PROCESSES: "2" does not work with the sandbox, which keeps its data in the memory of one process; set SVC_SANDBOX=off, or leave it at 1',
  ]);
  expect(faultsOf({ SVC_PROCESSES: "0" })).toEqual(['SVC_PROCESSES: "0" is not a whole number from 1 to 64']);
});

test("what needs Linux is refused on macOS, and everything else is read as on Linux", () => {
  const onMac = { ...places, platform: "darwin" as const };
  const database = { SVC_DATABASE_URL: "postgres://db/svc", SVC_VAULT_KEY: vaultKey };
  const faultsOnMac = (variables: Record<string, string>) =>
    faultsOf(variables, onMac).map((fault) => fault.replace(/ needs Linux.*/, " needs Linux"));
  expect(faultsOnMac({ ...database, SVC_PROCESSES: "2" })).toEqual(['SVC_PROCESSES: "2" needs Linux']);
  expect(faultsOnMac({ ...database, SVC_REUSE_PORT: "on" })).toEqual(['SVC_REUSE_PORT: "on" needs Linux']);
  expect(load({}, onMac)).toEqual({ ...load({}), environment: expect.anything() });
});

test("nodes share a port only with a database that they share, and only if each is a process of its own", () => {
  const database = { SVC_DATABASE_URL: "postgres://db/svc", SVC_VAULT_KEY: vaultKey };
  expect(load({}).isPortShared).toBe(false);
  expect(load({ ...database, SVC_REUSE_PORT: "on" }).isPortShared).toBe(true);
  expect(faultsOf({ SVC_REUSE_PORT: "on" })).toEqual([expect.stringContaining("set SVC_DATABASE_URL")]);
  expect(faultsOf({ ...database, SVC_REUSE_PORT: "on", SVC_PROCESSES: "2" })).toEqual([
    expect.stringContaining("use only one of both"),
  ]);
});

/** Writes files into the folder of these tests. */
function write(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

test("names, listeners and files of TLS are read as they are used", () => {
  const { cert, key } = createCertificate();
  write({ "cert.pem": cert, "key.pem": key });
  const variables = {
    SVC_HOSTS: "SVC.lan 10.1 ::1",
    SVC_ADMIN_LISTEN: "[::1]:9090",
    SVC_TLS_CERT: "cert.pem",
    SVC_TLS_KEY: join(folder, "key.pem"),
  };
  const config = load(variables, { ...places, workingDir: folder });
  expect(config).toMatchObject({
    hosts: ["svc.lan", "10.0.0.1", "[::1]"],
    adminListen: { host: "::1", port: 9090 },
    tls: { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") },
  });
});

test("faults of both TLS files are reported together with other faults", () => {
  const [one, other] = [createCertificate(), createCertificate()];
  write({ "one.pem": one.cert, "other-key.pem": other.key, "nonsense.pem": "nonsense" });
  const faults = (cert: string, key: string) =>
    faultsOf({ SVC_TLS_CERT: join(folder, cert), SVC_TLS_KEY: join(folder, key), SVC_LOG_LEVEL: "loud" });
  const loud = expect.stringContaining("SVC_LOG_LEVEL");
  expect(faults("none.pem", "nonsense.pem")).toEqual([
    expect.stringMatching(/^SVC_TLS_CERT: .*none\.pem cannot be read \(ENOENT\)/),
    expect.stringMatching(/^SVC_TLS_KEY: .*nonsense\.pem contains no PEM private key/),
    loud,
  ]);
  expect(faults("one.pem", "other-key.pem")).toEqual([
    expect.stringMatching(/^SVC_TLS_KEY: .*other-key\.pem is not the key of the first certificate/),
    loud,
  ]);
});

test("root's data folder lies outside of the checkout and differs between checkouts of one name", () => {
  const first = load({}, { ...places, isRoot: true }).dataDir;
  const second = load({}, { ...places, checkout: "/other/svc", isRoot: true }).dataDir;
  expect(first).toMatch(/^\/var\/lib\/svc\/svc-[0-9a-f]{8}$/);
  expect(second).toMatch(/^\/var\/lib\/svc\/svc-[0-9a-f]{8}$/);
  expect(second).not.toBe(first);
});

test("paths that are given start at the working folder, and the checkout is this repository", () => {
  for (const name of ["work/a", "b"]) mkdirSync(join(folder, name), { recursive: true });
  const workingDir = join(folder, "work");
  const variables = { SVC_DATA_DIR: "data", SVC_TOOLKITS: `a, ${folder}/b`, SVC_DEPLOYMENT: "d.yaml" };
  const config = load(variables, { ...places, workingDir });
  expect(config).toMatchObject({
    dataDir: join(workingDir, "data"),
    toolkitFolders: [join(workingDir, "a"), join(folder, "b")],
    deploymentFile: join(workingDir, "d.yaml"),
  });
  expect(join(checkoutDir, "packages/server/src/config/config.test.ts")).toBe(import.meta.filename);
});

test("every variable is read, and every variable that is read is documented", () => {
  const read = new Set<string>();
  const environment = {
    get: (name: string) => {
      read.add(name);
      return undefined;
    },
    names: () => [],
    overridden: () => [],
    reload: () => undefined,
  };
  loadConfig(environment, places);
  expect([...read].sort()).toEqual(
    configVariables
      .map(({ name }) => name)
      .filter((name) => name !== "SVC_ENV_FILE")
      .sort(),
  );
});

test("all faults are reported at once", () => {
  const faults = faultsOf({
    SVC_PORT: "80a",
    SVC_ROLE: "boss",
    SVC_DRAIN: "soon",
    SVC_RETRY_SCHEDULE: "5s,0s,soon",
    SVC_TOOLKITS: "/nowhere/toolkits",
    SVC_DATA_DIR: `${import.meta.filename}/below`,
    SVC_ENDPOINT_CIDRS: "10.0.0.0/8, 10.0.0.0/99",
    SVC_ENDPOINT_CONCURRENCY: "0",
    SVC_MAX_BODY_BYTES: "1e9",
    SVC_EVENT_RETENTION: "1s",
    SVC_JOB_RETENTION: "12h",
    SVC_LOG_LEVEL: "loud",
    SVC_PUBLIC_URL: "svc.example.com",
    SVC_HOST: "http://x",
    SVC_HOSTS: "svc.lan, http://svc.lan, svc.lan:80, ::1",
    SVC_ADMIN_LISTEN: "9090",
    SVC_TLS_CERT: "cert.pem",
    SVC_WEBHOOK_AUDIENCE: "everyone",
  });
  expect(faults).toEqual([
    expect.stringContaining('SVC_HOST: "http://x" is not an address'),
    expect.stringContaining('SVC_PORT: "80a" is not a whole number from 0 to 65535'),
    expect.stringContaining('SVC_HOSTS: "http://svc.lan" is not a host name'),
    expect.stringContaining('SVC_HOSTS: "svc.lan:80" is not a host name'),
    expect.stringContaining('SVC_ADMIN_LISTEN: "9090" is not of the form host:port'),
    expect.stringContaining("SVC_TLS_CERT: /work/cert.pem cannot be read (ENOENT)"),
    expect.stringContaining("SVC_TLS_KEY: is unset, and SVC_TLS_CERT is set"),
    expect.stringContaining('SVC_WEBHOOK_AUDIENCE: "everyone" is not one of accounts, projects'),
    expect.stringContaining('SVC_ROLE: "boss" is not one of all, api, worker'),
    expect.stringContaining('SVC_ENDPOINT_CIDRS: address range "10.0.0.0/99"'),
    expect.stringContaining("SVC_ENDPOINT_CONCURRENCY:"),
    expect.stringMatching(/SVC_RETRY_SCHEDULE: "0s" is 0 ms.*; duration "soon"/),
    expect.stringContaining("SVC_MAX_BODY_BYTES:"),
    expect.stringContaining('SVC_DRAIN: duration "soon"'),
    expect.stringContaining('SVC_EVENT_RETENTION: "1s"'),
    expect.stringMatching(/SVC_JOB_RETENTION: "12h" is 43200000 ms; expected 86400000 to/),
    expect.stringContaining('SVC_LOG_LEVEL: "loud"'),
    expect.stringContaining('SVC_PUBLIC_URL: "svc.example.com"'),
    expect.stringContaining('SVC_TOOLKITS: "/nowhere/toolkits" does not exist'),
    expect.stringMatching(/SVC_DATA_DIR: ".*" is not a folder/),
  ]);
});

test.each([
  [{ SVC_ADMIN_LISTEN: "127.0.0.1:8080" }, 1],
  [{ SVC_HOST: "0.0.0.0", SVC_PORT: "80", SVC_ADMIN_LISTEN: "10.0.0.7:80" }, 1],
  [{ SVC_HOST: "::", SVC_ADMIN_LISTEN: "10.0.0.7:8080" }, 1],
  [{ SVC_HOST: "0.0.0.0", SVC_ADMIN_LISTEN: "[::1]:8080" }, 0],
  [{ SVC_PORT: "0", SVC_ADMIN_LISTEN: "127.0.0.1:0" }, 0],
])("administration with %j has the address of everything else: %i fault", (variables, count) => {
  // Another fault is added on purpose, because all faults are reported together.
  const faults = faultsOf({ ...variables, SVC_LOG_LEVEL: "loud" }).filter((fault) => !fault.includes("SVC_LOG_LEVEL"));
  expect(faults).toHaveLength(count);
  for (const fault of faults)
    expect(fault).toMatch(/^SVC_ADMIN_LISTEN: ".*" is already the address of SVC_HOST and SVC_PORT/);
});

test("no fault shows a secret", () => {
  const secrets = ["hunter2hunter2", "correct horse battery staple, quite long", "c2VjcmV0", "pa55word"];
  const faults = faultsOf({
    SVC_ADMIN_TOKEN: "hunter2hunter2",
    SVC_BOOTSTRAP_KEY: "correct horse battery staple, quite long",
    SVC_VAULT_KEY: "k1:c2VjcmV0",
    SVC_DATABASE_URL: "mysql://svc:pa55word@db/svc",
  });
  expect(faults).toHaveLength(4);
  for (const secret of secrets) expect(faults.join("\n")).not.toContain(secret);
});

test("a database of one's own needs a vault key, and nodes of one role need such a database", () => {
  expect(faultsOf({ SVC_DATABASE_URL: "postgres://db/svc" })).toEqual([
    expect.stringMatching(/^SVC_VAULT_KEY: is unset/),
  ]);
  expect(faultsOf({ SVC_ROLE: "worker" })).toEqual([expect.stringMatching(/^SVC_ROLE: "worker"/)]);
  expect(faultsOf({ SVC_DATABASE_URL: "postgres://a:1,b:2/svc", SVC_VAULT_KEY: vaultKey, SVC_ROLE: "worker" })).toEqual(
    [],
  );
});

test("the administrator's token is no project's key", () => {
  const same = "0123456789abcdef0123456789abcdef";
  expect(faultsOf({ SVC_ADMIN_TOKEN: same, SVC_BOOTSTRAP_KEY: same })).toHaveLength(1);
});

test("the environment wins over SVC_ENV_FILE, and a reload brings new secrets", () => {
  const file = join(folder, "variables");
  writeFileSync(file, 'SVC_PORT=9001\nSVC_HOST="::1"\nSVC_WEBHOOK_SECRET_CALENDAR=first\n');
  const environment = openEnvironment({ SVC_ENV_FILE: file, SVC_PORT: "9000" });
  const config = loadConfig(environment, places);
  expect(config).toMatchObject({ port: 9_000, host: "::1" });
  expect(config.environment.get("SVC_WEBHOOK_SECRET_CALENDAR")).toBe("first");
  writeFileSync(file, "SVC_WEBHOOK_SECRET_CALENDAR=second first\n");
  expect(environment.overridden()).toEqual(["SVC_PORT"]);
  expect(environment.reload()).toEqual({
    changed: [{ variable: "SVC_WEBHOOK_SECRET_CALENDAR", secrets: 2 }],
    waiting: ["SVC_HOST"],
  });
  expect(environment.reload()).toMatchObject({ changed: [] });
  expect(config.environment.get("SVC_WEBHOOK_SECRET_CALENDAR")).toBe("second first");
  rmSync(file);
  expect(() => environment.reload()).toThrow(ConfigError);
  expect(config.environment.get("SVC_WEBHOOK_SECRET_CALENDAR")).toBe("second first");
});

test("variables of SVC_ENV_FILE that the environment sets too are named, secrets and empty ones of the file included", () => {
  const file = join(folder, "overridden");
  writeFileSync(file, "SVC_WEBHOOK_SECRET_CALENDAR=new\nSVC_PORT=\nSVC_HOST=::1\nSVC_LOG_LEVEL=warn\nOTHER=x\n");
  const environment = openEnvironment({
    SVC_ENV_FILE: file,
    SVC_WEBHOOK_SECRET_CALENDAR: "old",
    SVC_PORT: "9000",
    SVC_LOG_LEVEL: "",
    OTHER: "y",
  });
  expect(environment.overridden()).toEqual(["OTHER", "SVC_PORT", "SVC_WEBHOOK_SECRET_CALENDAR"]);
  writeFileSync(file, "SVC_WEBHOOK_SECRET_CALENDAR=newer\nSVC_PORT=1\nSVC_LOG_LEVEL=debug\nSVC_EMBEDDINGS_KEY=k\n");
  expect(environment.reload()).toEqual({ changed: [], waiting: ["SVC_HOST", "SVC_LOG_LEVEL"] });
  expect(environment.overridden()).toEqual(["SVC_PORT", "SVC_WEBHOOK_SECRET_CALENDAR"]);
});

test("without SVC_ENV_FILE there is nothing to reload", () => {
  expect(openEnvironment({}).reload()).toBeUndefined();
});

test.each([
  ["A=hunter2\nhunter2\n", "line 2 is not of the form NAME=value"],
  ["# B\n\nA: hunter2\n", "line 3 is not of the form NAME=value"],
  ['A="hunter2\nB=x\n', "line 1 opens a quote that is not closed"],
  ["A='x\ny'z\n", "line 1 has text after the closing quote"],
  ["A=hunter2'\n", "line 1 closes a quote that was not opened"],
  ["A=hunter2#x\n", "line 1 has a # within its value"],
  ["A= \nB=x\n", "line 1 has only blanks"],
])("a malformed SVC_ENV_FILE %j is refused by file and line, without a value", (text, expected) => {
  const file = join(folder, "malformed");
  writeFileSync(file, text);
  expect(() => openEnvironment({ SVC_ENV_FILE: file })).toThrow(`SVC_ENV_FILE: "${file}": ${expected}`);
  expect(() => openEnvironment({ SVC_ENV_FILE: file })).not.toThrow(/hunter2/);
});

test("an SVC_ENV_FILE may hold comments, blank lines, exports and quoted values over several lines", () => {
  const file = join(folder, "wellformed");
  const lines = [
    "# a",
    "",
    "export A=1",
    " B = two # b",
    "C=",
    'D="x',
    "#y",
    'z" # c',
    "E='#'",
    "F=a b\r",
    "G=`'`",
    "",
  ];
  writeFileSync(file, lines.join("\n"));
  const { get } = openEnvironment({ SVC_ENV_FILE: file });
  expect(["A", "B", "C", "D", "E", "F", "G"].map(get)).toEqual(["1", "two", undefined, "x\n#y\nz", "#", "a b", "'"]);
});

test("unknown variables are reported with a similar known name, if there is one", () => {
  const unknown = { SVC_PROT: "1", SVC_WEBHOK_SECRET_CALENDAR: "x", SVC_LOGLEVEL: "" };
  const far = { SVC_FOO: "1", SVC_XYZZY_SETTING: "1", SVC_LOGLEVL: "info" };
  const known = {
    SVC_PORT: "1",
    SVC_URL: "u",
    SVC_API_KEY: "k",
    SVC_CRASH_ROUNDS: "1",
    SVC_WEBHOOK_SECRET_A: "s",
    PATH: "p",
  };
  expect(unknownVariablesText(openEnvironment(known))).toBeUndefined();
  expect(unknownVariablesText(openEnvironment({ ...known, ...unknown }))).toBe(
    "unknown variables, which svc ignores: SVC_PROT (nearest: SVC_PORT), SVC_WEBHOK_SECRET_CALENDAR (nearest: SVC_WEBHOOK_SECRET_<TOOLKIT>)",
  );
  expect(unknownVariablesText(openEnvironment(far))).toBe(
    "unknown variables, which svc ignores: SVC_FOO, SVC_LOGLEVL (nearest: SVC_LOG_LEVEL), SVC_XYZZY_SETTING",
  );
});

test("an unreadable SVC_ENV_FILE is reported by name", () => {
  expect(() => openEnvironment({ SVC_ENV_FILE: "/nowhere/file" })).toThrow(
    /SVC_ENV_FILE: "\/nowhere\/file" cannot be read/,
  );
});

test.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["::1", true],
  ["localhost", true],
  ["0.0.0.0", false],
  ["::", false],
  ["10.0.0.1", false],
  ["svc.example.com", false],
])("listening on %s is loopback: %s", (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});

test("jobs are kept without limit unless a retention is set", () => {
  expect(load({ SVC_JOB_RETENTION: "" }).jobRetentionMs).toBeUndefined();
  expect(load({ SVC_JOB_RETENTION: "P90D" }).jobRetentionMs).toBe(90 * 86_400_000);
});

test("one address may have a share of the connections by default, and proxies are address ranges", () => {
  expect(load({ SVC_CONNECTIONS: "400" }).connectionsPerAddressMax).toBe(100);
  const variables = { SVC_CONNECTIONS_PER_ADDRESS: "300", SVC_TRUSTED_PROXIES: "10.0.0.0/8, fd00::/8" };
  expect(load(variables)).toMatchObject({ connectionsPerAddressMax: 300, trustedProxies: ["10.0.0.0/8", "fd00::/8"] });
  expect(faultsOf({ SVC_TRUSTED_PROXIES: "10.0.0.1" })).toEqual([
    expect.stringMatching(/^SVC_TRUSTED_PROXIES: address range "10\.0\.0\.1" is not understood/),
  ]);
});
