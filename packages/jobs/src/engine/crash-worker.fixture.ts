import { flushCompileCache } from "node:module";
import { createCatalogViews, loadCatalog, loadDeployment } from "@svc/catalog";
import { type AppTransport, createAccountAccess, createAppTransport } from "@svc/connections";
import { systemClock as clock, createAddressGuard, createId, createSealer, parseVaultKeys } from "@svc/core";
import { openDatabase } from "@svc/db";
import { createDispatcher } from "@svc/delivery";
import { createLedger, createToolCaller, type Ledger } from "@svc/tools";
import type { AskContext } from "../asks/context.ts";
import { createAskHandlers } from "../asks/handlers.ts";
import { askPort } from "../asks/port.ts";
import { hashReceipt } from "../convert/receipt-hash.ts";
import { createPinReader, type Pins } from "../program/pins.ts";
import type { EngineLimits } from "./context.ts";
import { createJobEngine, type JobEngine } from "./engine.ts";
import { createProgramCache } from "./programs.ts";

// A worker's node as far as jobs go, for the tests that kill one: a process that runs the engine with real calls over a real
// store, until it comes to the fault point it is armed for. There it kills itself. argv[2] is a document of `Given`; it sends
// `ready`, then takes messages `{start: true}` and `{arm: {point, nth} | null}`, and answers each with its echo.

type Given = {
  databaseUrl: string;
  vaultKey: string;
  toolkits: string;
  deployment: string;
  limits: Partial<EngineLimits>;
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
const nodeId = createId("node", clock.now());
const catalog = await loadCatalog({
  folders: [given.toolkits],
  deployment: await loadDeployment(given.deployment),
});
const guard = createAddressGuard({ allowedRanges: ["127.0.0.0/8"] });
const network = createAppTransport({ guard });
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
const views = createCatalogViews({ catalog, db, clock, onBroken: () => {} });
const oauth = { clientOf: () => undefined, fetch: network.fetch };
const accounts = createAccountAccess({ db, clock, sealer, oauth, isSandbox: false });
const caller = createToolCaller({
  views,
  accounts,
  transport,
  ledger,
  db,
  clock,
  isSandbox: false,
  runningMaxMs: given.runningMaxMs,
  onUnrecorded: (callId, error) => report(`the outcome of ${callId} could not be recorded`, error),
  callCode: () => Promise.reject(new Error("no tools of code here")),
});
const dispatcher = createDispatcher({
  db,
  clock,
  sealer,
  guard,
  nodeId,
  observer: {
    attempted: () => {},
    leasesLost: () => {},
    failed: (what, error) => report(`deliveries: ${what}`, error),
  },
  limits: { endpointConcurrency: 16, retryScheduleMs: [1_000], attemptTimeoutMs: 500, leaseMs: 3_000, pollMs: 200 },
  random: () => 0,
});
const asks: AskContext = {
  db,
  clock,
  sealer,
  guard,
  nodeId,
  caller,
  dispatcher,
  onDue: () => engine.wake(),
  moveJob: (tx, jobId) => engine.settled(tx, jobId),
  onLogged: () => {},
};
const pins = createPinReader();
const engine: JobEngine = createJobEngine({
  db,
  clock,
  sealer,
  caller,
  nodeId,
  asks: askPort,
  programs: createProgramCache((text) => pins.tools(JSON.parse(text) as Pins)),
  handlers: createAskHandlers(asks),
  hashReceipt,
  limits: given.limits,
  observer: { moved: () => {}, leaseLost: (jobId) => report(`the lease of ${jobId} was lost`), failed: report },
  onFaultPoint: (point) => pass(point),
});

function report(what: string, error?: unknown): void {
  process.stderr.write(`${what} ${error instanceof Error ? error.stack : (error ?? "")}\n`);
}

process.on("message", (message: Message) => {
  if (message.arm !== undefined) armed = message.arm;
  if (message.start === true) {
    engine.start();
    dispatcher.start();
  }
  process.send?.(message);
});
// A worker does not outlive the test that began it.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
// Whoever is killed keeps nothing at its end.
flushCompileCache();
process.send?.("ready");
