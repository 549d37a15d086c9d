import { access, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { until } from "./until.ts";

/**
 * Name of the environment variable that contains the run's folder. In this folder are things that a test run makes only once. The global
 * setup creates and removes the folder.
 */
export const runVariable = "SVC_TEST_RUN";

/**
 * Returns a folder with the given name that all workers of this test run share. The first worker that calls this function creates the
 * folder and fills it with `make`. All other workers wait until it is complete. Returns undefined outside a test run.
 */
export async function onceARun(name: string, make: (folder: string) => Promise<void>): Promise<string | undefined> {
  const run = process.env[runVariable];
  if (run === undefined) return undefined;
  const made = join(run, name);
  const exists = () =>
    access(made).then(
      () => true,
      () => false,
    );
  try {
    await mkdir(`${made}-begun`);
  } catch {
    await until(exists, `${name} is made by another worker`, 90_000);
    return made;
  }
  await make(`${made}-written`);
  await rename(`${made}-written`, made);
  return made;
}
