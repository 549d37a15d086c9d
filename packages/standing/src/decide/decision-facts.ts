import type { Id, JsonObject, StandingRunId } from "@svc/core";
import type { ConcurrencyKeyUsage } from "@svc/db/standing/concurrency-keys";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import type { LoadedVersion } from "../versions.ts";
import type { LaneFacts, Used } from "./decision.ts";

/** What a book is opened with. */
export type BookFacts = {
  readonly program: StandingProgramRecord;
  /** The program's version of today. */
  readonly version: LoadedVersion;
  readonly lanes: readonly ConcurrencyKeyUsage[];
  /** Where rates stand, by key. */
  readonly rates: ReadonlyMap<string, number>;
  /** Until when keys of `dedupe` are remembered. */
  readonly seenKeys: ReadonlyMap<string, number>;
  /** Windows that are open, of the keys that events have. */
  readonly windows: readonly StandingRunRecord[];
  /** What was used today. */
  readonly used: Used;
  readonly nowMs: number;
  /** Runs that its project may still have under way; shared by the books of a project. */
  readonly room: { left: number };
  /** Seals what a caller gave. */
  readonly seal: (runId: StandingRunId, input: JsonObject) => Buffer;
  /** Why runs could not be started when it was tried just now, by the names of their occurrences: they wait. */
  readonly unstarted: ReadonlyMap<string, string>;
  /** When the next day of a zone begins. */
  readonly nextDayMs: (timeZone: string) => number;
};

/** A start that fails is tried again after so long, and twice as long each time. */
const startRetryMinMs = 5_000;
const startRetryMaxMs = 300_000;
/** So often the start of a run may fail. */
export const startFailuresMax = 8;

/** What becomes of a run that could not be started when it was tried just now, for the `startFailures`th time; undefined for any other. */
export function heldBack({ unstarted, nowMs }: BookFacts, sourceKey: string, startFailures: number) {
  const detail = unstarted.get(sourceKey);
  if (detail === undefined) return undefined;
  const notBefore = nowMs + Math.min(startRetryMaxMs, startRetryMinMs * 2 ** (startFailures - 1));
  return {
    verdict: { kind: "queue", reason: "start_failed", notBefore } as const,
    why: { detail: detail.slice(0, 1_000), startFailures },
  };
}

type Lane = { started: number; queued: number; jobIds: Id<"job">[]; newestQueued: StandingRunId | null };

/** What is open in those lanes of a program that are decided about: as the store had it, and as decisions change it. */
export class OpenLanes {
  readonly #lanes: Map<string, Lane>;

  constructor(lanes: readonly ConcurrencyKeyUsage[]) {
    this.#lanes = new Map(
      lanes.map(({ lane, started, queued, jobIds, newestQueued }) => {
        return [lane, { started, queued, jobIds: [...jobIds], newestQueued }];
      }),
    );
  }

  /** What is open in a lane. */
  of(name: string): LaneFacts {
    return this.#of(name);
  }

  /** A run waits from now on. */
  queue(name: string, id: StandingRunId): void {
    const lane = this.#of(name);
    lane.queued++;
    lane.newestQueued = id;
  }

  /** A run waits no more. */
  leave(name: string, id: StandingRunId): void {
    const lane = this.#of(name);
    lane.queued--;
    if (lane.newestQueued === id) lane.newestQueued = null;
  }

  /** A job is under way from now on. */
  start(name: string, jobId: Id<"job">): void {
    const lane = this.#of(name);
    lane.started++;
    lane.jobIds.push(jobId);
  }

  #of(name: string): Lane {
    const lane = this.#lanes.get(name);
    // Nothing is known of one that was not read, which is not the same as that nothing is open in it.
    if (lane === undefined) throw new Error(`lane ${JSON.stringify(name)} was not read`);
    return lane;
  }
}
