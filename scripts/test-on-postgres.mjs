// Runs tests on another version of PostgreSQL than the embedded one. `npm run test:postgres -- /usr/lib/postgresql/15/bin [files]` starts a
// server of these programs in a temporary folder, runs Vitest on it, and stops it. Without files it runs the fast part, as `npm test` does.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { root } from "./run.mjs";

// PostgreSQL refuses to run as root.
const nobody = 65_534;
const account = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** Settings as those of the embedded server in tests. A crash may lose data. */
const settings = {
  ...{ listen_addresses: "127.0.0.1", unix_socket_directories: "", max_connections: 300, timezone: "UTC" },
  ...{ fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum: "off", shared_buffers: "64MB" },
  ...{ wal_level: "minimal", max_wal_senders: 0, jit: "off", max_parallel_workers_per_gather: 0 },
};

const [programs, ...files] = process.argv.slice(2);
if (programs === undefined) {
  process.stderr.write("name the folder of PostgreSQL's programs, such as /usr/lib/postgresql/15/bin\n");
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "svc-postgres-"));
chmodSync(folder, 0o700);
if (account.uid !== undefined) chownSync(folder, account.uid, account.gid);
const cluster = join(folder, "data");
const port = await freePort();
runOrExit(join(programs, "initdb"), ["-D", cluster, "-U", "svc", "--auth=trust", "-E", "UTF8", "--locale=C"]);
const given = Object.entries({ ...settings, port }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
const server = spawn(join(programs, "postgres"), ["-D", cluster, ...given], { ...account, cwd: "/", stdio: "ignore" });
const ended = new Promise((resolve) => server.once("exit", resolve));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.kill("SIGINT"));
try {
  await untilReady();
  const url = `postgres://svc@127.0.0.1:${port}/postgres`;
  const vitest = spawn(join(root, "node_modules/.bin/vitest"), ["run", ...files], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, SVC_TEST_DATABASE_URL: url },
  });
  process.exitCode = await new Promise((resolve) => vitest.once("exit", (code) => resolve(code ?? 1)));
} finally {
  server.kill("SIGINT");
  await ended;
  rmSync(folder, { recursive: true, force: true });
}

function runOrExit(program, args) {
  const { status, stderr, error } = spawnSync(program, args, { ...account, cwd: "/", encoding: "utf8" });
  if (status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  process.stderr.write(`${program}: ${error?.message ?? stderr}\n`);
  process.exit(1);
}

async function untilReady() {
  for (let tried = 0; tried < 300; tried++) {
    const { status } = spawnSync(join(programs, "pg_isready"), ["-h", "127.0.0.1", "-p", String(port)]);
    if (status === 0) return;
    await wait(100);
  }
  throw new Error("PostgreSQL did not become ready within 30 s");
}

function freePort() {
  return new Promise((resolve) => {
    const taken = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = taken.address();
      taken.close(() => resolve(free));
    });
  });
}
