import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findChromium } from "./chromium.ts";

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
