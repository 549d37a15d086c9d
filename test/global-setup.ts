import { chmod, rm } from "node:fs/promises";
import { compileCache } from "@svc/testing/compile-cache";
import { createTestDataDir } from "@svc/testing/data-dir";
import { startDatabaseServer } from "@svc/testing/database";
import { runVariable } from "@svc/testing/once-a-run";

/** Vitest runs this once, before the first test: one PostgreSQL and one folder of what is made once for all of them, gone afterwards. */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await startDatabaseServer();
  process.env["SVC_TEST_DATABASE_URL"] = server.url;
  const run = await createTestDataDir();
  // Some run what is in it as another account.
  await chmod(run, 0o755);
  process.env[runVariable] = run;
  // For workers as for what they start: the service keeps beside it what its definitions say, and reads them once.
  Object.assign(process.env, compileCache);
  return async () => {
    await rm(run, { recursive: true, force: true });
    await server.stop();
  };
}
