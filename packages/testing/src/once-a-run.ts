import { access, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { until } from "./until.ts";

/** Where a run of the tests keeps what it makes once: the global setup makes the folder, and removes it. */
export const runVariable = "SVC_TEST_RUN";

/**
 * The folder `name` of the run's, as `make` filled it: made by whichever worker asks first, and complete for the others. Undefined outside of
 * a run of the tests.
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
