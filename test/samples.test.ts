import { expect, test } from "vitest";
import { listFiles, readText } from "./source.ts";

// Every test file that `npm test` runs only in part has a script in package.json that runs it in full.

const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
/** Files and folders that the scripts for full runs name. */
const named = Object.values(scripts)
  .filter((script) => script.includes("SVC_CRASH_ROUNDS="))
  .flatMap((script) => script.split(" ").filter((word) => /^(?:packages|test)\//.test(word)));
const sampled = ["packages", "test"]
  .flatMap((folder) => listFiles(folder))
  .filter((path) => path.endsWith(".test.ts"))
  .filter((path) =>
    /@svc\/testing\/sample"|process\.env\["SVC_(?:CRASH_ROUNDS|ASK_ROUNDS|STANDING_ROUNDS)"\]/.test(readText(path)),
  );

test("every test that is sampled is named by a run that has all of it", () => {
  expect(sampled.length).toBeGreaterThan(15);
  const lost = sampled.filter((path) => !named.some((one) => path === one || path.startsWith(`${one}/`)));
  expect(lost).toEqual([]);
});
