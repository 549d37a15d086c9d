import { createId, type EventId, type StandingProgramId, type StandingRunId } from "@svc/core";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import type { StandingWindowChange } from "@svc/db/standing/windows";
import type { Collect } from "../definition/definition.ts";

/** An event for a window of `collect`. `atMs`: when svc received it, in epoch milliseconds. Also the size of its payload in bytes. */
export type CollectedEvent = { readonly eventId: EventId; readonly atMs: number; readonly bytes: number };

/** Maximum bytes of the events in a window. The event that exceeds the maximum is still included. */
const windowBytesMax = 262_144;

type Window = { run: NewStandingRun | StandingRunRecord; readonly isNew: boolean };

/**
 * The windows of `collect` of one program in one transaction. A window is a run that collects events. It closes when no event came for some
 * time, when its maximum time is over, or when it is full. svc then decides about the window as about one occurrence.
 */
export class Windows {
  readonly #open: Map<string, Window>;
  readonly #touched = new Map<StandingRunId, Window>();
  readonly #programId: StandingProgramId;
  /** The collected events, each with the window it went into. */
  readonly events: {
    readonly eventId: EventId;
    readonly programId: StandingProgramId;
    readonly runId: StandingRunId;
  }[] = [];

  constructor(programId: StandingProgramId, open: readonly StandingRunRecord[]) {
    this.#programId = programId;
    this.#open = new Map(open.map((run) => [run.lane, { run, isNew: false }]));
  }

  /** Adds an event to the open window of its key. `fresh`: a new run of the event's version, used if no window is open. */
  take(key: string, collect: Collect, event: CollectedEvent, fresh: NewStandingRun): void {
    const open = this.#open.get(key);
    // The open window does not take the event if it belongs to another version, or if its time was over when the event came. A new window
    // begins.
    const isOver =
      open !== undefined &&
      (open.run.version !== fresh.version ||
        (open.run.notBefore ?? 0) <= event.atMs ||
        (collect.take === "all" && (open.run.bytes ?? 0) + event.bytes > windowBytesMax));
    if (open !== undefined && isOver) this.#close(open, Math.min(open.run.notBefore ?? 0, event.atMs));
    const window = open === undefined || isOver ? this.#begin(key, fresh) : open;
    const count = window.run.count + 1;
    const lastAt = Math.max(window.run.lastAt ?? 0, event.atMs);
    const bytes = collect.take === "last" ? event.bytes : (window.run.bytes ?? 0) + event.bytes;
    const closesAt = Math.min(
      collect.quietMs === undefined ? Number.POSITIVE_INFINITY : lastAt + collect.quietMs,
      window.run.fireAt + collect.waitMs,
    );
    window.run = { ...window.run, count, lastAt, bytes, notBefore: closesAt };
    this.#touch(window);
    this.events.push({ eventId: event.eventId, programId: this.#programId, runId: window.run.id });
    const isFull = count >= (collect.max ?? Number.POSITIVE_INFINITY);
    if (isFull || (collect.take === "all" && bytes >= windowBytesMax)) this.#close(window, event.atMs);
  }

  /**
   * Returns when to check the changed windows for closing: the earliest time of all of them. If a window's time is over but events still
   * come, it is checked again after `againMs`; otherwise a burst would check it after every batch.
   */
  checkAt(nowMs: number, againMs: number): number | undefined {
    const times = [...this.#touched.values()].map(({ run: { state, notBefore } }) => {
      const at = notBefore ?? 0;
      return state === "closing" || at > nowMs ? at : nowMs + againMs;
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Returns the windows that began in this transaction. */
  begun(): NewStandingRun[] {
    return [...this.#touched.values()].flatMap(({ run, isNew }) => (isNew ? [run as NewStandingRun] : []));
  }

  /** Returns the changes of windows that were already stored. */
  changes(): StandingWindowChange[] {
    return [...this.#touched.values()].flatMap(({ run, isNew }) => (isNew ? [] : [windowChangeOf(run)]));
  }

  #begin(key: string, fresh: NewStandingRun): Window {
    const run = { ...fresh, id: createId("srn", fresh.decidedAt), state: "collecting", lane: key, count: 0 } as const;
    const window: Window = { run, isNew: true };
    this.#open.set(key, window);
    return window;
  }

  #close(window: Window, atMs: number): void {
    window.run = { ...window.run, state: "closing", notBefore: atMs };
    this.#open.delete(window.run.lane);
    this.#touch(window);
  }

  #touch(window: Window): void {
    this.#touched.set(window.run.id, window);
  }
}

/** Returns the columns that decisions change, of a window or of the run that a window became. */
export function windowChangeOf(run: NewStandingRun | StandingRunRecord): StandingWindowChange {
  const { id, state, reason, detail, lane, count, decidedAt } = run;
  const { rateKey, input, bytes, lastAt, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId } = run;
  return {
    ...{ id, state, reason, detail, lane, count, decidedAt },
    ...{ rateKey, input, bytes, lastAt, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId },
  };
}
