import { isDeepStrictEqual } from "node:util";
import type { Catalog } from "@svc/catalog";
import type { AppTransport } from "@svc/connections";
import {
  type Clock,
  createId,
  createSealer,
  digestSecret,
  type ProjectId,
  parseVaultKeys,
  type Sealer,
} from "@svc/core";
import type { Database } from "@svc/db/connect";
import { activateAccount } from "@svc/db/connections/activate";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import { recordedAnswer, type SentRequest, sentRequest } from "./app-request.ts";
import { type Driven, driveToEnd, type PendingAct, performNext } from "./drive.ts";
import { shortened } from "./endings.ts";
import { createEngineUnderTest, type EngineCaller, type EngineUnderTest } from "./engine-under-test.ts";
import type { Act, Ending, History } from "./history.ts";
import { readOutcome } from "./outcome.ts";
import { createRecorder, type Recorder } from "./recorder.ts";
import { prefixesOf, replayFrom } from "./replay.ts";
import { type Store, type Tables, writeStore } from "./store.ts";
import { createVirtualClock } from "./virtual-clock.ts";

/** A run that is to be recorded. */
export type Scenario = {
  readonly name: string;
  readonly shows: string;
  readonly catalog: () => Promise<Catalog> | Catalog;
  /** The apps, on the clock of the run. */
  readonly transport: (clock: Clock, sealer: Sealer) => AppTransport;
  readonly accounts: readonly ScenarioAccount[];
  readonly contacts: readonly ScenarioContact[];
  readonly acts: readonly PendingAct[];
  /** Time that passes before anybody takes the job up. Default 0. */
  readonly startsAfterMs?: number;
  /** What is done before the recording begins; `finish` drives a job to its end. */
  prepare?(engine: EngineUnderTest, caller: EngineCaller, finish: (jobId: string) => Promise<void>): Promise<void>;
  /** Submits the job and answers its id. The engine does nothing yet. */
  submit(engine: EngineUnderTest, caller: EngineCaller): Promise<string>;
};

/** An account that the project holds before the job is submitted. */
export type ScenarioAccount = {
  readonly toolkitSlug: string;
  readonly entityId: string;
  readonly credential: { readonly scheme: string } & Readonly<Record<string, string>>;
};

/** A contact that the project has before the job is submitted. */
export type ScenarioContact = {
  readonly principalId: string;
  readonly approver?: boolean;
  readonly reach?: { readonly toolSlug: string; readonly entityId: string; readonly argsJson: string };
};

/** What recordings are made on. */
export type RecordingBench = {
  readonly version: string;
  readonly migration: string;
  /** Emptied by every run. */
  readonly db: Database;
  readonly tables: Tables;
};

// 32 bytes of 7, for recordings alone.
const vaultKey = `k1:${Buffer.alloc(32, 7).toString("base64")}`;
const startMs = Date.UTC(2026, 0, 5, 9, 0, 0);
/** What the migrations leave in a new database. */
const deploymentRows: Store = new Map([["routing_state", new Map([["", { id: 1, version: 1 }]])]]);

/** Runs a program once and records it, and how it ends from each state in which a lost write leaves doubt. */
export async function recordHistory(scenario: Scenario, bench: RecordingBench): Promise<History> {
  await writeStore(bench.db, bench.tables, deploymentRows);
  const { history, ending } = await recordRun(scenario, bench);
  const apps = (clock: Clock) => scenario.transport(clock, createSealer(parseVaultKeys(vaultKey)));
  const endings = [ending];
  const places = new Map<number, number>();
  let more: History["more"] = [];
  for (const prefix of prefixesOf(history, bench.tables).filter(({ isTorn }) => isTorn)) {
    const replayed = await replayFrom({ ...history, more }, prefix, { ...bench, apps });
    const { jobs, without, beyond, refused } = replayed;
    if (refused.length > 0) throw new Error(`${scenario.name}, from entry ${prefix.index}: ${refused.join("; ")}`);
    more = replayed.more;
    places.set(prefix.index, placeOf(endings, { jobs, without, beyond }));
  }
  const entries = history.entries.map((entry, index) => {
    const place = places.get(index) ?? 0;
    return place === 0 ? entry : { ...entry, ending: place };
  });
  return {
    ...history,
    more,
    entries,
    endings: endings.map((one, place) => (place === 0 ? one : shortened(one, ending))),
  };
}

/** The place of an ending among those that are known; it is added where it is new. */
function placeOf(endings: Ending[], ending: Ending): number {
  const known = endings.findIndex((one) => isDeepStrictEqual(one, ending));
  return known >= 0 ? known : endings.push(ending) - 1;
}

type Run = { readonly history: Omit<History, "endings">; readonly ending: Ending };

async function recordRun(scenario: Scenario, bench: RecordingBench): Promise<Run> {
  const { db } = bench;
  const clock = createVirtualClock(startMs);
  const sealer = createSealer(parseVaultKeys(vaultKey));
  const caller = await createCaller(db, sealer, scenario);
  const recorder = createRecorder(db, bench.tables, clock);
  const acts = [...scenario.acts];
  const perform = () => {
    const [next] = acts as Act[];
    if (next === undefined) throw new Error("no act is left");
    return recorder.act(next, () => performNext(driven));
  };
  const apps = scenario.transport(clock, sealer);
  const transport = recordingTransport(apps, recorder, async (request, place) => {
    const [next] = acts;
    if (typeof next?.when !== "function" || !next.when(request)) return;
    acts[0] = { ...next, when: { request: place } };
    await perform();
  });
  const engineParts = { db, vaultKey, clock, catalog: await scenario.catalog() };
  const onFaultPoint = (point: string, { stepId }: { readonly stepId: string }) => recorder.note(point, stepId);
  await using engine = createEngineUnderTest({ ...engineParts, transport, onFaultPoint });
  await putContacts(engine, caller, scenario);
  await scenario.prepare?.(engine, caller, async (jobId) => {
    await using other = createEngineUnderTest({ ...engineParts, transport: apps });
    other.start();
    await driveToEnd({ engine: other, clock, caller, jobId, acts: [], unforeseen: "throw" });
  });
  const before = await recorder.begin();
  const jobId = await scenario.submit(engine, caller);
  const parts = { engine, clock, caller, jobId };
  const driven: Driven = { ...parts, acts, perform, unforeseen: "throw", onClock: () => recorder.note("clock", "") };
  await recorder.note("submit", "");
  while (isBeforeStart(acts[0])) await perform();
  if (scenario.startsAfterMs !== undefined) {
    clock.moveTo(clock.now() + scenario.startsAfterMs);
    await recorder.note("clock", "");
  }
  engine.start();
  await driveToEnd(driven);
  if (acts.length > 0) throw new Error(`${scenario.name}: ${acts.length} acts were not done`);
  const { jobs } = await readOutcome(engine.jobs(caller), jobId);
  const history = { ...headOf(scenario, bench, caller), jobId, ...written(recorder, before) };
  return { history, ending: { jobs, without: [], beyond: [] } };
}

/** Passes requests on, and writes down each with its answer. `onRequest` is told of it while the app has it. */
function recordingTransport(
  apps: AppTransport,
  recorder: Recorder,
  onRequest: (request: SentRequest, place: number) => Promise<void>,
): AppTransport {
  return {
    async send(appRequest, call, options) {
      const request = sentRequest(appRequest, call);
      const place = await recorder.request(request);
      await onRequest(request, place);
      const answer = await apps.send(appRequest, call, options);
      recorder.answered(place, recordedAnswer(answer));
      return answer;
    },
  };
}

function headOf({ shows }: Scenario, { version, migration }: RecordingBench, { projectId, keyId }: EngineCaller) {
  return { shows, version, migration, vaultKey, caller: { projectId, keyId } };
}

function written({ acts, entries, requests }: Recorder, before: History["before"]) {
  return { acts, requests: requests(), more: [], before, entries };
}

/** An act that belongs to the request before the first is done before the engine starts. */
function isBeforeStart(act: PendingAct | undefined): boolean {
  return typeof act?.when === "object" && "request" in act.when && act.when.request < 0;
}

async function putContacts(engine: EngineUnderTest, caller: EngineCaller, { contacts }: Scenario): Promise<void> {
  for (const contact of contacts) {
    await engine.contacts(caller).putContact({ contact: { approver: false, name: contact.principalId, ...contact } });
  }
}

async function createCaller(db: Database, sealer: Sealer, { name, accounts }: Scenario): Promise<EngineCaller> {
  const projectId = (await createProject(db, name, startMs)).id;
  const keyId = createId("key", startMs);
  const times = { createdAt: startMs, expiresAt: null, revokedAt: null, lastUsedAt: null };
  const digest = digestSecret(`the key of ${name}`);
  await createApiKey(db, { id: keyId, projectId, role: "approver", name, hint: "the key", digest, ...times });
  for (const account of accounts) await connect(db, sealer, projectId, account);
  return { projectId, keyId, role: "approver" };
}

async function connect(db: Database, sealer: Sealer, projectId: ProjectId, account: ScenarioAccount): Promise<void> {
  const id = createId("acc", startMs);
  const { toolkitSlug, entityId, credential } = account;
  const sealed = sealer.seal(Buffer.from(JSON.stringify(credential)), `${projectId}/connected_accounts/${id}`);
  const row = {
    id,
    projectId,
    toolkitSlug,
    isPrivate: false,
    isSandbox: true,
    entityId,
    scheme: credential.scheme,
    variables: {},
    credential: sealed,
    originDigest: null,
    grantedScopes: [],
    createdAt: startMs,
    updatedAt: startMs,
    expiresAt: null,
    refreshAt: null,
  };
  await activateAccount(db, row, { isNew: true, referencesOf: () => [], exclusiveOf: () => [] });
}
