import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first name is the browser without windows, with which the tests use a fraction of the processor time. */
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

/**
 * Finds the Chromium that the tests use: the one that `SVC_CHROMIUM` names, else the first on PATH or in the usual places. Returns
 * undefined if there is none.
 */
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

/** Returns the arguments that a test browser is started with. They make every host name fail to resolve, as without a network. */
export function browserArguments(): string[] {
  const alone =
    "--host-resolver-rules=MAP console.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost";
  return ["--disable-gpu", alone, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])];
}

/**
 * Decides about the tests that need a Chromium. They run if there is one. Otherwise they are skipped, except in CI (`CI` has any value):
 * there they fail, because nobody would read the line about skipped tests.
 */
export function browserTestsPlan(
  executable: string | undefined,
  { CI }: NodeJS.ProcessEnv = process.env,
): "run" | "skip" | "fail" {
  if (executable !== undefined) return "run";
  return CI === undefined || CI === "" ? "skip" : "fail";
}

/** Returns the last line of a run in which tests of the console were skipped, or undefined if none was. */
export function skippedLine(skipped: number): string | undefined {
  return skipped === 0 ? undefined : `SKIPPED: ${skipped} console tests, ${noChromium}`;
}

/** The message for console tests that need a Chromium and find none. */
export const noChromium = "no Chromium (apt-get install chromium-headless-shell, or SVC_CHROMIUM)";
