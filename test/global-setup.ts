import { startDatabaseServer } from "@svc/testing/database";

/** Vitest runs this once, before the first test: one PostgreSQL for all of them, gone afterwards. */
export default async function setup(): Promise<() => Promise<void>> {
  const server = await startDatabaseServer();
  process.env["SVC_TEST_DATABASE_URL"] = server.url;
  return server.stop;
}
