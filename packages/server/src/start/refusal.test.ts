import { expect, test } from "vitest";
import type { Config } from "../config/config.ts";
import { describeStartFault } from "./refusal.ts";

test("an unavailable database is named by what the operator configured: SVC_DATABASE_URL, or the data folder", () => {
  const error = Object.assign(new Error("the server ends"), { code: "57P03" });
  const config = { host: "127.0.0.1", port: 8080, dataDir: "/var/lib/svc" } as Config;
  expect(describeStartFault(error, { ...config, databaseUrl: "postgres://db/svc" })).toBe(
    "SVC_DATABASE_URL: the database is unavailable (57P03); check the address, and that the database runs",
  );
  expect(describeStartFault(error, { ...config, databaseUrl: undefined })).toBe(
    "the embedded PostgreSQL in /var/lib/svc is unavailable (57P03). If another svc used this folder, wait until it has stopped, and start again",
  );
});
