import { chmod, rm } from "node:fs/promises";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDataDir } from "@svc/testing/data-dir";
import { startDatabaseServer } from "@svc/testing/database";
import { runVariable } from "@svc/testing/once-a-run";

/**
 * Sets up all tests: Vitest runs this once before the first test. It starts one PostgreSQL and creates one folder for shared files; both
 * are removed at the end.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await startDatabaseServer();
  process.env["SVC_TEST_DATABASE_URL"] = server.url;
  const run = await createTestDataDir();
  // Some tests run the folder's programs as another account, which needs access.
  await chmod(run, 0o755);
  process.env[runVariable] = run;
  // Set for the test workers and for the processes they start. The service then caches its definitions in this folder and reads them once.
  Object.assign(process.env, compileCache);
  return async () => {
    await rm(run, { recursive: true, force: true });
    await server.stop();
  };
}
