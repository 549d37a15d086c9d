import { expect, test } from "vitest";
import { listFiles, readText } from "./source.ts";

// What `npm test` samples is run whole by a script of package.json: a file that none names has no whole form at all.

const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
/** The files and folders that the long runs name. */
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
