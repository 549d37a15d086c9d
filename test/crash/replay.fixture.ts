import { createSealer, parseVaultKeys, systemClock } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { createTestNode } from "@svc/testing/node";

// A node that moves paced replays on. At the fault point that is set for it, it kills itself as kill -9 does. argv[2] is a document of
// `Given`.

type Given = { databaseUrl: string; vaultKey: string; arm?: { point: string; nth: number } };

const given = JSON.parse(process.argv[2] ?? "{}") as Given;
const armed = given.arm;
createTestNode(openDatabase({ url: given.databaseUrl, applicationName: "svc-crash-replay" }), {
  clock: systemClock,
  sealer: createSealer(parseVaultKeys(given.vaultKey)),
  engines: ["standing"],
  limits: { standing: { pollMs: 20, leaseMs: 1_000 } },
  onReplayFaultPoint(point) {
    if (armed?.point === point && --armed.nth === 0) process.kill(process.pid, "SIGKILL");
  },
});
process.send?.("ready");
process.on("disconnect", () => process.exit());
