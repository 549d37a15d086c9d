import type { Id, JsonObject, StandingRunId } from "@svc/core";
import type { ConcurrencyKeyUsage } from "@svc/db/standing/concurrency-keys";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import type { LoadedVersion } from "../versions.ts";
import type { LaneFacts, Used } from "./decision.ts";

/** Stored facts that the decisions about a program depend on. */
export type DecisionFacts = {
  readonly program: StandingProgramRecord;
  /** The current version of the program. */
  readonly version: LoadedVersion;
  readonly lanes: readonly ConcurrencyKeyUsage[];
  /** States of the rates, by key (see `rateAfter`). */
  readonly rates: ReadonlyMap<string, number>;
  /** Known keys of `dedupe`, and until when each is remembered. */
  readonly knownKeys: ReadonlyMap<string, number>;
  /** Open windows of the keys that due events have. */
  readonly windows: readonly StandingRunRecord[];
  /** Usage of the current day. */
  readonly used: Used;
  readonly nowMs: number;
  /** How many more runs the project may have under way; shared by the decision contexts of a project. */
  readonly room: { left: number };
  /** Seals the input of a run. */
  readonly seal: (runId: StandingRunId, input: JsonObject) => Buffer;
  /** Error texts of runs whose start has just failed, by source key: they wait. */
  readonly unstarted: ReadonlyMap<string, string>;
  /** Returns when the next day of a time zone begins. */
  readonly nextDayMs: (timeZone: string) => number;
};

/** Pause after the first failed start, doubled with each further one up to the maximum; milliseconds. */
const startRetryMinMs = 5_000;
const startRetryMaxMs = 300_000;
/** Maximum failed starts of a run. */
export const startFailuresMax = 8;

/** Returns the decision about a run whose start has just failed for the `startFailures`th time; undefined for any other run. */
export function heldBack({ unstarted, nowMs }: DecisionFacts, sourceKey: string, startFailures: number) {
  const detail = unstarted.get(sourceKey);
  if (detail === undefined) return undefined;
  const notBefore = nowMs + Math.min(startRetryMaxMs, startRetryMinMs * 2 ** (startFailures - 1));
  return {
    decision: { kind: "queue", reason: "start_failed", notBefore } as const,
    why: { detail: detail.slice(0, 1_000), startFailures },
  };
}

type Lane = { started: number; queued: number; jobIds: Id<"job">[]; newestQueued: StandingRunId | null };

/** Open runs by concurrency key, for the keys that are decided: as stored, and as the decisions change them. */
export class OpenLanes {
  readonly #lanes: Map<string, Lane>;

  constructor(lanes: readonly ConcurrencyKeyUsage[]) {
    this.#lanes = new Map(
      lanes.map(({ lane, started, queued, jobIds, newestQueued }) => {
        return [lane, { started, queued, jobIds: [...jobIds], newestQueued }];
      }),
    );
  }

  /** Returns the open runs of a concurrency key. Throws an Error if they were not read. */
  of(name: string): LaneFacts {
    return this.#of(name);
  }

  /** Adds a waiting run. */
  queue(name: string, id: StandingRunId): void {
    const lane = this.#of(name);
    lane.queued++;
    lane.newestQueued = id;
  }

  /** Removes a waiting run. */
  leave(name: string, id: StandingRunId): void {
    const lane = this.#of(name);
    lane.queued--;
    if (lane.newestQueued === id) lane.newestQueued = null;
  }

  /** Adds a started job. */
  start(name: string, jobId: Id<"job">): void {
    const lane = this.#of(name);
    lane.started++;
    lane.jobIds.push(jobId);
  }

  #of(name: string): Lane {
    const lane = this.#lanes.get(name);
    // A key that was not read may have open runs.
    if (lane === undefined) throw new Error(`lane ${JSON.stringify(name)} was not read`);
    return lane;
  }
}
