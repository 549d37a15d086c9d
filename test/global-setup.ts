import { startTestServer } from "../packages/db/src/testing.ts";

/** Vitest runs this once, before the first test: one PostgreSQL for all of them, gone afterwards. */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await startTestServer();
  process.env["SVC_TEST_DATABASE_URL"] = server.url;
  return server.stop;
}
