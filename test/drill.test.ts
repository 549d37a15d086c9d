import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundled } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDataDir } from "@svc/testing/data-dir";
import { freePort, postCalendar, startServerProcess, until } from "@svc/testing/server-process";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocksOf } from "./markdown.ts";
import { readText, root } from "./source.ts";

const drill = readText("docs/guides/operations/practice-a-restore.md");
const main = await bundled(join(root, "packages/cli/src/main.ts"));
const run = promisify(execFile);

test("the restore of practice-a-restore.md runs as printed while the service receives posts, and the copy has every post accepted before the backup's end", async () => {
  const place = await createTestDataDir();
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  const server = await startServerProcess({ SVC_DATA_DIR: join(place, "lib"), SVC_BOOTSTRAP_KEY: "" });
  onTestFinished(async () => void (await server.end("SIGTERM")));
  const blocks = codeBlocksOf(drill).map(({ text }) => text);
  expect(blocks.length).toBe(4);
  const [backup = "", start = "", look = "", end = ""] = blocks;
  const port = String(await freePort());
  await mkdir(join(place, "bin"));
  await mkdir(join(place, "backups"));
  await writeFile(
    join(place, "bin/svc"),
    `#!/bin/sh\nexec ${process.env["SVC_TEST_PROGRAM"] ?? `"${process.execPath}" "${main}"`} "$@"\n`,
    { mode: 0o755 },
  );
  const shell = (text: string) => {
    const script = `export SVC_DATA_DIR=/var/lib/svc SVC_WEBHOOK_AUDIENCE=projects\n${text}`
      .replaceAll("/var/lib/svc", join(place, "lib"))
      .replaceAll("/var/backups", join(place, "backups"))
      .replaceAll("/var/tmp", place)
      .replaceAll("8090", port)
      .replace("SVC_API_KEY=...", `SVC_API_KEY=$(cat ${join(place, "lib/first-key")})`);
    const env = { ...compileCache, HOME: place, PATH: `${join(place, "bin")}:${process.env["PATH"] ?? ""}` };
    return run("bash", ["-c", script], { env, maxBuffer: 50_000_000 });
  };
  const accepted: number[] = [];
  let isPosting = true;
  const posting = (async () => {
    for (let message = 1; isPosting; message++) {
      expect(await postCalendar(server, "drill", message)).toBeLessThan(300);
      accepted.push(Date.now());
    }
  })();
  await until(() => accepted.length > 20);
  const { stderr } = await shell(backup).finally(() => {
    isPosting = false;
  });
  await posting;
  const [, endsAt = ""] = /accepted before (\S+Z)/.exec(stderr) ?? [];
  const before = accepted.filter((at) => at < Date.parse(endsAt)).length;
  expect(before).toBeGreaterThan(20);
  const listed = join(place, "listed.json");
  const { stdout } = await shell(`${start}\n${look}\nsvc events list --limit 99999 --json > ${listed}\n${end}`);
  expect(stdout).toContain("calendar.events_changed");
  // Posts were made one after the other, so the stored events are the first ones.
  const events = JSON.parse(await readFile(listed, "utf8")) as { id: string }[];
  expect(new Set(events.map(({ id }) => id)).size).toBeGreaterThanOrEqual(before);
}, 300_000);
