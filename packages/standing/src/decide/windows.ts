import { createId, type EventId, type StandingProgramId, type StandingRunId } from "@svc/core";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import type { StandingWindowChange } from "@svc/db/standing/windows";
import type { Collect } from "../definition/definition.ts";

/**
 * An event that is added to a window (time in which events are collected for one run). `atMs`: time at which svc received the event, in
 * epoch milliseconds. `bytes`: size of its payload.
 */
export type CollectedEvent = { readonly eventId: EventId; readonly atMs: number; readonly bytes: number };

/**
 * Maximum bytes of the events in a window (time in which events are collected for one run). The event that exceeds this maximum is still
 * added.
 */
const windowBytesMax = 262_144;

type Window = { run: NewStandingRun | StandingRunRecord; readonly isNew: boolean };

/**
 * The windows of one schedule that one transaction uses. A window is a run that collects events, as `collect` in the schedule's definition
 * requires. It closes if no event arrived for some time, if its maximum time is over, or if it is full. After that, svc makes one decision
 * about all its events together.
 */
export class Windows {
  readonly #open: Map<string, Window>;
  readonly #touched = new Map<StandingRunId, Window>();
  readonly #programId: StandingProgramId;
  /** Events that this transaction adds to windows, each with the run that collects it. */
  readonly events: {
    readonly eventId: EventId;
    readonly programId: StandingProgramId;
    readonly runId: StandingRunId;
  }[] = [];

  constructor(programId: StandingProgramId, open: readonly StandingRunRecord[]) {
    this.#programId = programId;
    this.#open = new Map(open.map((run) => [run.lane, { run, isNew: false }]));
  }

  /**
   * Adds an event to the open collect window of its key. If the key has no window for this event, the new run `fresh` becomes its window.
   */
  take(key: string, collect: Collect, event: CollectedEvent, fresh: NewStandingRun): void {
    const open = this.#open.get(key);
    // The open window cannot take the event if it belongs to another version, or if its time was already over when the event arrived. In
    // these cases a new window begins.
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
   * Returns the earliest time at which svc must check if a collect window can close. Looks only at windows that got events in this
   * transaction.
   */
  checkAt(nowMs: number, againMs: number): number | undefined {
    const times = [...this.#touched.values()].map(({ run: { state, notBefore } }) => {
      const at = notBefore ?? 0;
      // If the time of the window is over but its events still arrive, the check follows later. Otherwise, a burst of events would cause a
      // check after every batch.
      return state === "closing" || at > nowMs ? at : nowMs + againMs;
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Returns the windows (runs that collect events until a time) that began in this transaction. */
  begun(): NewStandingRun[] {
    return [...this.#touched.values()].flatMap(({ run, isNew }) => (isNew ? [run as NewStandingRun] : []));
  }

  /**
   * Returns the changes of those windows (times in which events are collected for one run) that the database contained before this
   * transaction.
   */
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

/**
 * Returns those fields of a window (run that collects events) that a decision may change. The window may still be open, or closed and
 * already waiting as an ordinary run.
 */
export function windowChangeOf(run: NewStandingRun | StandingRunRecord): StandingWindowChange {
  const { id, state, reason, detail, lane, count, decidedAt } = run;
  const { rateKey, input, bytes, lastAt, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId } = run;
  return {
    ...{ id, state, reason, detail, lane, count, decidedAt },
    ...{ rateKey, input, bytes, lastAt, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId },
  };
}
