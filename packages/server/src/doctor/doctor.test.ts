import { once } from "node:events";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createOffsetClock, createSealer, parseVaultKeys, systemClock } from "@svc/core";
import { dataFolderAt } from "@svc/db/embedded/data-folder";
import { startEmbeddedPostgres } from "@svc/db/embedded/postgres";
import { createTestDataDir } from "@svc/testing/data-dir";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { backUp } from "../backup/back-up.ts";
import { openEnvironment } from "../config/environment.ts";
import { checkVault } from "../start/vault-check.ts";
import { examineDeployment } from "./doctor.ts";
import { type Machine, thisMachine } from "./examined.ts";

const vaultKey = "k1:PzEyq8nSd1kD3bJ0VmW5Yk9rT2xQ4uH7aL6cN8eG1fA=";
let database: TestDatabase;
let place: string;
let healthy: Readonly<Record<string, string>>;

beforeAll(async () => {
  database = await createTestDatabase();
  await checkVault(database.db, createSealer(parseVaultKeys(vaultKey)));
  place = await createTestDataDir();
  healthy = {
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey,
    SVC_DATA_DIR: place,
    SVC_TOOLKITS: fewToolkits,
    SVC_CONNECTIONS: "100",
  };
});

afterAll(async () => {
  await database?.drop();
  await rm(place, { recursive: true, force: true });
});

const roomy: Machine = { ...thisMachine, freeBytes: async () => 100e9 };

/** The lines of the checks that found a problem, and those of the check `name`, for the healthy deployment with other variables. */
async function examine(variables: Readonly<Record<string, string>>, machine: Partial<Machine> = {}) {
  const open = () => openEnvironment({ ...healthy, ...variables });
  const findings = await examineDeployment(open, { ...roomy, ...machine });
  const problems = findings.filter(({ state }) => state !== "ok");
  for (const { mend } of problems) expect(mend).toMatch(/\.$/);
  return {
    problems: problems.map(({ check, state, message }) => `${state} ${check}: ${message}`),
    line: (name: string) => findings.filter(({ check }) => check === name).map(({ message }) => message),
    text: JSON.stringify(findings),
  };
}

test("a healthy deployment has one line for each check and no problem", async () => {
  const open = () => openEnvironment(healthy);
  const findings = await examineDeployment(open, roomy);
  expect(findings.filter(({ state, mend }) => state !== "ok" || mend !== "")).toEqual([]);
  expect(findings.map(({ check }) => check)).toEqual([
    ...["configuration", "variables", "database", "clock", "disk", "vault key", "toolkits", "webhook secrets"],
    ...["OAuth clients", "public URL", "proxies", "company accounts", "open files", "embedded database", "backups"],
  ]);
  const said = Object.fromEntries(findings.map(({ check, message }) => [check, message]));
  expect(said["database"]).toMatch(/^PostgreSQL 1\d\.\d+ answers, and the role svc may do what svc needs$/);
  expect(said["vault key"]).toBe("set (k1), and it is the key of the database");
});

test("a database that refuses, does not answer, or does not exist is an error, and later checks say that they did not run", async () => {
  const refused = await examine({ SVC_DATABASE_URL: "postgres://svc:hunter2hunter2@127.0.0.1:1/svc" });
  expect(refused.problems).toEqual([
    "error database: SVC_DATABASE_URL: the database is unavailable (ECONNREFUSED); check the address, and that the database runs",
    "warning clock: not checked: the database did not answer",
  ]);
  expect(refused.text).not.toContain("hunter2");
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as { port: number };
  const late = await examine({ SVC_DATABASE_URL: `postgres://svc@127.0.0.1:${port}/svc` }, { answerMs: 200 });
  expect(late.problems[0]).toContain("the database is unavailable (CONNECT_TIMEOUT)");
  const missing = await examine({ SVC_DATABASE_URL: database.url.replace(/\/t_\w+/, "/missing") });
  expect(missing.problems[0]).toBe('error database: SVC_DATABASE_URL: database "missing" does not exist');
});

test("a role without the rights of svc is an error that names them", async () => {
  const role = `doctor_${process.pid}`;
  await database.db.sql.unsafe(`create role ${role} login`);
  onTestFinished(async () => void (await database.db.sql.unsafe(`drop role ${role}`)));
  const { problems } = await examine({ SVC_DATABASE_URL: database.url.replace(/\/\/[^@]*@/, `//${role}@`) });
  expect(problems).toEqual([
    expect.stringMatching(
      new RegExp(
        `^error database: the role ${role} lacks CREATE on the database t_\\w+, CREATE on the schema public, ownership of the table \\w+ and \\d+ more$`,
      ),
    ),
  ]);
});

test("a database that accepts no writes or is newer is an error, and one without tables is not", async () => {
  const readOnly = await examine({ SVC_DATABASE_URL: withParameter("default_transaction_read_only=on") });
  expect(readOnly.problems).toEqual([
    "error database: the server accepts no writes, because it is a standby or read-only",
  ]);
  const other = await createTestDatabase({ isEmpty: true });
  onTestFinished(() => other.drop());
  const empty = await examine({ SVC_DATABASE_URL: other.url });
  expect(empty.problems).toEqual([]);
  expect(empty.line("database")[0]).toMatch(/; the next start applies \d+ migrations$/);
  expect(await tablesOf(other)).toBe(0);
  await other.db.sql.unsafe("create schema drizzle");
  await other.db.sql.unsafe("create table drizzle.__drizzle_migrations (id serial, hash text, created_at bigint)");
  await other.db.sql.unsafe("insert into drizzle.__drizzle_migrations (hash) values ('of a later version')");
  const newer = await examine({ SVC_DATABASE_URL: other.url });
  expect(newer.problems).toEqual([
    "error database: the database has 1 migrations that this version of svc does not know",
  ]);
});

function withParameter(parameter: string): string {
  return `${database.url}${database.url.includes("?") ? "&" : "?"}${parameter}`;
}

async function tablesOf({ db }: TestDatabase): Promise<number> {
  const [row] = await db.sql<
    [{ count: number }]
  >`select count(*)::int4 as count from pg_tables where schemaname = 'public'`;
  return row.count;
}

test.each([
  {
    offsetMs: 15_000,
    problem: /^warning clock: the time of the database is 1\d s earlier than the time of this machine$/,
  },
  {
    offsetMs: -65_000,
    problem: /^error clock: the time of the database is 6\d s later than the time of this machine$/,
  },
])("a clock that is $offsetMs ms fast is a problem", async ({ offsetMs, problem }) => {
  const clock = createOffsetClock(systemClock);
  clock.setOffset(offsetMs);
  expect((await examine({}, { clock })).problems).toEqual([expect.stringMatching(problem)]);
});

test("the embedded database: not there, stopped, running, with a wrong password, of another account; the command starts nothing", async () => {
  const dataDir = await createTestDataDir();
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const embedded = { SVC_DATABASE_URL: "", SVC_VAULT_KEY: "", SVC_DATA_DIR: dataDir };
  const absent = await examine(embedded);
  expect(absent.problems).toEqual([
    `warning database: the embedded PostgreSQL in ${dataDir} does not exist yet, and this command does not start it`,
  ]);
  expect(absent.line("vault key")).toEqual([`the first start writes a new one to ${dataDir}/vault-key`]);
  const postgres = await startEmbeddedPostgres({ dataDir, durability: "full", password: "right" });
  onTestFinished(() => postgres.stop());
  expect((await examine(embedded)).problems).toEqual([
    `error vault key: SVC_VAULT_KEY is unset, and ${dataDir}/vault-key is missing: svc cannot read its sealed values`,
  ]);
  await writeFile(join(dataDir, "vault-key"), vaultKey, { mode: 0o600 });
  const running = await examine(embedded);
  expect(running.problems).toEqual([]);
  expect(running.line("database")[0]).toMatch(/^the embedded PostgreSQL 18\.\d+ answers/);
  expect(running.line("backups")).toEqual(["none so far by `svc backup`, and only this machine reaches svc"]);
  const production = { ...embedded, SVC_PUBLIC_URL: "https://svc.example.com", SVC_TRUSTED_PROXIES: "10.0.0.0/8" };
  expect((await examine(production)).problems).toContain(
    "warning backups: `svc backup` has made no backup of the embedded database yet",
  );
  const file = join(place, "store.backup");
  const { endsAt } = await backUp({ store: { dataDir, vaultKeys: undefined }, file });
  expect((await examine(production)).line("backups")).toEqual([`the last one ended at ${endsAt}, in ${file}`]);
  const clock = createOffsetClock(systemClock);
  clock.setOffset(26 * 3_600_000);
  expect((await examine(embedded, { clock })).problems).toEqual([
    `warning backups: older than a day: the last one ended at ${endsAt}, in ${file}`,
  ]);
  await chmod(join(dataDir, "vault-key"), 0o644);
  expect((await examine(embedded)).problems).toEqual([
    `warning vault key: other accounts can read ${dataDir}/vault-key`,
  ]);
  await writeFile(join(dataDir, "vault-key"), "k1:short");
  expect((await examine(embedded)).problems[0]).toMatch(
    /^error vault key: \S+\/vault-key: vault key 1 \(k1\): expected 32 bytes/,
  );
  const wrong = await examine({ SVC_DATABASE_URL: postgres.url.replace(":right@", ":wrong-password@") });
  expect(wrong.problems[0]).toBe('error database: SVC_DATABASE_URL: password authentication failed for user "svc"');
  expect(wrong.text).not.toContain("wrong-password");
  await writeFile(dataFolderAt(join(dataDir, "postgres")).passwordFile, "another");
  expect((await examine(embedded)).problems[0]).toContain('password authentication failed for user "svc"');
  await postgres.stop();
  expect((await examine(embedded)).problems[0]).toBe(
    `warning database: the embedded PostgreSQL in ${dataDir} does not run, and this command does not start it`,
  );
});

test("a vault key that is missing, of another database, or known to all is an error without the key", async () => {
  const missing = await examine({ SVC_VAULT_KEY: "" });
  expect(missing.problems).toEqual([
    expect.stringMatching(/^error vault key: SVC_VAULT_KEY: is unset, and SVC_DATABASE_URL is set/),
  ]);
  const other = `k1:${Buffer.from("another key of thirty-two bytes!").toString("base64")}`;
  const foreign = await examine({ SVC_VAULT_KEY: other });
  expect(foreign.problems).toEqual([
    expect.stringMatching(/^error vault key: the database's secrets are sealed with another key/),
  ]);
  const known = await examine({ SVC_VAULT_KEY: `k1:${Buffer.alloc(32, 7).toString("base64")}` });
  expect(known.problems).toEqual([
    "error vault key: the vault key k1 has 32 equal bytes, as in development: everyone can guess it",
  ]);
  expect(foreign.text + known.text).not.toMatch(/[A-Za-z0-9+/]{43}=/);
});

test.each([
  { bytes: 4e9, problem: "warning disk: only 4.0 GB are free for" },
  { bytes: 0.5e9, problem: "error disk: only 0.5 GB are free for" },
])("a data folder with $bytes free bytes is a problem", async ({ bytes, problem }) => {
  const dataDir = join(place, "later", "data");
  const embedded = { SVC_DATABASE_URL: "", SVC_VAULT_KEY: "", SVC_DATA_DIR: dataDir };
  const { problems } = await examine(embedded, { freeBytes: async () => bytes });
  expect(problems).toContain(`${problem} ${dataDir}`);
  expect(await thisMachine.freeBytes(dataDir)).toBeGreaterThan(0);
});

test("a bound toolkit without its webhook secret or its OAuth client is a warning, and a secret of no toolkit too", async () => {
  const file = join(place, "deployment.yaml");
  await writeFile(
    file,
    "toolkits:\n  calendar:\n    provider_base_url: https://calendar.example.com\n    oauth:\n      client_id_env: CALENDAR_ID\n      client_secret_env: CALENDAR_SECRET\n",
  );
  const bound = { SVC_DEPLOYMENT: file, CALENDAR_ID: "svc", SVC_WEBHOOK_SECRET_CALENDER: "swordfish" };
  const { problems, text } = await examine(bound);
  expect(problems).toEqual([
    "warning webhook secrets: calendar takes no posts: the variable SVC_WEBHOOK_SECRET_CALENDAR holds no secret",
    "warning webhook secrets: SVC_WEBHOOK_SECRET_CALENDER is set, and no toolkit has a webhook with this variable",
    "warning OAuth clients: calendar has no OAuth client, so no person can connect an account: CALENDAR_SECRET unset",
  ]);
  expect(text).not.toContain("swordfish");
  const set = { SVC_WEBHOOK_SECRET_CALENDER: "", SVC_WEBHOOK_SECRET_CALENDAR: "swordfish", CALENDAR_SECRET: "x" };
  expect((await examine({ ...bound, ...set })).problems).toEqual([]);
});

test("a deployment file or definitions with errors are errors of the check `toolkits`", async () => {
  const file = join(place, "broken.yaml");
  await writeFile(file, "toolkits:\n  calendar:\n    nonsense: 1\n");
  const { problems } = await examine({ SVC_DEPLOYMENT: file });
  expect(problems).toEqual([
    expect.stringMatching(/^error toolkits: \S+broken\.yaml:3 .*nonsense/),
    "warning webhook secrets: not checked, because the definitions of the toolkits have errors",
    "warning OAuth clients: not checked, because the definitions of the toolkits have errors",
  ]);
});

test.each([
  {
    variables: { SVC_HOST: "0.0.0.0" },
    check: "public URL",
    problem: "SVC_PUBLIC_URL is unset, and svc listens on 0.0.0.0",
  },
  {
    variables: { SVC_PUBLIC_URL: "http://svc.example.com", SVC_TRUSTED_PROXIES: "10.0.0.0/8" },
    check: "public URL",
    problem: "without TLS",
  },
  {
    variables: { SVC_PUBLIC_URL: "https://svc.example.com" },
    check: "proxies",
    problem: "SVC_TRUSTED_PROXIES is empty",
  },
  {
    variables: { SVC_TRUSTED_PROXIES: "0.0.0.0/0" },
    check: "proxies",
    problem: "SVC_TRUSTED_PROXIES contains 0.0.0.0/0",
  },
  {
    variables: { SVC_DATABSE_URL: "x" },
    check: "variables",
    problem: "unknown variables, which svc ignores: SVC_DATABSE_URL (nearest: SVC_DATABASE_URL)",
  },
])("$variables is a warning of the check $check", async ({ variables, check, problem }) => {
  const { problems } = await examine(variables);
  expect(problems).toEqual([expect.stringContaining(`warning ${check}: `)]);
  expect(problems[0]).toContain(problem);
});

test("an embedded database that other machines use is a warning", async () => {
  const embedded = { SVC_DATABASE_URL: "", SVC_VAULT_KEY: "", SVC_DATA_DIR: join(place, "none") };
  const production = { SVC_PUBLIC_URL: "https://svc.example.com", SVC_TRUSTED_PROXIES: "10.0.0.0/8" };
  expect((await examine({ ...embedded, ...production })).problems).toContain(
    "warning embedded database: used in production: it runs on one machine only, and the service ends with it",
  );
});

test.each([
  { limit: 550, state: "warning" },
  { limit: 256, state: "error" },
])("a limit of $limit open files is a problem", async ({ limit, state }) => {
  expect((await examine({}, { openFilesMax: () => limit })).problems).toEqual([
    `${state} open files: a process may open ${limit} files, and svc needs up to 600: SVC_CONNECTIONS allows 100 connections`,
  ]);
});

test("an invalid configuration is a finding of each variable, and the other checks run", async () => {
  const { problems, line } = await examine({
    SVC_PORT: "none",
    SVC_DATABASE_URL: "mysql://x",
    SVC_ADMIN_TOKEN: "short-secret",
  });
  expect(problems).toEqual([
    'error configuration: SVC_PORT: "none" is not a whole number from 0 to 65535',
    expect.stringMatching(/^error configuration: SVC_ADMIN_TOKEN: has 12 characters/),
    "error database: SVC_DATABASE_URL: is not of the form postgres://user:password@host:5432/database",
    "warning clock: not checked, because SVC_DATABASE_URL is invalid",
    "warning vault key: not checked, because SVC_DATABASE_URL is invalid",
    "warning backups: not checked, because SVC_DATABASE_URL is invalid",
  ]);
  expect(line("toolkits")).toHaveLength(1);
  await mkdir(join(place, "folder"), { recursive: true });
  const noFile = await examine({ SVC_ENV_FILE: join(place, "folder") });
  expect(noFile.problems).toEqual([
    expect.stringMatching(/^error configuration: SVC_ENV_FILE: .*cannot be read \(EISDIR\)/),
  ]);
});
