import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserTestsPlan, findChromium, skippedLine } from "./chromium.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "chromium-"));
  await writeFile(join(folder, "chromium"), "");
  await chmod(join(folder, "chromium"), 0o755);
  await writeFile(join(folder, "chrome"), "");
});
afterAll(() => rm(folder, { recursive: true }));

test("the Chromium of SVC_CHROMIUM is taken, and no other where that is none", () => {
  const named = join(folder, "chromium");
  expect(findChromium({ SVC_CHROMIUM: named, PATH: "" })).toBe(named);
  expect(findChromium({ SVC_CHROMIUM: join(folder, "chrome"), PATH: folder })).toBeUndefined();
});

test("without SVC_CHROMIUM the first on PATH that can be run is taken", () => {
  expect(findChromium({ PATH: folder })).toBe(join(folder, "chromium"));
});

test("without a Chromium tests are skipped with one loud line, and fail in CI", () => {
  expect(browserTestsPlan(undefined, {})).toBe("skip");
  expect(browserTestsPlan(undefined, { CI: "true" })).toBe("fail");
  expect(browserTestsPlan("/usr/bin/chromium", { CI: "true" })).toBe("run");
  expect(skippedLine(12)).toBe(
    "SKIPPED: 12 console tests, no Chromium (apt-get install chromium-headless-shell, or SVC_CHROMIUM)",
  );
  expect(skippedLine(0)).toBeUndefined();
});
