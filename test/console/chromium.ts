import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
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

/** What is said where tests of the console need a Chromium that is not there. */
export const noChromium = "no Chromium (apt-get install chromium, or SVC_CHROMIUM)";
