import { createId, parseVaultKeys, systemClock } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { createLogger } from "../logger.ts";
import type { RotationFaultPoint } from "./context.ts";
import { openVault } from "./open-vault.ts";

// Program for tests: a node that advances the rotation of the vault key up to its fault point and kills itself there, like kill -9. argv[2]
// is a document of type `RotationInput`.

type RotationInput = { databaseUrl: string; keys: string[]; point: RotationFaultPoint; nth: number };

const given = JSON.parse(process.argv[2] ?? "{}") as RotationInput;
const vault = await openVault({
  ...{ db: openDatabase({ url: given.databaseUrl }), clock: systemClock, nodeId: createId("node", systemClock.now()) },
  keys: { read: async () => parseVaultKeys(given.keys.join(" ")) },
  logger: await createLogger({ level: "silent", destination: { write: () => {} } }),
  isRotating: false,
  limits: { graceMs: 0, pageRows: 3, leaseMs: 200 },
  onFaultPoint(point) {
    if (given.point === point && --given.nth === 0) process.kill(process.pid, "SIGKILL");
  },
});
for (;;) if (!(await vault.step())) await systemClock.wait(20, new AbortController().signal);
