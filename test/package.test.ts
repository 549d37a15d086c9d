import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, until } from "@svc/testing/server-process";
import { expect, onTestFinished, test } from "vitest";
import { asOrdinary, createOwnFolder, createPlace } from "./ordinary-account.ts";
import { readText, root } from "./source.ts";

// `npm test` checks the files that the package is built from. `npm run test:crash` builds the package and runs it as an operator would.
const isWhole = process.env["SVC_CRASH_ROUNDS"] !== undefined;
const run = promisify(execFile);

test("the package names every module that its sources import, exactly, with its licence", {
  timeout: 120_000,
}, async () => {
  const place = join(await createPlace(), "package");
  await run(process.execPath, ["--no-warnings", join(root, "scripts/package.mjs"), "--sketch", place], { cwd: root });
  const manifest = JSON.parse(await readFile(join(place, "package.json"), "utf8"));
  const { version, engines } = JSON.parse(readText("package.json"));
  expect(manifest).toMatchObject({ name: "svc", version, bin: { svc: "bin/svc" }, os: [process.platform] });
  expect(manifest).not.toHaveProperty("scripts");
  expect(manifest.bundleDependencies).toEqual(Object.keys(manifest.dependencies));
  for (const exact of Object.values(manifest.dependencies)) expect(exact).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
  const node = manifest.dependencies[`node-${process.platform}-${process.arch}`];
  expect(`>=${node.split(".")[0]} <${Number(node.split(".")[0]) + 1}`).toBe(engines.node);
  const sources = (await readdir(place, { recursive: true })).filter((path) => path.endsWith(".js"));
  // The bundle has about fifty files that include all dependencies. An idle node needs less memory with them than with 2,500 separate
  // modules.
  expect(sources).toContain("packages/cli/src/main.js");
  expect(sources).toContain("packages/program/src/run/evaluation-thread.js");
  expect(sources.length).toBeLessThan(80);
  const known = new Set([...Object.keys(manifest.dependencies), ...builtinModules]);
  const missing: string[] = [];
  for (const source of sources) {
    const text = await readFile(join(place, source), "utf8");
    // With any other character, V8 keeps two bytes of memory for each character of the file.
    expect(/[^\0-\x7f]/.exec(text)?.[0], source).toBeUndefined();
    for (const [, name = ""] of text.matchAll(/^(?:import|export)\b[^"';]*?from "([^"]+)";|\bimport\("([^"]+)"\)/gm)) {
      const isThere = name.startsWith(".")
        ? existsSync(join(place, source, "..", name))
        : name.startsWith("node:") ||
          known.has(
            name
              .split("/")
              .slice(0, name.startsWith("@") ? 2 : 1)
              .join("/"),
          );
      if (name !== "" && !isThere) missing.push(`${source}: ${name}`);
    }
  }
  expect(missing).toEqual([]);
  const bill = JSON.parse(await readFile(join(place, "sbom.cdx.json"), "utf8"));
  const listed = new Set(bill.components.map(({ purl }: { purl: string }) => decodeURIComponent(purl)));
  for (const [name, exact] of Object.entries(manifest.dependencies))
    expect(listed).toContain(`pkg:npm/${name}@${exact}`);
  const licences = await readFile(join(place, "licences.txt"), "utf8");
  // Dependencies inside the bundle are listed too.
  expect(bill.components.length).toBeGreaterThan(100);
  for (const { group, name, version: exact } of bill.components)
    expect(licences).toContain(`\n${group === undefined ? name : `${group}/${name}`} ${exact}: `);
  expect((await stat(join(place, "bin/svc"))).mode & 0o777).toBe(0o755);
});

test.for(["svc.service", "svc@.service"])("systemd takes the unit %s", async (name, { skip }) => {
  if (!existsSync("/usr/bin/systemd-analyze")) skip("systemd-analyze is not on this machine");
  const place = await createPlace();
  await mkdir(join(place, "package/bin"), { recursive: true });
  await writeFile(join(place, "package/bin/svc"), "#!/bin/sh\n", { mode: 0o755 });
  const unit = readText(`docs/${name}`);
  expect(unit).toContain("ExecStart=/opt/svc/package/bin/svc serve");
  const verify = (file: string) => run("systemd-analyze", ["verify", "--man=no", file]);
  // A template is checked as one of its units.
  const file = join(place, name.replace("@", "@1"));
  await writeFile(join(place, name), unit.replaceAll("/opt/svc", place));
  const { stdout, stderr } = await verify(file);
  expect(stdout + stderr).toBe("");
  await writeFile(
    join(place, name),
    unit.replaceAll("/opt/svc", place).replace("Restart=on-failure", "Restart=sometimes"),
  );
  // Some versions print the fault but end with status 0.
  const told = await verify(file).catch((error: { stderr: string }) => error);
  expect(told.stderr).toContain("restart specifier");
});

test("the template of several nodes has the protection of the unit", () => {
  const settingsOf = (name: string) =>
    readText(`docs/${name}`)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
  const [unit, template] = [settingsOf("svc.service"), settingsOf("svc@.service")];
  expect(unit.filter((line) => !template.includes(line))).toEqual([
    "Description=svc: webhook triggers, tool catalog and durable jobs",
    "EnvironmentFile=-/etc/svc/env",
  ]);
  expect(template.filter((line) => !unit.includes(line))).toEqual([
    "Description=svc, node %i: webhook triggers, tool catalog and durable jobs",
    "Environment=SVC_REUSE_PORT=on SVC_ADMIN_LISTEN=127.0.0.1:909%i",
    "EnvironmentFile=/etc/svc/env",
  ]);
});

/** Builds the archive, or takes the one named by `SVC_PACKAGE`, and unpacks it. */
async function unpackedPackage(place: string): Promise<{ archive: string; folder: string }> {
  let archive = process.env["SVC_PACKAGE"];
  if (archive === undefined) {
    const { stdout } = await run(process.execPath, ["--no-warnings", join(root, "scripts/package.mjs")], { cwd: root });
    process.stderr.write(stdout);
    archive = /^(.+\.tgz):/m.exec(stdout)?.[1] ?? "";
  }
  await run("tar", ["-xzf", archive, "-C", place, "--no-same-owner"]);
  return { archive, folder: join(place, "package") };
}

/** Environment of an ordinary account: an empty home folder, only the system's programs, and no network. */
const plain = (home: string, more: Record<string, string> = {}) => ({
  ...{ HOME: home, PATH: "/usr/bin:/bin", HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9" },
  ...more,
});

test.skipIf(!isWhole)(
  "unpacked in an empty folder the package serves as an ordinary account, and is upgraded to",
  {
    timeout: 900_000,
  },
  async () => {
    const place = await createPlace();
    const { archive, folder } = await unpackedPackage(place);
    const { size } = await stat(archive);
    process.stderr.write(`${archive}: ${(size / 1e6).toFixed(1)} MB\n`);
    expect(size).toBeLessThan(80_000_000);
    for (const path of await readdir(folder, { recursive: true })) {
      const { mode, uid } = await stat(join(folder, path));
      expect([mode & 0o6022, uid], path).toEqual([0, process.getuid?.()]);
    }
    const home = await createOwnFolder(place, "home");
    const port = String(await freePort());
    const program = join(folder, "bin/svc");
    const start = () => {
      const [command, ...args] = asOrdinary([program, "serve"]);
      return spawn(command, args, { cwd: "/", env: plain(home, { SVC_PORT: port }), stdio: "inherit" });
    };
    const svc = async (...args: string[]) => {
      const [command, ...rest] = asOrdinary([program, ...args]);
      const child = run(command, rest, { cwd: "/", env: plain(home, { SVC_URL: `http://127.0.0.1:${port}` }) });
      child.child.stdin?.end("any-key\n");
      return (await child).stdout;
    };
    const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
    const service = start();
    onTestFinished(() => void service.kill("SIGKILL"));
    await until(isReady, 120_000, "the service is ready");
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${service.pid}/status`, "utf8")) ?? [];
    process.stderr.write(`an idle node: ${(Number(kilobytes) / 1_024).toFixed(1)} MB\n`);
    expect(Number(kilobytes)).toBeLessThan(150 * 1_024);
    expect(await svc("whoami")).toContain("default");
    expect(await svc("connect", "messaging_bot", "--entity", "ops", "--key-stdin")).toMatch(/^acc_/);
    const sending = [
      "messaging_bot.send_message",
      "--entity",
      "ops",
      "--arg",
      "chat_id=4711",
      "--arg",
      "text=We are live",
    ];
    expect(JSON.parse(await svc("call", ...sending))).toMatchObject({ text: "We are live" });
    const data = join(home, ".local/share/svc");
    expect((await readdir(data)).sort()).toEqual(["first-key", "first-key-shown", "postgres", "vault-key"]);
    const [node] = (await readdir(join(folder, "node_modules"))).filter((name) => name.startsWith("node-linux-"));
    expect((await run(join(folder, "node_modules", node ?? "", "bin/node"), ["--version"])).stdout).toMatch(/^v24\./);
    await svc("backup", join(home, "svc.backup"));
    service.kill("SIGTERM");
    await until(() => service.exitCode !== null, 60_000, "its end");
    expect(service.exitCode).toBe(0);

    // Installs with npm, which links the package's program.
    const prefix = join(place, "global");
    const npm = ["install", "--global", "--offline", "--no-audit", "--no-fund", "--prefix", prefix, archive];
    await run("npm", npm, {
      cwd: place,
      env: plain(place, { PATH: process.env["PATH"] ?? "", npm_config_cache: join(place, "cache") }),
    });
    expect((await run(join(prefix, "bin/svc"), ["--version"], { env: plain(home) })).stdout).toContain("0.1.0");

    // Data of version 0.1 with unfinished jobs: the jobs end as they would have in 0.1.
    const recorded = ["run", "test/recorded/database.test.ts", "test/drill.test.ts"];
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const { SVC_CRASH_ROUNDS: _rounds, ...env } = process.env;
    const ended = await run(process.execPath, [vitest, ...recorded], {
      cwd: root,
      env: { ...env, SVC_TEST_PROGRAM: program, NO_COLOR: "1" },
    });
    expect(ended.stdout).toMatch(/Test Files {2}2 passed/);
  },
);
