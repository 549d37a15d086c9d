import { createSealer, parseVaultKeys, systemClock } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { createTestNode, type TestParts } from "@svc/testing/node";

// A node that runs jobs and sends deliveries until the test kills it. argv[2] is a document of `Given`.

type Given = { databaseUrl: string; vaultKey: string; deliveries: NonNullable<TestParts["limits"]>["deliveries"] };

const given = JSON.parse(process.argv[2] ?? "{}") as Given;
createTestNode(openDatabase({ url: given.databaseUrl, applicationName: "svc-crash-events" }), {
  clock: systemClock,
  sealer: createSealer(parseVaultKeys(given.vaultKey)),
  engines: ["deliveries", "jobs"],
  limits: {
    jobs: { pollMs: 20, leaseMs: 1_000 },
    deliveries: { pollMs: 20, leaseMs: 3_000, attemptTimeoutMs: 500, ...given.deliveries },
  },
});
process.on("disconnect", () => process.exit());
