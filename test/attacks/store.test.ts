import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@svc/db/connect";
import { startTestServer } from "@svc/testing/server";
import { startServerProcess } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { expect, onTestFinished, test } from "vitest";
import { rounds } from "./rounds.ts";

test("a store that takes no writes takes the node out of traffic, and back when it does", async () => {
  const own = await startTestServer({ variables: { SVC_TOOLKITS: fewToolkits } });
  onTestFinished(() => own.stop());
  const [{ name } = { name: "" }] = await own.database.db.sql<{ name: string }[]>`select current_database() as name`;
  // A session of another database, which the settings do not affect.
  const other = openDatabase({ url: process.env["SVC_TEST_DATABASE_URL"] ?? "", connectionsMax: 1 });
  onTestFinished(() => other.close());
  const { sql } = other;
  const ready = async () => (await fetch(`${own.url}/readyz`)).text();
  // New sessions get the setting, and open sessions are ended.
  const set = async (setting: string) => {
    await sql.unsafe(`alter database "${name}" ${setting}`);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`;
  };
  expect(await ready()).toBe('{"status":"ready"}');
  // First no file may grow, as on a full disk. Then the database is read-only, as after a failover to a server that is still a standby.
  const settings = ["temp_file_limit = 0", "default_transaction_read_only = on"];
  for (const setting of settings.slice(0, rounds)) {
    await set(`set ${setting}`);
    await expect.poll(ready, { timeout: 20_000 }).toBe('{"status":"store_unavailable"}');
    await set("reset all");
    await expect.poll(ready, { timeout: 20_000 }).toBe('{"status":"ready"}');
  }
});

/** Mounts a small disk in memory. Returns its folder, or undefined if this account may not mount a disk. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
  const run = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
  const isMounted = run("mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", folder);
  onTestFinished(() => {
    if (isMounted) run("umount", folder);
    rmSync(folder, { recursive: true });
  });
  // If root runs the test, PostgreSQL runs as another user, which must be able to enter the folder.
  chmodSync(folder, 0o711);
  return isMounted ? folder : undefined;
}

test.skipIf(rounds === 1)("a full disk takes the node out of traffic, and back once there is room", async (context) => {
  const disk = mountSmallDisk();
  if (disk === undefined) return context.skip("no disk can be mounted here");
  const own = await startServerProcess({ SVC_DATA_DIR: join(disk, "data"), SVC_TOOLKITS: fewToolkits });
  const filler = join(disk, "filler");
  const ready = async () => (await fetch(`${own.url}/readyz`)).status;
  try {
    const { bavail, bsize } = statfsSync(disk);
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    } catch (error) {
      // The database has used some of the space in the meantime, so the disk is already full.
      expect(error).toMatchObject({ code: "ENOSPC" });
    }
    await expect.poll(ready, { timeout: 20_000 }).toBe(503);
    rmSync(filler);
    await expect.poll(ready, { timeout: 20_000 }).toBe(200);
  } finally {
    await own.end("SIGTERM");
  }
});
