import { createId, type Id, type JsonObject, type StandingRunId } from "@svc/core";
import type { StandingPauseReason, StandingRunReason } from "@svc/db/schema/words";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import type { TemplateValues } from "../definition/definition.ts";
import type { LoadedVersion } from "../versions.ts";
import { DecidedRuns } from "./decided-runs.ts";
import { decideStart, type LaneFacts, type RunDecision, rateAfter, type Used } from "./decision.ts";
import { type DecisionFacts, heldBack, OpenLanes, startFailuresMax } from "./decision-facts.ts";
import { inputOf } from "./event.ts";
import { givenOf, keyOf } from "./given.ts";
import {
  type ClosingWindow,
  changeOf,
  type DueCandidate,
  givenOfOccurrence,
  givenOfWindow,
  type Occurrence,
  runOf,
  type StartedRun,
} from "./occurrence.ts";
import { Windows } from "./windows.ts";

/** A reason why no run of a program may start now. */
export type ProgramHold = Extract<StandingPauseReason, "key_revoked" | "approval" | "drift">;

/**
 * Decides which runs of one schedule are started, queued or skipped, in one transaction that has locked the schedule's row. Each decision
 * takes the earlier decisions into account. This class writes nothing to the database.
 */
export class DecisionContext {
  readonly facts: DecisionFacts;
  readonly runs = new DecidedRuns();
  readonly starts: StartedRun[] = [];
  readonly cancels: Id<"job">[] = [];
  readonly rates = new Map<string, number>();
  /**
   * Dedupe keys (texts by which a program recognizes repeated events) that this transaction adds. The value is the time until which svc
   * remembers the key.
   */
  readonly knownKeys = new Map<string, number>();
  readonly windows: Windows;
  /** Waiting runs that were refused by this decision. */
  readonly declined: StandingRunRecord[] = [];
  /** Error texts of runs that svc refused, because starting them failed too often. */
  readonly failedStarts: string[] = [];
  /** Earliest time at which a waiting run may start, in epoch milliseconds. */
  wakeAt: number | undefined;
  state: StandingProgramRecord["state"];
  pauseReason: StandingPauseReason;
  pauseDetail: string;
  nextAt: number | null;
  previousAt: number | null;
  started = 0;
  skipped = 0;
  missed = 0;
  seen = 0;
  filtered = 0;
  failuresInRow: number;
  readonly #lanes: OpenLanes;
  #used: Used;

  constructor(facts: DecisionFacts) {
    this.facts = facts;
    const { program, lanes, used } = facts;
    this.state = program.state;
    this.pauseReason = program.pauseReason;
    this.pauseDetail = program.pauseDetail;
    this.nextAt = program.nextAt;
    this.previousAt = program.previousAt;
    this.failuresInRow = program.failuresInRow;
    this.#lanes = new OpenLanes(lanes);
    this.#used = used;
    this.windows = new Windows(program.id, facts.windows);
  }

  /**
   * Returns the open runs (waiting or started) with the concurrency key `name`. Runs that this object has decided to start or queue are
   * included.
   */
  laneOf(name: string): LaneFacts {
    return this.#lanes.of(name);
  }

  /**
   * Decides if a due occurrence (time or event) starts a run. Checks its condition (`when`) first, then `hold` (a reason why no run may
   * start now), and then the policies of the program, such as its rate.
   */
  decide({ occurrence, version, when }: DueCandidate, hold: ProgramHold | undefined): void {
    this.seen++;
    if ("error" in when) this.refuse(occurrence, when.reason, when.error, version);
    else if (!when.isDue) this.filtered++;
    else if (hold !== undefined) this.refuse(occurrence, hold, "", version);
    else this.add(occurrence, version);
  }

  /**
   * Creates the run for a due time or event. Decides by the rules of `version` (such as overlap policy and rate) if the run starts, waits
   * or is skipped. Default: the current version. Returns the run.
   */
  add(occurrence: Occurrence, version: LoadedVersion = this.facts.version): NewStandingRun {
    const { program } = this.facts;
    const { definition, record } = version;
    const given = givenOfOccurrence(occurrence, version);
    const collected = occurrence.kind === "hand" ? undefined : this.#collect(occurrence, version, given);
    if (collected !== undefined) return collected;
    const lane = keyOf(definition.overlap.key, given);
    const rateKey = keyOf(definition.rate?.key, given);
    const run = this.#newRun(occurrence, record.version);
    if ("fault" in lane) return this.#refuse(run, "input_invalid", lane.fault);
    if ("fault" in rateKey) return this.#refuse(run, "input_invalid", rateKey.fault);
    const inLane = { ...run, lane: lane.text, rateKey: rateKey.text };
    const input = inputOf(version, given, occurrence.input);
    if ("fault" in input) return this.#refuse(inLane, "input_invalid", input.fault);
    const held = heldBack(this.facts, run.sourceKey, 1);
    const decision = held?.decision ?? this.#decideStart(version, lane.text, rateKey.text, false);
    const isKept = occurrence.input !== undefined || (occurrence.given !== undefined && decision.kind === "queue");
    const sealed = isKept && input.value !== undefined ? this.facts.seal(run.id, input.value) : null;
    const decided = this.#apply({ ...inLane, ...held?.why, input: sealed, projectId: program.projectId }, decision);
    this.runs.addOrCount(decided);
    if (decision.kind === "start") this.#start(decided, { version, rateKey: rateKey.text, input: input.value });
    return decided;
  }

  /**
   * Applies the rules `dedupe` (against duplicates) and `collect` (several events in one run) to a due time or event of a schedule. Returns
   * the run if one of the two rules applies. Returns undefined if neither applies and the rules about overlapping runs must decide.
   */
  #collect(occurrence: Occurrence, version: LoadedVersion, given: TemplateValues): NewStandingRun | undefined {
    const { dedupe, collect } = version.definition;
    const run = this.#newRun(occurrence, version.record.version);
    if (dedupe !== undefined) {
      const key = keyOf(dedupe.key, given);
      if ("fault" in key) return this.#refuse(run, "input_invalid", `dedupe: ${key.fault}`);
      const until = this.knownKeys.get(key.text) ?? this.facts.knownKeys.get(key.text);
      if (until !== undefined && occurrence.fireAt < until) {
        this.skip(occurrence, "duplicate", version);
        return run;
      }
      this.knownKeys.set(key.text, occurrence.fireAt + dedupe.windowMs);
    }
    if (collect === undefined || occurrence.event === undefined) return undefined;
    const key = keyOf(collect.key, given);
    if ("fault" in key) return this.#refuse(run, "input_invalid", `collect: ${key.fault}`);
    this.windows.take(key.text, collect, occurrence.event, run);
    return run;
  }

  /** Ends the collect window of a run (the time in which it gathers events). Then decides if the run starts, as for a single event. */
  close(window: ClosingWindow): void {
    const { nowMs } = this.facts;
    const { run, version } = window;
    const { definition } = version;
    const given = givenOfWindow(window);
    const lane = keyOf(definition.overlap.key, given);
    const rateKey = keyOf(definition.rate?.key, given);
    const input = inputOf(version, given, undefined);
    const fault = [lane, rateKey, input].find((one) => "fault" in one);
    if ("fault" in lane || "fault" in rateKey || "fault" in input) {
      const detail = (fault !== undefined && "fault" in fault ? fault.fault : "").slice(0, 1_000);
      const ended = { state: "refused", reason: "input_invalid", detail, notBefore: null, endedAt: nowMs } as const;
      this.failuresInRow++;
      this.runs.close({ ...run, ...ended, decidedAt: nowMs, lane: "" });
      return;
    }
    const held = heldBack(this.facts, run.sourceKey, 1);
    const decision = held?.decision ?? this.#decideStart(version, lane.text, rateKey.text, false);
    const sealed = decision.kind === "queue" && input.value !== undefined ? this.facts.seal(run.id, input.value) : null;
    const inLane = { ...run, lane: lane.text, rateKey: rateKey.text, input: sealed, notBefore: null, decidedAt: nowMs };
    const decided = this.#apply({ ...inLane, ...held?.why }, decision);
    this.runs.close(decided);
    if (decision.kind === "start") this.#start(decided, { version, rateKey: rateKey.text, input: input.value });
  }

  /**
   * True if a run whose start has failed must still wait. False if it may start now. The pause grows after each failure. After about ten
   * minutes in total, the run is refused. Later runs of the same concurrency key (a value of the event) wait for this run.
   */
  isHeldBack(run: StandingRunRecord): boolean {
    const { nowMs } = this.facts;
    const held = heldBack(this.facts, run.sourceKey, run.startFailures + 1);
    if (held === undefined) {
      const isBefore = run.reason === "start_failed" && run.notBefore !== null && run.notBefore > nowMs;
      if (isBefore) this.#wake(run.notBefore);
      return isBefore;
    }
    if (held.why.startFailures >= startFailuresMax) {
      this.failuresInRow++;
      this.decline(run, "start_failed", held.why.detail);
      return true;
    }
    const { notBefore, reason } = held.decision;
    this.#wake(notBefore);
    this.runs.change({ ...changeOf(run), ...held.why, reason, notBefore });
    return true;
  }

  /**
   * Decides once more about a run (job of a schedule) that waits: it starts, waits longer or is refused. `input`: the input from the caller
   * or from the event. Undefined if it must be computed from the templates of the schedule's definition.
   */
  admit(run: StandingRunRecord, version: LoadedVersion, input: JsonObject | undefined): void {
    const filled = inputOf(version, givenOf(run, version.definition.timeZone), input);
    if ("fault" in filled) {
      this.failuresInRow++;
      this.decline(run, "input_invalid", filled.fault);
      return;
    }
    const decision = this.#decideStart(version, run.lane, run.rateKey, true);
    if (decision.kind !== "start") {
      const reason = decision.reason;
      const notBefore = decision.kind === "queue" ? decision.notBefore : null;
      this.#wake(notBefore);
      if (run.reason !== reason || run.notBefore !== notBefore)
        this.runs.change({ ...changeOf(run), detail: "", reason, notBefore });
      return;
    }
    this.#lanes.leave(run.lane, run.id);
    const started = this.#apply({ ...run, detail: "" }, decision);
    this.runs.change(changeOf(started));
    this.#start(started, { version, rateKey: run.rateKey, input: filled.value });
  }

  /**
   * Records times of a schedule that were missed and get no run, for example because svc was stopped. All of them are stored as a single
   * skipped run with their number.
   */
  miss({ count, firstMs, lastMs }: { count: number; firstMs: number; lastMs: number }): void {
    const occurrence = { kind: "schedule", fireAt: firstMs, missed: 0, previousAt: null, callerKeyId: null } as const;
    const run = this.#newRun(
      { ...occurrence, sourceKey: `s:${firstMs}`, input: undefined },
      this.facts.version.record.version,
    );
    this.missed += count;
    const lastAt = count === 1 ? null : lastMs;
    this.runs.add({ ...run, count, lastAt, state: "skipped", reason: "missed", endedAt: this.facts.nowMs });
  }

  /** Records a refused run for an occurrence (a due time or event), because the run cannot start. */
  refuse(occurrence: Occurrence, reason: StandingRunReason, detail: string, version = this.facts.version): void {
    this.#refuse(this.#newRun(occurrence, version.record.version), reason, detail);
  }

  /** Records that a due time or event of a schedule was skipped for `reason`. The rules of the schedule are not checked for it. */
  skip(occurrence: Occurrence, reason: StandingRunReason, version = this.facts.version): void {
    const run = this.#newRun(occurrence, version.record.version);
    this.skipped++;
    this.runs.addOrCount({ ...run, state: "skipped", reason, endedAt: this.facts.nowMs });
  }

  /**
   * Refuses a waiting run, so that it never starts. The reason is that its version may no longer run, or that starting the run failed too
   * often.
   */
  decline(run: StandingRunRecord, reason: StandingRunReason, detail: string): void {
    this.#lanes.leave(run.lane, run.id);
    const ended = { state: "refused", reason, detail, notBefore: null, endedAt: this.facts.nowMs } as const;
    this.declined.push({ ...run, ...ended });
    if (reason === "start_failed") this.failedStarts.push(detail);
    this.runs.change({ ...changeOf(run), ...ended });
  }

  /** Pauses the program: no run starts until a caller resumes it. */
  pause(reason: StandingPauseReason, detail: string): void {
    this.state = "paused";
    this.pauseReason = reason;
    this.pauseDetail = detail;
  }

  /** Pauses the program if it has failed `pauseAfter` times in a row. The definition sets `pauseAfter`. */
  pauseAfterFailures(): void {
    const { pauseAfter } = this.facts.version.definition;
    if (pauseAfter === 0 || this.failuresInRow < pauseAfter || this.state !== "active") return;
    this.pause("failures", `${this.failuresInRow} runs in a row failed`);
  }

  /**
   * Puts a run back into the queue, because its job would exceed the project's quota of jobs. `notBefore`: earliest time at which the run
   * may start.
   */
  putBack(start: StartedRun, notBefore: number): void {
    const { run } = start;
    const waits = { state: "queued", reason: "quota", notBefore, startedAt: null, jobId: null } as const;
    // The input is stored with the run, because the occurrence is no longer available when svc decides about the run again.
    const input = start.input === undefined ? null : this.facts.seal(run.id, start.input);
    if (!this.runs.rewrite(run.id, { ...waits, input })) this.runs.change({ ...changeOf(run), ...waits });
    this.started--;
    this.#wake(notBefore);
  }

  #newRun(occurrence: Occurrence, version: number): NewStandingRun {
    const { program, nowMs } = this.facts;
    return runOf(occurrence, { program, version, nowMs });
  }

  #refuse(run: NewStandingRun, reason: StandingRunReason, detail: string): NewStandingRun {
    const refused = {
      ...run,
      state: "refused",
      reason,
      detail: detail.slice(0, 1_000),
      endedAt: this.facts.nowMs,
    } as const;
    this.failuresInRow++;
    if (reason === "start_failed") this.failedStarts.push(refused.detail);
    this.runs.add(refused);
    return refused;
  }

  #decideStart({ definition }: LoadedVersion, laneName: string, rateKey: string, isWaiting: boolean): RunDecision {
    const { nowMs, room, nextDayMs } = this.facts;
    const { overlap, rate, budget, timeZone } = definition;
    return decideStart({
      overlap,
      lane: this.#lanes.of(laneName),
      rate: rate && { policy: rate, at: this.rates.get(rateKey) ?? this.facts.rates.get(rateKey) },
      budget: budget && { policy: budget, used: this.#used, nextDayMs: nextDayMs(timeZone) },
      hasRoom: room.left > 0,
      nowMs,
      isWaiting,
    });
  }

  /**
   * Returns the run with the decision about it: started, waiting, skipped or refused. Updates the counts of waiting and started runs with
   * the same concurrency key.
   */
  #apply<Run extends NewStandingRun | StandingRunRecord>(run: Run, decision: RunDecision): Run {
    const { nowMs } = this.facts;
    switch (decision.kind) {
      case "start":
        return {
          ...run,
          state: "started",
          reason: "",
          notBefore: null,
          startedAt: nowMs,
          jobId: createId("job", nowMs),
        };
      case "skip": {
        this.skipped++;
        const blockingJobId = decision.blockingJobId ?? null;
        return { ...run, state: "skipped", reason: decision.reason, blockingJobId, endedAt: nowMs };
      }
      case "queue": {
        const { reason, notBefore, supersedes, cancels = [] } = decision;
        if (supersedes !== undefined) this.#supersede(supersedes, run.lane);
        this.#lanes.queue(run.lane, run.id);
        this.cancels.push(...cancels);
        this.#wake(notBefore);
        return {
          ...run,
          state: "queued",
          reason,
          notBefore,
          blockingJobId: this.#lanes.of(run.lane).jobIds[0] ?? null,
        };
      }
    }
  }

  #supersede(id: StandingRunId, lane: string): void {
    const ended = { state: "skipped", reason: "superseded", notBefore: null, endedAt: this.facts.nowMs } as const;
    this.#lanes.leave(lane, id);
    this.skipped++;
    const none = { detail: "", startFailures: 0, startedAt: null, jobId: null, blockingJobId: null };
    if (!this.runs.rewrite(id, ended)) this.runs.change({ id, ...none, ...ended });
  }

  #start(
    run: NewStandingRun | StandingRunRecord,
    { version, rateKey, input }: { version: LoadedVersion; rateKey: string; input: JsonObject | undefined },
  ): void {
    const { nowMs, rates, room } = this.facts;
    const { rate } = version.definition;
    if (run.jobId === null || run.jobId === undefined) throw new Error(`run ${run.id} starts without a job`);
    this.#lanes.start(run.lane, run.jobId);
    room.left--;
    this.started++;
    this.#used = { ...this.#used, runs: this.#used.runs + 1 };
    if (rate) this.rates.set(rateKey, rateAfter(rate, this.rates.get(rateKey) ?? rates.get(rateKey), nowMs));
    this.starts.push({ run, jobId: run.jobId, version, input });
  }

  #wake(atMs: number | null): void {
    if (atMs !== null) this.wakeAt = Math.min(this.wakeAt ?? atMs, atMs);
  }
}
