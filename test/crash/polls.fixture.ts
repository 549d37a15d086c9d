import { createSealer, parseVaultKeys, systemClock } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { catalogOf } from "@svc/testing/catalog";
import { createTestNode } from "@svc/testing/node";
import { shopOf } from "./polls-shop.ts";

// A node that polls an app over HTTP. At the fault point that is set for it, it kills itself as kill -9 does. argv[2] is a document of
// `Given`.

type Given = { databaseUrl: string; vaultKey: string; appUrl: string; arm?: string };

const given = JSON.parse(process.argv[2] ?? "{}") as Given;
let isRead = false;
createTestNode(openDatabase({ url: given.databaseUrl, applicationName: "svc-crash-polls" }), {
  clock: systemClock,
  sealer: createSealer(parseVaultKeys(given.vaultKey)),
  catalog: catalogOf({ toolkits: [shopOf(given.appUrl)] }),
  engines: ["standing"],
  limits: { standing: { pollMs: 20, leaseMs: 1_000 } },
  onStandingFaultPoint(point) {
    if (point === "rows-read") isRead = true;
    if (isRead && point === given.arm) process.kill(process.pid, "SIGKILL");
  },
});
process.on("disconnect", () => process.exit());
