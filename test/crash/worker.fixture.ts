import { flushCompileCache } from "node:module";
import { loadCatalog, loadDeployment } from "@svc/catalog";
import { type AppTransport, createAppTransport } from "@svc/connections";
import { systemClock as clock, createAddressGuard } from "@svc/core";
import { openDatabase } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { JobsService } from "@svc/gen/jobs";
import { createNode, type NodeLimits } from "@svc/node";
import { createProjectClient, refusalOf, type TestCaller } from "@svc/testing/project-client";
import { openTestVault } from "@svc/testing/vault";
import { createLedger, type Ledger } from "@svc/tools";

// A worker node for the tests that kill one. It is a process that runs jobs, sends deliveries and serves calls, with real calls to an app
// and a real store. At the fault point that is set for it, it kills itself, is frozen, or reports the point and waits for the message `go`.
// argv[2] is a document of `Given`. It sends `ready`, and then answers each message of `Message` with the message's id.

type Given = {
  databaseUrl: string;
  vaultKey: string;
  toolkits: string;
  deployment: string;
  limits: NonNullable<NodeLimits["jobs"]>;
  runningMaxMs: number;
};
type Arm = { point: string; nth: number; act: "kill" | "freeze" | "tell" };
type Move = "retryJob" | "rerunJob" | "pauseJob" | "resumeJob" | "cancelJob" | "answerAsk" | "submitJob";
type Message = {
  id?: number;
  start?: true;
  arm?: Arm | null;
  serve?: { move: Move; request: object; caller: TestCaller };
  drain?: true;
  go?: true;
};

const given = JSON.parse(process.argv[2] ?? "{}") as Given;
let armed: Arm | null = null;
let goOn = () => {};

/** Called at each fault point. At the one that is set, it ends the process as kill -9 does, stops it, or waits for `go`. */
function pass(point: string): Promise<void> | undefined {
  if (armed?.point !== point || --armed.nth !== 0) return undefined;
  const { act } = armed;
  armed = null;
  if (act === "kill") process.kill(process.pid, "SIGKILL");
  process.send?.({ at: point });
  if (act === "freeze") process.kill(process.pid, "SIGSTOP");
  if (act !== "tell") return undefined;
  return new Promise((resolve) => {
    goOn = resolve;
  });
}

const db = openDatabase({ url: given.databaseUrl, applicationName: "svc-crash-worker" });
// The service on the same store seals secrets with the keys in that store.
const { sealer } = await openTestVault(db, given.vaultKey);
const ranges = ["127.0.0.0/8"];
const network = createAppTransport({ guard: createAddressGuard({ allowedRanges: ranges }) });
const transport: AppTransport = {
  async send(request, call, options) {
    await pass("after-insert");
    const answer = await network.send(request, call, options);
    await pass("after-send");
    return answer;
  },
};
const stored = createLedger({ db, clock, sealer });
const ledger: Ledger = {
  ...stored,
  begun(...row) {
    // This passing is not waited for, unlike those of the other points.
    void pass("before-insert");
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
  sandboxMode: "off",
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
      authenticated: () => {},
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
    replays: { stepped: () => {}, failed: (error) => report("replays", error) },
    heldLoop: () => {},
    embeddings: { called: () => {}, searched: () => {}, failed: () => {} },
    toolkitBroken: () => {},
    callUnrecorded: (callId, error) => report(`the outcome of ${callId} could not be recorded`, error),
    renewalFailed: (error) => report("renewal", error),
    sweepFailed: report,
  },
  onFaultPoint: (point) => pass(point),
});

function report(what: string, error?: unknown): void {
  // An unavailable store is no error to report, because tests disconnect the worker from it.
  if (error !== undefined && isUnavailable(error)) return;
  process.stderr.write(`${what} ${error instanceof Error ? error.stack : (error ?? "")}\n`);
}

/** Serves a call. Returns the reason of a refusal, or an empty object. */
async function serve({ move, request, caller }: NonNullable<Message["serve"]>): Promise<object> {
  const client = createProjectClient(JobsService, node.register, caller);
  const served = (client[move] as (request: object) => Promise<object>)(request);
  const answer = await served.catch(() => undefined);
  if (answer === undefined) return { refused: (await refusalOf(served)).reason || String(await served.catch(String)) };
  await pass("after-served");
  return { refused: "", jobId: "job" in answer ? (answer.job as { id: string }).id : "" };
}

async function take({ arm, start, serve: toServe, drain, go }: Message): Promise<object> {
  if (arm !== undefined) armed = arm;
  if (start === true) node.start();
  if (go === true) goOn();
  if (drain === true) await node.drain(10_000);
  return toServe === undefined ? {} : serve(toServe);
}

process.on("message", async (message: Message) => {
  const answer = await take(message);
  // The process that asked may have ended, and the error of sending is ignored.
  process.send?.({ ...answer, id: message.id }, undefined, {}, () => {});
});
// The worker ends with the test process that started it.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
// The compile cache is written now, because a killed process writes nothing at its end.
flushCompileCache();
process.send?.({ id: 0, nodeId: node.nodeId });
