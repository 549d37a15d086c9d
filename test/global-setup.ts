import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundlesVariable } from "@svc/testing/bundled";
import { compileCache } from "@svc/testing/compile-cache";
import { startDatabaseServer } from "@svc/testing/database";

/** Vitest runs this once, before the first test: one PostgreSQL and one folder of bundles for all of them, gone afterwards. */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await startDatabaseServer();
  process.env["SVC_TEST_DATABASE_URL"] = server.url;
  const bundles = await mkdtemp(join(tmpdir(), "svc-bundles-"));
  // Some run them as another account.
  await chmod(bundles, 0o755);
  process.env[bundlesVariable] = bundles;
  // For workers as for what they start: the service keeps beside it what its definitions say, and reads them once.
  Object.assign(process.env, compileCache);
  return async () => {
    await rm(bundles, { recursive: true, force: true });
    await server.stop();
  };
}
