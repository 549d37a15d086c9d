import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first draws no windows: with it the tests take a fraction of the processor. */
const names = [
  "chromium-headless-shell",
  "chrome-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
];
const usualPlaces = [
  "/usr/bin",
  "/usr/local/bin",
  "/snap/bin",
  "/opt/google/chrome",
  "/usr/lib/chromium",
  "/Applications/Chromium.app/Contents/MacOS",
];

/** The Chromium that the tests drive: what `SVC_CHROMIUM` names, else the first on PATH and in the usual places. Undefined where there is none. */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { SVC_CHROMIUM, PATH = "" } = environment;
  if (SVC_CHROMIUM !== undefined && SVC_CHROMIUM !== "") return isExecutable(SVC_CHROMIUM) ? SVC_CHROMIUM : undefined;
  const folders = [...PATH.split(delimiter).filter(Boolean), ...usualPlaces];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** How a browser of the tests is started: no name leads anywhere, as without a network. */
export function browserArguments(): string[] {
  const alone =
    "--host-resolver-rules=MAP console.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost";
  return ["--disable-gpu", alone, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
}

/**
 * What becomes of the tests that need a Chromium: they run where there is one; else they are skipped, and in CI (`CI` set to anything) they
 * fail, since there nobody reads the line that says so.
 */
export function browserTestsPlan(
  executable: string | undefined,
  { CI }: NodeJS.ProcessEnv = process.env,
): "run" | "skip" | "fail" {
  if (executable !== undefined) return "run";
  return CI === undefined || CI === "" ? "skip" : "fail";
}

/** The last line of a run in which tests of the console were skipped; undefined for one without. */
export function skippedLine(skipped: number): string | undefined {
  return skipped === 0 ? undefined : `SKIPPED: ${skipped} console tests, ${noChromium}`;
}

/** What is said where tests of the console need a Chromium that is not there. */
export const noChromium = "no Chromium (apt-get install chromium-headless-shell, or SVC_CHROMIUM)";
