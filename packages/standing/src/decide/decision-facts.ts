import type { Id, JsonObject, StandingRunId } from "@svc/core";
import type { ConcurrencyKeyUsage } from "@svc/db/standing/concurrency-keys";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import type { LoadedVersion } from "../versions.ts";
import type { LaneFacts, Used } from "./decision.ts";

/** The data from which svc decides about new runs of a program, as read from the database. */
export type DecisionFacts = {
  readonly program: StandingProgramRecord;
  /** The current version of the program. */
  readonly version: LoadedVersion;
  readonly lanes: readonly ConcurrencyKeyUsage[];
  /**
   * State of each rate (limit of starts per time), by rate key. The state is the time at which the next start would be due if starts were
   * spread evenly. `rateAfter` computes it.
   */
  readonly rates: ReadonlyMap<string, number>;
  /** Known keys of `dedupe` (the rule against duplicates). The value is the time until which svc remembers the key. */
  readonly knownKeys: ReadonlyMap<string, number>;
  /** Open windows of `collect` (times in which events are collected for one run), for the keys of the events that are due. */
  readonly windows: readonly StandingRunRecord[];
  /** Runs, tool calls and writes of the current day, which the budget limits. */
  readonly used: Used;
  readonly nowMs: number;
  /**
   * Number of further unfinished runs that the project may have. Each started run lowers the number. The decisions about all programs of a
   * project share this object.
   */
  readonly room: { left: number };
  /** Encrypts the input of a run. */
  readonly seal: (runId: StandingRunId, input: JsonObject) => Buffer;
  /**
   * Errors of runs that svc tried to start without success, by source key (the run's time or event). svc tries to start these runs later.
   */
  readonly unstarted: ReadonlyMap<string, string>;
  /**
   * Returns when the next day begins in a time zone, in epoch milliseconds. A run that exceeds the budget of the day can wait until then.
   */
  readonly nextDayMs: (timeZone: string) => number;
};

/** Pause in milliseconds after the first failed start of a run. It doubles after each further failure, up to a maximum. */
const startRetryMinMs = 5_000;
const startRetryMaxMs = 300_000;
/** Maximum failed starts of a run. After the last one, the run is refused. */
export const startFailuresMax = 8;

/**
 * Returns the decision to keep a run waiting because an earlier attempt to start it failed, with the error text. Returns undefined for a
 * run whose start did not fail. `startFailures`: number of failed starts, including this one. If there are too many, the caller refuses the
 * run.
 */
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

/**
 * Counts the waiting and started runs of each concurrency key while svc decides about new runs. The counts begin with the stored runs, and
 * every decision changes them.
 */
export class OpenLanes {
  readonly #lanes: Map<string, Lane>;

  constructor(lanes: readonly ConcurrencyKeyUsage[]) {
    this.#lanes = new Map(
      lanes.map(({ lane, started, queued, jobIds, newestQueued }) => {
        return [lane, { started, queued, jobIds: [...jobIds], newestQueued }];
      }),
    );
  }

  /**
   * Returns the waiting and started runs of a concurrency key (a value of the event; runs with the same key run one after another). Throws
   * an Error if the key was not read from the database before.
   */
  of(name: string): LaneFacts {
    return this.#of(name);
  }

  /** Counts one more waiting run for the concurrency key `name`. Runs with the same key follow one another. */
  queue(name: string, id: StandingRunId): void {
    const lane = this.#of(name);
    lane.queued++;
    lane.newestQueued = id;
  }

  /** Removes a waiting run from the concurrency key `name`. */
  leave(name: string, id: StandingRunId): void {
    const lane = this.#of(name);
    lane.queued--;
    if (lane.newestQueued === id) lane.newestQueued = null;
  }

  /** Adds the job of a started run to the concurrency key `name`. */
  start(name: string, jobId: Id<"job">): void {
    const lane = this.#of(name);
    lane.started++;
    lane.jobIds.push(jobId);
  }

  #of(name: string): Lane {
    const lane = this.#lanes.get(name);
    // The concurrency key was not read from the database. This is an error: the database may have unfinished runs of this key, so svc must
    // not assume that it has none.
    if (lane === undefined) throw new Error(`lane ${JSON.stringify(name)} was not read`);
    return lane;
  }
}
