import { createHash } from "node:crypto";
import type { AppTransport } from "@svc/connections";
import type { Clock, KeyId, ProjectId } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { createAppScript } from "./app-script.ts";
import { type Driven, driveToEnd, performNext } from "./drive.ts";
import { createEngineUnderTest, type EngineCaller } from "./engine-under-test.ts";
import type { Ending, Entry, History, RecordedRequest } from "./history.ts";
import { lacking, readOutcome, writesOf } from "./outcome.ts";
import { applyChange, type Row, type Store, type Tables, writeStore } from "./store.ts";
import { createVirtualClock } from "./virtual-clock.ts";
import { deskCatalog } from "./worlds.ts";

/** One state that a recorded run was in. */
export type Prefix = {
  /** Of the last entry that belongs to it. */
  readonly index: number;
  readonly entry: Entry;
  readonly store: Store;
  /**
   * Whether something had happened that no commit of the job tells of and that another driver does not find out: a write was under
   * way, or its answer never came, by the ledger; or the job was to be cancelled while an answer was on its way. Only from such
   * a state may another driver come to another end, which is the recorded one of that state.
   */
  readonly isTorn: boolean;
};

/** The states of a run in their order, each once: an entry that changed nothing, neither here nor outside, makes no new one. */
export function prefixesOf({ before, entries }: Pick<History, "before" | "entries">, tables: Tables): Prefix[] {
  const found = new Map<string, Prefix>();
  let store = applyChange(tables, new Map(), { upserts: before });
  let committed = { store, requests: 0 };
  for (const [index, entry] of entries.entries()) {
    store = applyChange(tables, store, entry);
    if (entry.point === "after-commit") committed = { store, requests: entry.requests };
    const rows = [...store].map(([name, list]) => [name, [...list.values()]]);
    const digest = createHash("sha256").update(JSON.stringify(rows)).digest("hex");
    const key = `${digest}/${entry.requests}`;
    const isTorn = isInDoubt(store, committed.store) || (isToEnd(store) && entry.requests > committed.requests);
    if (!found.has(key)) found.set(key, { index, entry, store, isTorn });
  }
  return [...found.values()];
}

/** Whether the ledger has a write that may have been done and that the last commit did not know of. */
function isInDoubt(store: Store, committed: Store): boolean {
  return rowsOf(store, "tool_calls").some(([key, { outcome }]) => {
    if (outcome === "running") return true;
    return outcome === "outcome_unknown" && committed.get("tool_calls")?.get(key)?.["outcome"] !== outcome;
  });
}

function isToEnd(store: Store): boolean {
  return rowsOf(store, "jobs").some(([, job]) => job["cancel_requested_at"] !== null && job["finished_at"] === null);
}

function rowsOf(store: Store, table: string): (readonly [string, Row])[] {
  return [...(store.get(table) ?? [])];
}

/** What came of driving from a state. */
export type Replayed = Ending & {
  /** Requests that may not be made. */
  readonly refused: readonly string[];
  /** `more` of the recording, with what was added to it. */
  readonly more: readonly RecordedRequest[];
};

/** Longer than a lease, and than a call can be under way: whoever was at work is dead. */
const deadMs = 180_000;

/** What a replay is made on. */
export type ReplayBench = {
  /** Of the present schema; all that it holds is replaced. */
  readonly db: Database;
  readonly tables: Tables;
  /** While a recording is made, the apps that answer what is not in it; it is added to `more`. */
  readonly apps?: (clock: Clock) => AppTransport;
};

/** Lets an engine of today take over from a state that a recorded run was in, and drives it to the end. */
export async function replayFrom(
  history: Omit<History, "endings">,
  prefix: Prefix,
  { db, tables, apps }: ReplayBench,
): Promise<Replayed> {
  await writeStore(db, tables, prefix.store);
  const { entry, index } = prefix;
  const { vaultKey, jobId, requests } = history;
  const clock = createVirtualClock(Date.parse(entry.at) + deadMs);
  const more = [...history.more];
  const script = createAppScript(
    { ...history, more },
    {
      index,
      isTorn: prefix.isTorn,
      apps: apps?.(clock),
      onRequest: (place) => doOnRequest(driven, (request) => request === place),
    },
  );
  const { transport } = script;
  await using engine = createEngineUnderTest({ db, vaultKey, clock, transport, catalog: deskCatalog() });
  const caller = callerOf(history);
  const acts = history.acts.slice(entry.acts);
  const driven: Driven = { engine, clock, caller, jobId, acts, unforeseen: "proceed" };
  // What was done while an app had a request is done at once when the apps will not see that request again.
  await doOnRequest(driven, (request) => request < entry.requests && requests[request]?.class !== "read");
  engine.start();
  await driveToEnd(driven);
  const { jobs } = await readOutcome(engine.jobs(caller), jobId);
  const recorded = writesOf(requests);
  const made = writesOf(script.seen);
  const effects = { without: lacking(recorded, made), beyond: lacking(made, recorded) };
  return { jobs, ...effects, refused: script.refused, more };
}

async function doOnRequest(driven: Driven, isNow: (request: number) => boolean): Promise<void> {
  const [act] = driven.acts;
  if (act === undefined || typeof act.when === "function" || !("request" in act.when)) return;
  if (isNow(act.when.request)) await performNext(driven);
}

/** The key that submitted the job. */
function callerOf({ caller }: Pick<History, "caller">): EngineCaller {
  return { projectId: caller.projectId as ProjectId, keyId: caller.keyId as KeyId, role: "approver" };
}
