import { createId, type Id, type JsonObject, type StandingRunId } from "@svc/core";
import type { StandingPauseReason, StandingRunReason } from "@svc/db/schema/words";
import type { StandingProgramRecord } from "@svc/db/standing/programs";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import type { TemplateValues } from "../definition/definition.ts";
import type { LoadedVersion } from "../versions.ts";
import { type BookFacts, heldBack, OpenLanes, startFailuresMax } from "./decision-facts.ts";
import { DecidedRuns } from "./decided-runs.ts";
import { inputOf } from "./event.ts";
import { givenOf, keyOf } from "./given.ts";
import {
  type ClosingWindow,
  changeOf,
  givenOfOccurrence,
  givenOfWindow,
  type Occurrence,
  runOf,
  type StartedRun,
} from "./occurrence.ts";
import { decideStart, type LaneFacts, type RunDecision, rateAfter, type Used } from "./decision.ts";
import { Windows } from "./windows.ts";

/**
 * What is decided about one program in one transaction, which holds its row. Decisions see those before them; nothing is written
 * until the book is closed.
 */
export class Book {
  readonly facts: BookFacts;
  readonly runs = new DecidedRuns();
  readonly starts: StartedRun[] = [];
  readonly cancels: Id<"job">[] = [];
  readonly rates = new Map<string, number>();
  /** Keys of `dedupe`, and until when they are remembered from now on. */
  readonly seenKeys = new Map<string, number>();
  readonly windows: Windows;
  /** Runs that waited and were refused. */
  readonly declined: StandingRunRecord[] = [];
  /** Why runs were refused whose start failed again and again. */
  readonly failedStarts: string[] = [];
  /** When a run that waits may start, the earliest. */
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

  constructor(facts: BookFacts) {
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

  /** What is open in a lane, this book's decisions included. */
  laneOf(name: string): LaneFacts {
    return this.#lanes.of(name);
  }

  /** Decides about something that is due, by the program's version of today where no other is named, and answers its run. */
  add(occurrence: Occurrence, version: LoadedVersion = this.facts.version): NewStandingRun {
    const { program } = this.facts;
    const { definition, record } = version;
    const given = givenOfOccurrence(occurrence, version);
    const gathered = occurrence.kind === "hand" ? undefined : this.#gather(occurrence, version, given);
    if (gathered !== undefined) return gathered;
    const lane = keyOf(definition.overlap.key, given);
    const rateKey = keyOf(definition.rate?.key, given);
    const run = this.#newRun(occurrence, record.version);
    if ("fault" in lane) return this.#refuse(run, "input_invalid", lane.fault);
    if ("fault" in rateKey) return this.#refuse(run, "input_invalid", rateKey.fault);
    const inLane = { ...run, lane: lane.text, rateKey: rateKey.text };
    const input = inputOf(version, given, occurrence.input);
    if ("fault" in input) return this.#refuse(inLane, "input_invalid", input.fault);
    const held = heldBack(this.facts, run.sourceKey, 1);
    const verdict = held?.verdict ?? this.#decide(version, lane.text, rateKey.text, false);
    const isKept = occurrence.input !== undefined || (occurrence.given !== undefined && verdict.kind === "queue");
    const sealed = isKept && input.value !== undefined ? this.facts.seal(run.id, input.value) : null;
    const decided = this.#apply({ ...inLane, ...held?.why, input: sealed, projectId: program.projectId }, verdict);
    this.runs.addOrCount(decided);
    if (verdict.kind === "start") this.#start(decided, { version, rateKey: rateKey.text, input: input.value });
    return decided;
  }

  /** What `dedupe` and `collect` make of an occurrence; undefined where it goes on. */
  #gather(occurrence: Occurrence, version: LoadedVersion, given: TemplateValues): NewStandingRun | undefined {
    const { dedupe, collect } = version.definition;
    const run = this.#newRun(occurrence, version.record.version);
    if (dedupe !== undefined) {
      const key = keyOf(dedupe.key, given);
      if ("fault" in key) return this.#refuse(run, "input_invalid", `dedupe: ${key.fault}`);
      const until = this.seenKeys.get(key.text) ?? this.facts.seenKeys.get(key.text);
      if (until !== undefined && occurrence.fireAt < until) {
        this.skip(occurrence, "duplicate", version);
        return run;
      }
      this.seenKeys.set(key.text, occurrence.fireAt + dedupe.windowMs);
    }
    if (collect === undefined || occurrence.event === undefined) return undefined;
    const key = keyOf(collect.key, given);
    if ("fault" in key) return this.#refuse(run, "input_invalid", `collect: ${key.fault}`);
    this.windows.take(key.text, collect, occurrence.event, run);
    return run;
  }

  /** Decides about a window whose time is over, as about what is due. */
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
    const verdict = held?.verdict ?? this.#decide(version, lane.text, rateKey.text, false);
    const sealed = verdict.kind === "queue" && input.value !== undefined ? this.facts.seal(run.id, input.value) : null;
    const inLane = { ...run, lane: lane.text, rateKey: rateKey.text, input: sealed, notBefore: null, decidedAt: nowMs };
    const decided = this.#apply({ ...inLane, ...held?.why }, verdict);
    this.runs.close(decided);
    if (verdict.kind === "start") this.#start(decided, { version, rateKey: rateKey.text, input: input.value });
  }

  /**
   * Whether a waiting run is not to be started now since that failed: it waits longer each time, some ten minutes in all, and is refused
   * at last. Those behind it in its lane wait for it.
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
    const { notBefore, reason } = held.verdict;
    this.#wake(notBefore);
    this.runs.change({ ...changeOf(run), ...held.why, reason, notBefore });
    return true;
  }

  /** Decides anew about a run that waits. `input`: what its caller gave, or an event made. */
  admit(run: StandingRunRecord, version: LoadedVersion, input: JsonObject | undefined): void {
    const filled = inputOf(version, givenOf(run, version.definition.timeZone), input);
    if ("fault" in filled) {
      this.failuresInRow++;
      this.decline(run, "input_invalid", filled.fault);
      return;
    }
    const verdict = this.#decide(version, run.lane, run.rateKey, true);
    if (verdict.kind !== "start") {
      const reason = verdict.reason;
      const notBefore = verdict.kind === "queue" ? verdict.notBefore : null;
      this.#wake(notBefore);
      if (run.reason !== reason || run.notBefore !== notBefore)
        this.runs.change({ ...changeOf(run), detail: "", reason, notBefore });
      return;
    }
    this.#lanes.leave(run.lane, run.id);
    const started = this.#apply({ ...run, detail: "" }, verdict);
    this.runs.change(changeOf(started));
    this.#start(started, { version, rateKey: run.rateKey, input: filled.value });
  }

  /** Occurrences that are left out, as one run. */
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

  /** A run that is due and cannot start, since something of the program does not hold any more. */
  refuse(occurrence: Occurrence, reason: StandingRunReason, detail: string, version = this.facts.version): void {
    this.#refuse(this.#newRun(occurrence, version.record.version), reason, detail);
  }

  /** Something that was due and is left out before it was looked at whole. */
  skip(occurrence: Occurrence, reason: StandingRunReason, version = this.facts.version): void {
    const run = this.#newRun(occurrence, version.record.version);
    this.skipped++;
    this.runs.addOrCount({ ...run, state: "skipped", reason, endedAt: this.facts.nowMs });
  }

  /** A run that waits and cannot start any more: its version may not be run. */
  decline(run: StandingRunRecord, reason: StandingRunReason, detail: string): void {
    this.#lanes.leave(run.lane, run.id);
    const ended = { state: "refused", reason, detail, notBefore: null, endedAt: this.facts.nowMs } as const;
    this.declined.push({ ...run, ...ended });
    if (reason === "start_failed") this.failedStarts.push(detail);
    this.runs.change({ ...changeOf(run), ...ended });
  }

  /** Nothing is started from now on, until somebody resumes the program. */
  pause(reason: StandingPauseReason, detail: string): void {
    this.state = "paused";
    this.pauseReason = reason;
    this.pauseDetail = detail;
  }

  /** Pauses the program where as many failed in a row as its definition names. */
  pauseAfterFailures(): void {
    const { pauseAfter } = this.facts.version.definition;
    if (pauseAfter === 0 || this.failuresInRow < pauseAfter || this.state !== "active") return;
    this.pause("failures", `${this.failuresInRow} runs in a row failed`);
  }

  /** A job that there is no room for after all: its run waits. */
  putBack(start: StartedRun, notBefore: number): void {
    const { run } = start;
    const waits = { state: "queued", reason: "quota", notBefore, startedAt: null, jobId: null } as const;
    // What made it is not at hand when it is looked at again.
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

  #decide({ definition }: LoadedVersion, laneName: string, rateKey: string, isWaiting: boolean): RunDecision {
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

  /** A run as the verdict leaves it; the lane is told. */
  #apply<Run extends NewStandingRun | StandingRunRecord>(run: Run, verdict: RunDecision): Run {
    const { nowMs } = this.facts;
    switch (verdict.kind) {
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
        const blockingJobId = verdict.blockingJobId ?? null;
        return { ...run, state: "skipped", reason: verdict.reason, blockingJobId, endedAt: nowMs };
      }
      case "queue": {
        const { reason, notBefore, supersedes, cancels = [] } = verdict;
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
