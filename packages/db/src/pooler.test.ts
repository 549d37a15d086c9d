import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase } from "@svc/testing/database";
import { freePort } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { isPoolerRefusal, poolerText } from "./driver.ts";
import { examineDatabase, openExamined } from "./examine.ts";
import { MigrationRefusedError, migrateDatabase } from "./migrate.ts";

const program = "/usr/sbin/pgbouncer";
const { tcpUrl, drop } = await createTestDatabase();
afterAll(drop);

/** Starts PgBouncer in front of the test's server. Returns the URL of the test's database through it. */
async function startPooler(settings: readonly string[]): Promise<string> {
  const { hostname, port, username, password } = new URL(tcpUrl);
  const folder = await mkdtemp(join(tmpdir(), "svc-pooler-"));
  await chmod(folder, 0o755);
  const ownPort = await freePort();
  const file = join(folder, "pgbouncer.ini");
  await writeFile(join(folder, "users"), `"${username}" "${decodeURIComponent(password)}"\n`);
  const lines = [
    "[databases]",
    `* = host=${hostname} port=${port}`,
    "[pgbouncer]",
    ...["listen_addr = 127.0.0.1", `listen_port = ${ownPort}`, "unix_socket_dir ="],
    ...["auth_type = trust", `auth_file = ${folder}/users`, ...settings],
  ];
  await writeFile(file, `${lines.join("\n")}\n`);
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const pooler = spawn(program, ["-q", file], { stdio: "ignore", ...account });
  const ended = new Promise((resolve) => pooler.once("exit", resolve));
  onTestFinished(async () => {
    pooler.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true });
  });
  await until(() => isOpen(ownPort), "PgBouncer listens");
  const url = new URL(tcpUrl);
  url.host = `127.0.0.1:${ownPort}`;
  return url.href;
}

function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const opened = new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  });
  return opened.finally(() => socket.destroy());
}

const dropped =
  "ignore_startup_parameters = svc.session, statement_timeout, idle_in_transaction_session_timeout, enable_seqscan, plan_cache_mode, jit";

test.for(["transaction", "session"])(
  "PgBouncer in mode %s is refused before svc changes anything",
  async (mode, { skip }) => {
    if (!existsSync(program)) skip("pgbouncer is not on this machine: it is in the package pgbouncer of Debian");
    const refusing = await startPooler([`pool_mode = ${mode}`]);
    await expect(migrateDatabase(refusing)).rejects.toThrow(new MigrationRefusedError(poolerText));
    const dropping = await startPooler([`pool_mode = ${mode}`, dropped]);
    await expect(migrateDatabase(dropping)).rejects.toThrow(new MigrationRefusedError(poolerText));

    const [refused, accepted] = [openExamined(refusing), openExamined(dropping)];
    onTestFinished(async () => void (await Promise.all([refused.close(), accepted.close()])));
    const error = await examineDatabase(refused).catch((caught: unknown) => caught);
    expect(isPoolerRefusal(error)).toBe(true);
    expect(await examineDatabase(accepted)).toMatchObject({ isPooled: true });
  },
);

test("PostgreSQL itself keeps the settings of sessions", async () => {
  await migrateDatabase(tcpUrl);
  const db = openExamined(tcpUrl);
  expect(await examineDatabase(db)).toMatchObject({ isPooled: false });
  await db.close();
});
