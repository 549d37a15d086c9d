import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, until } from "@svc/testing/server-process";
import { DockerfileParser, type Instruction } from "dockerfile-ast";
import { expect, onTestFinished, test } from "vitest";
import { createPlace } from "./ordinary-account.ts";
import { readText, root } from "./source.ts";

// Runs the steps of the image in a root file system that debootstrap makes, without a container engine: the build stage in this checkout,
// and the steps of the last stage by chroot. Then starts the service as the image says: as its user, with a root file system that cannot be
// written to, and without capabilities.

const run = promisify(execFile);
const instructions = DockerfileParser.parse(readText("deploy/container/Dockerfile")).getInstructions();
const lastStage = instructions.slice(instructions.map((one) => one.getKeyword()).lastIndexOf("FROM"));
const argumentsOf = (keyword: string, among: readonly Instruction[] = lastStage) =>
  among.filter((one) => one.getKeyword() === keyword).map((one) => one.getArgumentsContent() ?? "");
const [user = ""] = argumentsOf("USER");
const [volume = ""] = argumentsOf("VOLUME");
const words = (keyword: string): string[] => JSON.parse(argumentsOf(keyword)[0] ?? "[]");
const environment = Object.fromEntries(
  argumentsOf("ENV").flatMap((text) => text.split(/\s+/).map((pair) => pair.split("=", 2) as [string, string])),
);

/** Makes the base of the image in `folder`. The archive of the base is kept for the next run in this checkout. */
async function makeBase(folder: string): Promise<void> {
  const [, release = ""] = /^debian:(\w+)-slim$/.exec(argumentsOf("FROM")[0] ?? "") ?? [];
  const kept = join(root, ".cache", `base-${release}.tar`);
  if (!existsSync(kept)) {
    // The mirror that this machine uses itself.
    const { stdout } = await run("apt-get", ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]);
    const [mirror = ""] = stdout.split("\n").filter((uri) => !uri.includes("security"));
    const unfinished = await createPlace();
    const made = join(unfinished, "root");
    await run("debootstrap", ["--variant=minbase", release, made, mirror], { maxBuffer: 1e8 });
    await mkdir(join(root, ".cache"), { recursive: true });
    await run("tar", [
      "-C",
      made,
      "--exclude=./var/cache/apt/archives/*.deb",
      "-cf",
      join(unfinished, "base.tar"),
      ".",
    ]);
    await copyFile(join(unfinished, "base.tar"), kept);
  }
  await mkdir(folder);
  await run("tar", ["-C", folder, "-xpf", kept]);
}

/** Runs the steps of the last stage in the root file system `folder`. */
async function runSteps(folder: string): Promise<void> {
  for (const step of lastStage) {
    const text = step.getArgumentsContent() ?? "";
    if (step.getKeyword() === "RUN") await run("chroot", [folder, "sh", "-c", text]);
    if (step.getKeyword() !== "COPY") continue;
    const [, from = "", to = ""] = /^\/build\/(\S+) (\S+)$/.exec(text) ?? [];
    await mkdir(join(folder, to, ".."), { recursive: true });
    await run("cp", ["-r", join(root, from), join(folder, to)]);
  }
}

/** Returns the command that runs a program in the image: read-only, as the image's user, without capabilities. */
function inImage(folder: string, data: string, program: readonly string[]): string[] {
  const mounts = [
    'mount --bind "$1" "$1"',
    'mount -t proc proc "$1/proc"',
    'mount --rbind /dev "$1/dev"',
    'mount -t tmpfs tmpfs "$1/tmp"',
    `mount --bind "$2" "$1${volume}"`,
    'mount -o remount,bind,ro "$1"',
    'image=$1; shift 2; exec chroot "$image" "$@"',
  ];
  const rights = [`--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--bounding-set=-all", "--no-new-privs"];
  return ["--mount", "sh", "-ec", mounts.join("\n"), "sh", folder, data, "setpriv", ...rights, ...program];
}

test("the steps of the image make a service that answers, as a user without rights that can write to its volume only", {
  timeout: 900_000,
}, async ({ skip }) => {
  const missing = ["debootstrap", "chroot", "unshare", "setpriv"].filter(
    (name) => !["/usr/sbin", "/usr/bin"].some((folder) => existsSync(join(folder, name))),
  );
  if (process.getuid?.() !== 0) skip("only root can make a root file system");
  if (missing.length > 0) skip(`not on this machine: ${missing.join(", ")}`);
  const startedAt = performance.now();
  const place = await createPlace();
  const [folder, data] = [join(place, "image"), join(place, "data")];
  await makeBase(folder);
  const [build = ""] = argumentsOf("RUN", instructions);
  onTestFinished(() => rm(join(root, "dist/package"), { recursive: true, force: true }));
  await run("sh", ["-c", build], { cwd: root, maxBuffer: 1e8 });
  await runSteps(folder);
  // A new volume begins with the owner and mode of the folder in the image.
  await mkdir(data);
  await chown(data, Number(user), Number(user));
  await chmod(data, 0o700);

  const port = String(await freePort());
  const env = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: "/",
    ...environment,
    SVC_PORT: port,
  };
  const inside = async (...program: string[]) =>
    (await run("unshare", inImage(folder, data, program), { env: { ...env, SVC_URL: `http://127.0.0.1:${port}` } }))
      .stdout;
  const service = spawn("unshare", inImage(folder, data, [...words("ENTRYPOINT"), ...words("CMD")]), {
    env,
    stdio: "inherit",
  });
  onTestFinished(() => void service.kill("SIGKILL"));
  const isReady = async () => {
    if (service.exitCode !== null) throw new Error(`the service ended with ${service.exitCode}`);
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  };
  await until(isReady, 120_000, "the service is ready");
  process.stderr.write(`the image answers after ${((performance.now() - startedAt) / 1_000).toFixed(0)} s\n`);

  const [health = ""] = argumentsOf("HEALTHCHECK").map((text) => text.replace(/^[\s\S]*?CMD /, ""));
  await inside("sh", "-c", health.replace("8080", port));
  await expect(inside("sh", "-c", health.replace("8080", "1"))).rejects.toThrow();
  expect(await inside("svc", "whoami")).toContain("default");
  const status = await readFile(`/proc/${service.pid}/status`, "utf8");
  expect(status).toMatch(new RegExp(`^Uid:\t${user}\t${user}`, "m"));
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  for (const set of ["Prm", "Eff", "Bnd"]) expect(status).toMatch(new RegExp(`^Cap${set}:\t0+$`, "m"));
  await writeFile(join(folder, "root-owned"), "");
  for (const path of ["/opt/svc/package/new", "/etc/new", "/root-owned"])
    await expect(inside("sh", "-c", `echo > ${path}`)).rejects.toThrow(/Read-only file system/);
  expect(await inside("sh", "-c", `ls ${volume}`)).toContain("vault-key");
  const [signal = ""] = argumentsOf("STOPSIGNAL");
  service.kill(signal as NodeJS.Signals);
  await until(() => service.exitCode !== null, 60_000, "its end");
  expect(service.exitCode).toBe(0);
});
