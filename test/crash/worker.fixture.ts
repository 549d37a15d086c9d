import { flushCompileCache } from "node:module";
import { loadCatalog, loadDeployment } from "@svc/catalog";
import { type AppTransport, createAppTransport } from "@svc/connections";
import { systemClock as clock, createAddressGuard, createSealer, parseVaultKeys } from "@svc/core";
import { openDatabase } from "@svc/db";
import { createNode, type NodeLimits } from "@svc/node";
import { createLedger, type Ledger } from "@svc/tools";

// A worker's node for the tests that kill one: a process that drives jobs and sends deliveries with real calls over a real
// store, until it comes to the fault point it is armed for. There it kills itself. argv[2] is a document of `Given`; it sends
// `ready`, then takes messages `{start: true}` and `{arm: {point, nth} | null}`, and answers each with its echo.

type Given = {
  databaseUrl: string;
  vaultKey: string;
  toolkits: string;
  deployment: string;
  limits: NonNullable<NodeLimits["jobs"]>;
  runningMaxMs: number;
};
type Message = { start?: true; arm?: { point: string; nth: number } | null };

const given = JSON.parse(process.argv[2] ?? "{}") as Given;
let armed: { point: string; nth: number } | null = null;

/** Comes to a fault point; the armed one ends the process, as a kill -9 does. */
function pass(point: string): void {
  if (armed?.point === point && --armed.nth === 0) process.kill(process.pid, "SIGKILL");
}

const db = openDatabase({ url: given.databaseUrl, applicationName: "svc-crash-worker" });
const sealer = createSealer(parseVaultKeys(given.vaultKey));
const ranges = ["127.0.0.0/8"];
const network = createAppTransport({ guard: createAddressGuard({ allowedRanges: ranges }) });
const transport: AppTransport = {
  async send(request, call, options) {
    pass("after-insert");
    const answer = await network.send(request, call, options);
    pass("after-send");
    return answer;
  },
};
const stored = createLedger({ db, clock, sealer });
const ledger: Ledger = {
  ...stored,
  begun(...row) {
    pass("before-insert");
    return stored.begun(...row);
  },
};
const deployment = await loadDeployment(given.deployment);
const node = createNode({
  ...{ db, clock, sealer, deployment, transport, ledger },
  catalog: await loadCatalog({ folders: [given.toolkits], deployment }),
  variable: () => undefined,
  publicUrl: () => "https://svc.example.com",
  version: "0.0.0",
  ranges: { endpoints: ranges, apps: ranges },
  isSandbox: false,
  random: () => 0,
  engines: ["jobs", "deliveries"],
  limits: {
    jobs: given.limits,
    callRunningMaxMs: given.runningMaxMs,
    deliveries: {
      endpointConcurrency: 16,
      retryScheduleMs: [1_000],
      attemptTimeoutMs: 500,
      leaseMs: 3_000,
      pollMs: 200,
    },
    retention: { eventsMs: 86_400_000, callsMs: 86_400_000, jobRowsMs: 86_400_000, jobsMs: undefined },
  },
  observer: {
    deliveries: {
      attempted: () => {},
      leasesLost: () => {},
      failed: (what, error) => report(`deliveries: ${what}`, error),
    },
    calls: { ended: () => {} },
    renewals: { renewed: () => {} },
    jobs: {
      ended: () => {},
      parked: () => {},
      leaseLost: (jobId) => report(`the lease of ${jobId} was lost`),
      failed: report,
    },
    asks: { settled: () => {} },
    standing: { decided: () => {}, polled: () => {}, paused: () => {}, rearmed: () => {}, failed: report },
    heldLoop: () => {},
    toolkitBroken: () => {},
    callUnrecorded: (callId, error) => report(`the outcome of ${callId} could not be recorded`, error),
    renewalFailed: (error) => report("renewal", error),
    sweepFailed: report,
  },
  onFaultPoint: (point) => pass(point),
});

function report(what: string, error?: unknown): void {
  process.stderr.write(`${what} ${error instanceof Error ? error.stack : (error ?? "")}\n`);
}

process.on("message", (message: Message) => {
  if (message.arm !== undefined) armed = message.arm;
  if (message.start === true) node.start();
  process.send?.(message);
});
// A worker does not outlive the test that began it.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
// Whoever is killed keeps nothing at its end.
flushCompileCache();
process.send?.("ready");
