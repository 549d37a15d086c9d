import { type Allowance, allowanceOf, type EventId, type StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { BackfillReason } from "@svc/db/schema/words";
import {
  type BackfillMove,
  type BackfillRecord,
  countWaitingRuns,
  findRunningBackfill,
  findSourceRuns,
  findTakenEvents,
  moveBackfill,
  renameSourceRuns,
  type SourceRun,
} from "@svc/db/standing/backfills";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { NewStandingRun } from "@svc/db/standing/runs";
import { readKnownKeys } from "@svc/db/standing/windows";
import type { DecisionContext, ProgramHold } from "../decide/decision-context.ts";
import { StaleBatchError } from "../decide/errors.ts";
import { keyOf } from "../decide/given.ts";
import { type DueCandidate, givenOfOccurrence } from "../decide/occurrence.ts";
import type { SourceDue, SourceOutcome } from "../sources/source.ts";
import type { LoadedVersion } from "../versions.ts";
import { hasItsRun, type PastItem } from "./range.ts";

/**
 * A past time or event in the range of a backfill (runs for past times). `candidate`: the run that may start for it, with the result of the
 * program's condition `when`; undefined if the event is not for the program.
 */
type PastCandidate = PastItem & { readonly candidate: DueCandidate | undefined };

/**
 * The next past times or events for which a backfill (runs for past times) decides if a run starts. svc read them before it locked the
 * program.
 */
export type PreparedBackfill = {
  readonly record: BackfillRecord;
  /** The number of the program's current version. */
  readonly versionNumber: number;
  /**
   * The version with which the backfill continues. Undefined if the program's definition was replaced after the backfill began; the
   * backfill then ends.
   */
  readonly version: LoadedVersion | undefined;
  readonly items: readonly PastCandidate[];
  /** True if the backfill's range has no further items (times or events) after `items`. */
  readonly isWhole: boolean;
  /** How many runs the backfill may start now, by its limit of runs per minute. */
  readonly allowance: Allowance;
  /** Time in epoch milliseconds. Runs of the program from before this time may have been deleted. */
  readonly keptFrom: number;
};

/**
 * The prepared items of a backfill, with the existing runs and dedupe keys that svc needs to decide about them. svc has locked the program.
 */
type DueBackfill = PreparedBackfill & {
  /**
   * Runs that already exist for the times or events of this backfill. Each key (source key) identifies the time or event that caused the
   * run.
   */
  readonly runs: ReadonlyMap<string, SourceRun>;
  /**
   * Events in the range of the backfill that have reached the program as new events as well. The backfill must not start runs for them a
   * second time. `isUndecided`: true if svc has not yet decided if the new event starts a run.
   */
  readonly taken: ReadonlyMap<EventId, { readonly isUndecided: boolean }>;
  /**
   * Known dedupe keys (keys by which duplicates are recognized). The value is the time until which svc remembers the key, in epoch
   * milliseconds.
   */
  readonly known: ReadonlyMap<string, number>;
  /** Number of the program's waiting runs. Counted only up to `waitingMax`. */
  readonly waiting: number;
};

/**
 * Maximum number of waiting runs of a program during a backfill. At this number the backfill pauses, because it must not fill the program's
 * queue. It continues when fewer runs wait.
 */
const waitingMax = 20;

/** Returns how many runs the backfill's pace (runs per minute) allows to start now. */
export function allowanceOfBackfill(
  { pacedAt, perMinute }: Pick<BackfillRecord, "pacedAt" | "perMinute">,
  nowMs: number,
): Allowance {
  return allowanceOf({ pacedAt, perSecond: perMinute / 60 }, nowMs);
}

/**
 * Returns a source key with the id of a backfill in front. A source key names the time or event that caused a run. With the longer key, svc
 * can store two runs for the same time or event.
 */
export function againKey(id: BackfillRecord["id"], sourceKey: string): string {
  return `b:${id}/${sourceKey}`;
}

/**
 * The two keys under which svc remembers an occurrence for `dedupe` (the rule against duplicates). `own`: compared with other occurrences
 * of the same backfill. `live`: compared with occurrences that became due without a backfill. `windowMs`: how long a key is remembered, in
 * milliseconds.
 */
type DedupeKey = { readonly own: string; readonly live: string; readonly windowMs: number };

/**
 * Returns the dedupe keys of an occurrence (time or event at which a schedule is due). Returns undefined if the schedule's definition has
 * no `dedupe`. Returns a fault if a value for the key is missing or wrong.
 */
function dedupeKeyOf(
  { id }: Pick<BackfillRecord, "id">,
  { occurrence }: Pick<DueCandidate, "occurrence">,
  version: Pick<LoadedVersion, "definition">,
): DedupeKey | { readonly fault: string } | undefined {
  const { dedupe } = version.definition;
  if (dedupe === undefined) return undefined;
  const key = keyOf(dedupe.key, givenOfOccurrence(occurrence, version));
  if ("fault" in key) return { fault: `dedupe: ${key.fault}` };
  return { own: `${id} ${key.text}`, live: key.text, windowMs: dedupe.windowMs };
}

/**
 * Returns the past times and events of a backfill that are due now; undefined if no backfill is running. The schedule must be locked.
 * Throws StaleBatchError if the backfill or the schedule has changed since `prepared` was made.
 */
export async function dueBackfill(
  tx: Executor,
  program: StandingProgramRecord,
  prepared: PreparedBackfill | undefined,
): Promise<SourceDue | undefined> {
  const backfill = await loadBackfill(tx, program, prepared);
  return (
    backfill && {
      candidates: backfill.items.flatMap(({ candidate }) => candidate ?? []),
      isDue: true,
      decide: (decisions, hold) => stepBackfill(decisions, backfill, hold),
    }
  );
}

async function loadBackfill(
  tx: Executor,
  { id: programId, projectId, version }: StandingProgramRecord,
  prepared: PreparedBackfill | undefined,
): Promise<DueBackfill | undefined> {
  const now = await findRunningBackfill(tx, programId);
  if (now === undefined) return undefined;
  const { record } = prepared ?? {};
  const isSame =
    now.id === record?.id &&
    now.positionAt === record.positionAt &&
    now.positionEventId === record.positionEventId &&
    now.pacedAt === record.pacedAt;
  if (prepared === undefined || !isSame || version !== prepared.versionNumber)
    throw new StaleBatchError(`the backfill of standing program ${programId} has changed meanwhile`);
  const { items } = prepared;
  const events = items.flatMap(({ event, candidate }) => (event && candidate ? [event] : []));
  return {
    ...{ ...prepared, record: now },
    runs: await findSourceRuns(
      tx,
      programId,
      items.flatMap(({ candidate }) => candidate?.occurrence.sourceKey ?? []),
    ),
    taken: now.again ? new Map() : await findTakenEvents(tx, { programId, projectId }, events),
    known: await knownKeysOf(tx, programId, prepared),
    waiting: await countWaitingRuns(tx, programId, waitingMax),
  };
}

async function knownKeysOf(
  tx: Executor,
  programId: StandingProgramId,
  { record, version, items }: PreparedBackfill,
): Promise<Map<string, number>> {
  const names = items.flatMap(({ candidate }) => {
    const key = version && candidate && dedupeKeyOf(record, candidate, version);
    return key === undefined || "fault" in key ? [] : [key.own, key.live];
  });
  const known = await readKnownKeys(
    tx,
    [...new Set(names)].map((key) => ({ programId, key })),
  );
  return new Map(known.map(({ key, until }) => [key, until]));
}

function stepBackfill(
  decisions: DecisionContext,
  backfill: DueBackfill,
  hold: ProgramHold | undefined,
): SourceOutcome | undefined {
  if (hold !== undefined || decisions.state === "paused") return undefined;
  const { move, renamed, dueAt } = decideBackfill(decisions, backfill);
  return {
    task: "backfill",
    dueAt,
    beforeRuns: (tx) => renameSourceRuns(tx, renamed),
    afterRuns: (tx) => moveBackfill(tx, move),
  };
}

/**
 * Time in milliseconds (30 days) that the dedupe keys of a backfill are kept in addition to their normal time. A backfill can take days,
 * and its keys must not expire before it ends.
 */
const keptMs = 30 * 86_400_000;

/**
 * Result of one step of a backfill (runs for past times or events). In a step, svc decides for the next few times or events if runs start.
 */
type BackfillStep = {
  readonly move: BackfillMove;
  /** Earlier runs that the backfill replaces. Each gets a new source key, because the new run takes its old one. */
  readonly renamed: readonly Pick<SourceRun, "id" | "sourceKey">[];
  /** Time in epoch milliseconds at which the backfill continues. Null if the backfill has ended. */
  readonly dueAt: number | null;
};

/**
 * Pause in milliseconds between two steps of a backfill (runs for past times or events). In each step, svc decides for some past times or
 * events if a run starts.
 */
const stepMs = 1_000;
/** Pause in milliseconds before svc tries again to continue a backfill, for example because the schedule has too many waiting runs. */
const waitMs = 2_000;

/**
 * Decides for the next times or events of a backfill if runs start, and returns the result. Makes at most as many runs as the backfill's
 * pace and the program's queue allow.
 */
function decideBackfill(decisions: DecisionContext, due: DueBackfill): BackfillStep {
  const { record, version } = due;
  const { nowMs } = decisions.facts;
  const at = { id: record.id, updatedAt: nowMs };
  if (version === undefined) {
    const end = { state: "cancelled", reason: "updated", endedAt: nowMs } as const;
    return { move: { ...at, ...end }, renamed: [], dueAt: null };
  }
  const step = new Step(decisions, due);
  const hindrance = step.run();
  const pacedAt = due.allowance.pacedAt(step.used);
  const moved = { ...at, ...step.counts, ...step.position, pacedAt };
  if (hindrance === undefined && due.isWhole) {
    return { move: { ...moved, state: "done", reason: "", endedAt: nowMs }, renamed: step.renamed, dueAt: null };
  }
  const reason = hindrance === "pace" ? "" : (hindrance ?? "");
  const pacedTo = Math.max(allowanceOfBackfill({ ...record, pacedAt }, nowMs).nextAt, nowMs + stepMs);
  const isPaced = hindrance === "pace" || step.used >= due.allowance.count;
  const dueAt = reason !== "" ? nowMs + waitMs : isPaced ? pacedTo : nowMs;
  return { move: { ...moved, reason }, renamed: step.renamed, dueAt };
}

/**
 * Reason why a backfill (runs for past times or events) pauses before its last item. `waiting`: the program has too many waiting runs.
 * `undecided`: svc has not yet decided if an event of the range starts a regular run. `pace`: the backfill's pace allows no more runs now.
 */
type Hindrance = Extract<BackfillReason, "waiting" | "undecided"> | "pace";

class Step {
  readonly renamed: Pick<SourceRun, "id" | "sourceKey">[] = [];
  readonly counts: { started: number; skipped: number; passed: number };
  position: Pick<BackfillMove, "positionAt" | "positionEventId">;
  /** Number of runs that this part of the backfill has made, including skipped and refused ones. */
  used = 0;
  readonly #decisions: DecisionContext;
  readonly #due: DueBackfill;
  #waiting: number;

  constructor(decisions: DecisionContext, due: DueBackfill) {
    const { started, skipped, passed, positionAt, positionEventId } = due.record;
    this.#decisions = decisions;
    this.#due = due;
    this.#waiting = due.waiting + decisions.runs.queued.length;
    this.counts = { started, skipped, passed };
    this.position = { positionAt, positionEventId };
  }

  /**
   * Decides in order, for each past time or event of a backfill (runs for past times), if a run starts. Returns the reason if it stops
   * before the last one. Returns undefined if it reached the end.
   */
  run(): Hindrance | undefined {
    for (const item of this.#due.items) {
      if (this.#decisions.state === "paused") return "pace";
      const hindrance = item.candidate && this.#decide(item, item.candidate);
      if (hindrance !== undefined) return hindrance;
      this.position = item.position;
    }
    return undefined;
  }

  #decide({ event }: PastCandidate, { occurrence, version, when }: DueCandidate): Hindrance | undefined {
    const { runs, taken, record, allowance } = this.#due;
    const existing = runs.get(occurrence.sourceKey);
    const isTaken = event && taken.get(event.id);
    if (isTaken?.isUndecided) return "undecided";
    if (!("error" in when) && !when.isDue) {
      this.counts.passed++;
      return undefined;
    }
    const key = dedupeKeyOf(record, { occurrence }, this.#due.version ?? version);
    if (hasItsRun(existing) || isTaken !== undefined || this.#mayHaveHadOne(occurrence)) {
      if (key !== undefined && !("fault" in key)) this.#remember(key.own, occurrence.fireAt, key.windowMs);
      this.counts.passed++;
      return undefined;
    }
    if (this.used >= allowance.count) return "pace";
    if (this.#waiting >= Math.min(waitingMax, version.definition.overlap.queueMax)) return "waiting";
    if (existing !== undefined)
      this.renamed.push({ id: existing.id, sourceKey: againKey(record.id, existing.sourceKey) });
    this.used++;
    if ("error" in when) return this.#refuse(occurrence, when.reason, when.error, version);
    if (key !== undefined && "fault" in key) return this.#refuse(occurrence, "input_invalid", key.fault, version);
    if (key !== undefined) {
      if (isKnown(record, key, occurrence.fireAt, (name) => this.#until(name))) {
        this.#decisions.skip(occurrence, "duplicate", version);
        this.counts.skipped++;
        return undefined;
      }
      this.#remember(key.own, occurrence.fireAt, key.windowMs);
      if (!record.again) this.#rememberLive(key.live, occurrence.fireAt + key.windowMs);
    }
    this.#count(this.#decisions.add(occurrence, version));
    this.#decisions.pauseAfterFailures();
    return undefined;
  }

  /**
   * True if this time or event may already have had a run that svc has deleted. Always false if the backfill repeats earlier runs
   * (`again`).
   */
  #mayHaveHadOne({ fireAt }: DueCandidate["occurrence"]): boolean {
    const { record, keptFrom } = this.#due;
    return !record.again && fireAt < keptFrom && fireAt >= this.#decisions.facts.program.createdAt;
  }

  #refuse(...refused: Parameters<DecisionContext["refuse"]>): undefined {
    this.#decisions.refuse(...refused);
    this.counts.skipped++;
    this.#decisions.pauseAfterFailures();
    return undefined;
  }

  #count({ state }: NewStandingRun): void {
    if (state === "queued") this.#waiting++;
    if (state === "queued" || state === "started") this.counts.started++;
    else this.counts.skipped++;
  }

  #until(key: string): number | undefined {
    return this.#decisions.knownKeys.get(key) ?? this.#due.known.get(key);
  }

  #remember(own: string, fireAt: number, windowMs: number): void {
    this.#decisions.knownKeys.set(own, fireAt + dedupeShiftOf(this.#due.record) + windowMs);
  }

  /**
   * Remembers the dedupe key of an event or time that the backfill handles. If an occurrence with the same key later comes without a
   * backfill, it is recognized as a duplicate and starts no run.
   */
  #rememberLive(key: string, until: number): void {
    if (until > (this.#until(key) ?? 0)) this.#decisions.knownKeys.set(key, until);
  }
}

/**
 * True if a past time or event is a duplicate, so that the backfill starts no run for it.
 * - It is a duplicate if an earlier item of the same backfill has the same dedupe key.
 * - It is also compared with times and events that came without a backfill. It is a duplicate if one of them has the same dedupe key and is
 *   less than the dedupe window away. This does not apply if `again` is true (the backfill runs times and events a second time).
 */
function isKnown(
  { again, ...times }: Pick<BackfillRecord, "again" | "createdAt" | "since">,
  { own, live, windowMs }: DedupeKey,
  fireAt: number,
  until: (key: string) => number | undefined,
): boolean {
  if (fireAt + dedupeShiftOf(times) < (until(own) ?? 0)) return true;
  const liveUntil = until(live);
  if (again || liveUntil === undefined) return false;
  const knownAt = liveUntil - windowMs;
  return knownAt !== fireAt && Math.abs(knownAt - fireAt) < windowMs;
}

/**
 * Returns the milliseconds by which a backfill (runs for past times or events) keeps its dedupe keys longer than normal. A key's lifetime
 * normally begins at the time of its event. So keys of past events would expire before the backfill ends.
 */
function dedupeShiftOf({ createdAt, since }: Pick<BackfillRecord, "createdAt" | "since">): number {
  return createdAt - since + keptMs;
}
