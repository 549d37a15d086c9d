import { spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDataDir } from "@svc/testing/data-dir";
import { freePort } from "@svc/testing/server-process";
import { afterAll, describe, expect, test } from "vitest";
import { type CodeBlock, codeBlocksOf } from "./markdown.ts";
import { readText, root } from "./source.ts";

// Runs the pages for operators as printed. Every block of `sh` runs, and the `text` block after it is its output. Blocks of another
// language, such as `bash`, need a second machine or a new version. The test replaces paths, ports and system programs.

const guides = "docs/guides/operations";
const main = await bundled(join(root, "packages/cli/src/main.ts"));
const place = await createTestDataDir();
const port = String(await freePort());
const isRoot = process.getuid?.() === 0;

/** Paths and ports in the pages, and those of the test in their place. */
const places: readonly (readonly [string, string])[] = [
  ...["/opt/svc", "/etc/svc", "/etc/systemd", "/var/lib/svc", "/var/backups", "/var/tmp", "/var/log"].map(
    (path) => [path, join(place, path)] as const,
  ),
  ["/usr/local/bin", join(place, "bin")],
  ["/usr/local/sbin", join(place, "bin")],
  ["/run/svc.pid", join(place, "svc.pid")],
  ["127.0.0.1:8080", `127.0.0.1:${port}`],
  ["8090", String(await freePort())],
  // A start takes longer on a busy machine.
  ["timeout 60 ", "timeout 300 "],
];
const moved = (text: string) => places.reduce((all, [from, to]) => all.replaceAll(from, to), text);
const restored = (text: string) => places.reduce((all, [from, to]) => all.replaceAll(to, from), text);

/** Account of PostgreSQL and the service. It is `nobody` if root runs the tests. */
const account = isRoot ? "setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs" : "";

/** Replacements for system programs that the pages use and a test must not run. */
const programs: Readonly<Record<string, string>> = {
  useradd: "",
  chown: isRoot ? `[ "$1" = -R ] && shift; shift; exec /usr/bin/chown -R 65534 "$@"` : "",
  npx: `shift; exec svc "$@"`,
  chgrp: isRoot ? `shift; exec /usr/bin/chgrp 65534 "$@"` : "",
  "systemd-analyze": "",
  journalctl: `cat ${place}/journal`,
  // Stands in for unpacking the archive, which holds the service's program and its unit.
  tar: `mkdir -p ${place}/opt/svc/package/bin ${place}/opt/svc/package/docs
cp ${place}/program ${place}/opt/svc/package/bin/svc; cp ${place}/unit ${place}/opt/svc/package/docs/svc.service`,
  setpriv: `while [ "\${1#--}" != "$1" ]; do case $1 in --reuid|--regid) shift 2;; *) shift;; esac; done
exec ${account === "" ? "" : `/usr/bin/${account} `}"$@"`,
  install: `keep= owner= group=
while [ $# -gt 0 ]; do case $1 in -o) shift 2; owner=1;; -g) shift 2; group=1;; *) last=$1; keep="$keep $1"; shift;; esac; done
/usr/bin/install $keep || exit
${isRoot ? `[ -z "$owner" ] || /usr/bin/chown 65534 $last; [ -z "$group" ] || /usr/bin/chgrp 65534 $last` : ""}`,
  systemctl: `stop() { [ ! -f ${place}/svc.pid ] || { kill $(cat ${place}/svc.pid) 2>/dev/null; while kill -0 $(cat ${place}/svc.pid) 2>/dev/null; do sleep 0.2; done; }; }
start() {
  unit=${place}/etc/systemd/system/svc.service
  mkdir -p ${place}/var/lib/svc; ${isRoot ? `/usr/bin/chown 65534 ${place}/var/lib/svc` : ":"}
  # As systemd reads it: the variables of the unit, then those of its file, and none of the caller.
  set -- $(sed -n 's/^Environment=//p' $unit) $(cat ${place}/etc/svc/env | tr -d '"')
  env -i PATH="$PATH" HOME=${place} SVC_PORT=${port} "$@" ${account} $(sed -n 's/^ExecStart=//p' $unit) >> ${place}/journal 2>&1 &
  echo $! > ${place}/svc.pid
}
case $1 in
  enable|start) start;; stop) stop;; restart) stop; start;;
  reload) kill -HUP $(cat ${place}/svc.pid); sleep 1;;
esac`,
};

await mkdir(join(place, "bin"), { recursive: true });
for (const folder of ["etc/systemd/system", "var/lib", "var/backups", "var/tmp", "var/log", "root"])
  await mkdir(join(place, folder), { recursive: true });
for (const [name, text] of Object.entries(programs))
  await writeFile(join(place, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
const program = process.env["SVC_TEST_PROGRAM"] ?? `"${process.execPath}" "${main}"`;
await writeFile(join(place, "program"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
await writeFile(join(place, "unit"), moved(readText("docs/svc.service")));

afterAll(async () => {
  await shell([], "systemctl stop svc");
  await rm(place, { recursive: true, force: true });
});

/** Runs blocks in one shell, after `before`. Resolves with the output of each. */
async function shell(blocks: readonly CodeBlock[], before = ""): Promise<string[]> {
  const read = (path: string) => readFile(join(place, path), "utf8").catch(() => "");
  const token = /SVC_ADMIN_TOKEN=(\w+)/.exec(await read("etc/svc/env"))?.[1] ?? "";
  const script = [
    before,
    ...blocks.map(
      ({ text }, index) => `{ :\n${text}\n} > ${place}/out-${index} 2>&1 || echo "block ${index} failed" >&2`,
    ),
  ]
    .join("\n")
    .replaceAll("SVC_ADMIN_TOKEN=...", `SVC_ADMIN_TOKEN=${token}`)
    .replaceAll("SVC_API_KEY=...", `SVC_API_KEY=${(await read("var/lib/svc/first-key")).trim()}`);
  const child = spawn("bash", ["-c", moved(script)], {
    cwd: place,
    env: {
      ...compileCache,
      ...{ PATH: `${join(place, "bin")}:/usr/bin:/bin`, HOME: place, COLUMNS: "80" },
      ...{ SVC_PORT: port, SVC_DATA_DIR: join(place, "var/lib/svc") },
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let failed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    failed += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  const outputs = await Promise.all(blocks.map((_block, index) => read(`out-${index}`)));
  expect(
    failed,
    `${failed}${outputs.join("\n")}${failed === "" ? "" : `${await read("journal")}${await read("var/log/svc.log")}`}`,
  ).toBe("");
  return outputs.map(restored);
}

/** Removes the parts of a text that differ from run to run. */
function normalize(text: string): string {
  return text
    .replace(/\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g, "$1_ID")
    .replace(/^ers_ID .*\n/gm, "")
    .replace(/\bsvc_[\w-]{30,}/g, "KEY")
    .replace(/\bsvc_[\w-]{4}\b/g, "HINT")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\b[\d.]+ (MB|events in \d+ chains)/g, "N $1")
    .replace(/\d+ chains/g, "N chains")
    .trim();
}

/** Runs the `sh` blocks of a page for which `isRun` is true, and compares their outputs with those on the page. */
async function runPage(path: string, before = "", isRun: (block: CodeBlock) => boolean = () => true): Promise<void> {
  const all = codeBlocksOf(readText(path));
  const blocks = all.filter((block) => block.language === "sh" && isRun(block));
  expect(blocks.length).toBeGreaterThan(0);
  const outputs = await shell(blocks, before);
  for (const [index, block] of blocks.entries()) {
    const shown = all[all.indexOf(block) + 1];
    if (process.env["SVC_SHOW"] !== undefined) process.stderr.write(`$ ${block.text}${outputs[index]}\n`);
    else if (shown?.language === "text") expect(normalize(outputs[index] ?? "")).toBe(normalize(shown.text));
  }
}

const administer = "export SVC_ADMIN_TOKEN=...";
const isBySystemd = ({ text }: CodeBlock) => !/svc-run|svc\.pid/.test(text);
const isByHand = (block: CodeBlock) => !isBySystemd(block);
const isBeforeDisaster = ({ text }: CodeBlock) => !/restore/.test(text);
const ready = "timeout 60 sh -c 'until curl -sf http://127.0.0.1:8080/readyz > /dev/null; do sleep 1; done'";

describe("pages for operators run as printed, on one machine, one after the other", { timeout: 600_000 }, () => {
  test("the tutorial, by systemd", () => runPage("docs/start/run-in-production.md", "", isBySystemd));

  test.each([
    { page: "keys-and-projects.md" },
    { page: "set-quotas.md", before: administer },
    { page: "monitor.md" },
    { page: "check-the-audit-log.md", before: administer },
    { page: "back-up-and-restore.md", before: "rm /var/backups/svc.backup", isRun: isBeforeDisaster },
    { page: "practice-a-restore.md", before: "rm /var/backups/svc.backup" },
  ])("$page", ({ page, before, isRun }) => runPage(`${guides}/${page}`, before, isRun));

  test("rotate-webhook-secrets.md: its file, then the rotation", async () => {
    const isSetUp = ({ text }: CodeBlock) => /chgrp/.test(text);
    await runPage(`${guides}/rotate-webhook-secrets.md`, "", isSetUp);
    await runPage(`${guides}/rotate-webhook-secrets.md`, ready, (block) => !isSetUp(block));
    expect(await readFile(join(place, "journal"), "utf8")).toMatch(/SVC_WEBHOOK_SECRET_CALENDAR/);
  });

  test("rotate-the-vault-key.md", () => runPage(`${guides}/rotate-the-vault-key.md`, administer));

  test("upgrade.md", () => runPage(`${guides}/upgrade.md`));

  test("export-or-erase-a-person.md", () =>
    runPage(
      `${guides}/export-or-erase-a-person.md`,
      `${ready}\n${administer}
echo any-key | svc connect messaging_bot --entity ada --key-stdin > connected 2>&1
svc call messaging_bot.send_message --entity ada --arg chat_id=4711 --arg text=Hello > called 2>&1`,
    ));

  test("scoped keys", () => runPage("docs/concepts/scoped-keys.md", administer));

  test("back-up-and-restore.md: after a disaster", () =>
    runPage(`${guides}/back-up-and-restore.md`, "", (block) => !isBeforeDisaster(block)));

  test("the tutorial and run-without-systemd.md, by hand", async () => {
    const tutorial = "docs/start/run-in-production.md";
    const isStart = ({ text }: CodeBlock) => text.includes("END");
    await runPage(tutorial, "systemctl stop svc", (block) => isByHand(block) && isStart(block));
    await runPage(tutorial, ready, (block) => isByHand(block) && !isStart(block));
    const stop = "kill $(cat /run/svc.pid); while kill -0 $(cat /run/svc.pid) 2>/dev/null; do sleep 0.2; done";
    await runPage(`${guides}/run-without-systemd.md`, `${ready}\n${stop}`);
  });
});
