import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, watch, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "@svc/core";
import { createTestDataDir } from "@svc/testing/data-dir";
import { afterAll, afterEach, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../connect.ts";
import { installedBinaries, linkLibraries, runnableBinaries } from "./binaries.ts";
import { isReusedPid, runProgram, unprivilegedAccount } from "./data-folder.ts";
import { EmbeddedPostgresError } from "./errors.ts";
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startEmbeddedPostgres } from "./postgres.ts";
import { startOwner } from "./test-owner.ts";

const isRoot = process.getuid?.() === 0;
// A clock whose waits take a tenth of the time, so that the tests run faster.
const hurriedClock: Clock = {
  now: () => systemClock.now() * 10,
  wait: (ms, signal) => systemClock.wait(ms / 10, signal),
};

// Most tests start and stop their own servers on this one database, because creating a database takes longest.
const dataDir = await createTestDataDir();
const servers: EmbeddedPostgres[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** Creates a data folder that is removed at the test's end. */
async function newDataDir(): Promise<string> {
  const folder = await createTestDataDir();
  onTestFinished(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Creates a folder that only root can enter, if root runs the tests. */
async function newClosedDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-closed-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, durability: "full", ...options });
  servers.push(server);
  return server;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const db = openDatabase({ url, connectionsMax: 1 });
  const rows = await db.sql.unsafe(text);
  await db.close();
  return [...rows];
}

test("answers on a Unix socket in a folder of its own, which asks for the password as well", async () => {
  const { socketUrl } = await start();
  const folder = new URL(socketUrl).searchParams.get("host") ?? "";
  expect(folder).toBe(join(dataDir, "postgres", "data"));
  expect((await stat(folder)).mode & 0o077).toBe(0);
  const text = "select inet_client_addr() is null as local";
  expect(await query(socketUrl, text)).toEqual([{ local: true }]);
  const wrong = socketUrl.replace(/:[^:@/]+@/, ":wrong@");
  await expect(query(wrong, text)).rejects.toThrow(/password authentication failed/);
});

test("a folder whose socket would have too long a path is served by loopback alone", async () => {
  const { url, socketUrl } = await start({ dataDir: join(await newDataDir(), "x".repeat(100)) });
  expect(socketUrl).toBe(url);
  expect(await query(url, "select inet_client_addr() is null as local")).toEqual([{ local: false }]);
});

async function serverPid(): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, "postgres", "data", "postmaster.pid"), "utf8"), 10);
}

/** Writes another process id into PostgreSQL's lock file, as if that process were the server. */
async function claimLockFor(pid: number): Promise<void> {
  const path = join(dataDir, "postgres", "data", "postmaster.pid");
  await writeFile(path, (await readFile(path, "utf8")).replace(/^\d+/, String(pid)));
}

test.each(["linux", "darwin"] as const)(
  "a lock file's process is known as the server or as another one, on %s",
  async (platform) => {
    await start();
    const cluster = join(dataDir, "postgres", "data");
    const lockOf = (pid: number) => ({ pid, port: 1, status: "ready" });
    expect(await isReusedPid(lockOf(await serverPid()), cluster, platform)).toBe(false);
    expect(await isReusedPid(lockOf(process.pid), cluster, platform)).toBe(true);
    expect(await isReusedPid(lockOf(2 ** 22 + 1), cluster, platform)).toBe(false);
  },
);

test("libraries get the names that PostgreSQL looks for, if the install script of the package did not run", async () => {
  const folder = await newDataDir();
  const binaries = join(folder, "native");
  await cp(installedBinaries(), binaries, { recursive: true, verbatimSymlinks: true });
  const links: { target: string }[] = JSON.parse(await readFile(join(binaries, "pg-symlinks.json"), "utf8"));
  for (const { target } of links) await rm(join(folder, target), { force: true });
  const version = () => runProgram(join(binaries, "bin/postgres"), ["--version"], undefined);
  expect((await version()).code).not.toBe(0);
  linkLibraries(binaries);
  expect((await version()).output).toMatch(/^postgres \(PostgreSQL\) 18/);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("data outlive a stop, in a server on loopback that asks for its password", async () => {
  const first = await start();
  await query(first.url, "create table kept as select 1 as n");
  const withoutPassword = first.url.replace(/:[^:@]+@/, ":wrong@");
  await expect(query(withoutPassword, "select 1")).rejects.toMatchObject({ code: "28P01" });
  await first.stop();
  await expect(first.exited).resolves.toMatchObject({ code: 0 });
  const second = await start();
  expect(await query(second.url, "select n from kept")).toEqual([{ n: 1 }]);
  expect(
    await query(second.url, "select current_setting('listen_addresses') as a, current_setting('fsync') as f"),
  ).toEqual([{ a: "127.0.0.1", f: "on" }]);
  const { mode } = await stat(join(dataDir, "postgres", "password"));
  expect(mode & 0o777).toBe(0o600);
});

test("what a killed service had committed is there, and its server ends without it", async () => {
  const owner = startOwner(dataDir, "write");
  await owner.nextLine();
  const pid = await serverPid();
  while (Number(await owner.nextLine()) < 100);
  const acknowledged = await owner.kill();
  const next = await start();
  expect(isAlive(pid)).toBe(false);
  const [row] = await query(next.url, "select max(n) as last, count(*)::int4 as count from written");
  expect(row?.["last"]).toBeGreaterThanOrEqual(acknowledged);
  expect(row?.["count"]).toBe(row?.["last"]);
});

test("a service and a server that were killed both do not keep the next from starting", async () => {
  const owner = startOwner(dataDir, "write");
  await owner.nextLine();
  const pid = await serverPid();
  while (Number(await owner.nextLine()) < 100);
  process.kill(pid, "SIGKILL");
  const acknowledged = await owner.kill();
  expect(await serverPid()).toBe(pid);
  const next = await start();
  const [row] = await query(next.url, "select count(*)::int4 as count from written");
  expect(row?.["count"]).toBeGreaterThanOrEqual(acknowledged);
});

test("a lock whose process number was given to another program does not keep a service from starting", async () => {
  const first = await start();
  const pid = await serverPid();
  process.kill(pid, "SIGKILL");
  await first.exited;
  const stranger = spawn("sleep", ["60"], { ...(isRoot ? unprivilegedAccount : {}), stdio: "ignore" });
  await claimLockFor(stranger.pid ?? 0);
  const next = await start();
  expect(await query(next.url, "select 1 as one")).toEqual([{ one: 1 }]);
  stranger.kill();
  await once(stranger, "exit");
});

test("a second service on the same data is refused, and the first continues", async () => {
  const first = await start();
  const waits: string[] = [];
  const refused = start({ clock: hurriedClock, onWait: (text) => waits.push(text) });
  await expect(refused).rejects.toThrow(EmbeddedPostgresError);
  // The operator learns at once, and once, what the start waits for.
  expect(waits).toEqual([
    `another svc still uses ${dataDir} (its PostgreSQL is process ${await serverPid()}); waiting up to 3 s for its end. ` +
      "If it does not stop by itself, stop it, or set SVC_DATA_DIR to another folder.",
  ]);
  await expect(refused).rejects.toThrow(
    `another svc is running on ${dataDir} (its PostgreSQL is process ${await serverPid()})`,
  );
  expect(await query(first.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("two services that make the same store at once leave one running", async () => {
  const both = { dataDir: await newDataDir(), clock: hurriedClock };
  const results = await Promise.allSettled([start(both), start(both)]);
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await readdir(both.dataDir)).toEqual(["postgres"]);
});

test("a store whose making was interrupted is made again", async () => {
  const folder = await newDataDir();
  const changes = watch(folder);
  const owner = startOwner(folder, "idle");
  for await (const { filename } of changes) if (filename?.startsWith("postgres.new-")) break;
  await owner.killGroup();
  expect(await readdir(folder)).toEqual([expect.stringMatching(/^postgres\.new-/)]);
  const server = await start({ dataDir: folder });
  expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
  expect(await readdir(folder)).toEqual(["postgres"]);
});

test("a server that ends by itself is reported", async () => {
  const server = await start();
  process.kill(await serverPid(), "SIGQUIT");
  const exit = await server.exited;
  expect(exit.log).toContain("immediate shutdown request");
  await server.stop();
});

test.runIf(isRoot)("root is told which folder keeps PostgreSQL out, and how to let it in", async () => {
  const closed = await newClosedDir();
  const refused = start({ dataDir: join(closed, "data") });
  await expect(refused).rejects.toThrow(`cannot enter ${closed}`);
  await expect(refused).rejects.toThrow(`chmod o+x ${closed}`);
  await expect(refused).rejects.toThrow("SVC_DATABASE_URL");
});

test.runIf(isRoot)("binaries only root can reach are copied into the data folder, once", async () => {
  const [folder, closed] = [await newDataDir(), await newClosedDir()];
  const hidden = join(closed, "linux", "native");
  await mkdir(hidden, { recursive: true });
  await once(spawn("cp", ["-RP", `${installedBinaries()}/.`, hidden]), "exit");
  await writeFile(join(closed, "linux", "package.json"), '{"version":"1.2.3"}');
  const usable = await runnableBinaries(hidden, folder, unprivilegedAccount);
  expect(usable).toBe(join(folder, "postgres-binaries-linux-1.2.3"));
  const madeAt = (await stat(usable)).ctimeMs;
  expect(await runnableBinaries(hidden, folder, unprivilegedAccount)).toBe(usable);
  expect((await stat(usable)).ctimeMs).toBe(madeAt);
});

test.runIf(isRoot)(
  "another account starts on a folder of its own, and root and others are told apart there",
  async () => {
    const folder = join(await newDataDir(), "own");
    await mkdir(folder, { mode: 0o711 });
    await chown(folder, 1000, 1000);
    const owner = startOwner(folder, "idle", { uid: 1000, gid: 1000 });
    expect(JSON.parse((await owner.nextLine()) ?? "{}")).toHaveProperty("url");
    await owner.kill();
    // If root runs the service, PostgreSQL runs as the owner of the data.
    const asRoot = await start({ dataDir: folder });
    expect(await query(asRoot.url, "select 1 as one")).toEqual([{ one: 1 }]);
    await asRoot.stop();
    const stranger = startOwner(folder, "idle", { uid: 1001, gid: 1001 });
    expect(await stranger.nextLine()).toContain("belongs to uid 1000, and svc runs as uid 1001");
    await stranger.kill();
  },
);
