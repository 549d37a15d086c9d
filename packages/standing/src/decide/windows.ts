import { createId, type EventId, type StandingProgramId, type StandingRunId } from "@svc/core";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import type { StandingWindowChange } from "@svc/db/standing/windows";
import type { Collect } from "../definition/definition.ts";

/** An event that goes into a window, when it was received (epoch milliseconds), and the bytes of its payload. */
export type CollectedEvent = { readonly eventId: EventId; readonly atMs: number; readonly bytes: number };

/** Maximum bytes of a window's events; the event that exceeds them is included. */
const windowBytesMax = 262_144;

type Window = { run: NewStandingRun | StandingRunRecord; readonly isNew: boolean };

/**
 * The windows of a program's keys in one transaction. A window is a run that collects events until no event came for some time, until its
 * maximum time has passed, or until it is full. Then it closes, and svc decides about it as about an occurrence.
 */
export class Windows {
  readonly #open: Map<string, Window>;
  readonly #touched = new Map<StandingRunId, Window>();
  readonly #programId: StandingProgramId;
  /** Events, each with its window. */
  readonly events: {
    readonly eventId: EventId;
    readonly programId: StandingProgramId;
    readonly runId: StandingRunId;
  }[] = [];

  constructor(programId: StandingProgramId, open: readonly StandingRunRecord[]) {
    this.#programId = programId;
    this.#open = new Map(open.map((run) => [run.lane, { run, isNew: false }]));
  }

  /** Adds an event to the window of its key. `fresh`: a run of its version, used if a window begins with the event. */
  take(key: string, collect: Collect, event: CollectedEvent, fresh: NewStandingRun): void {
    const open = this.#open.get(key);
    // Each version collects for itself. An event that came after a window's time begins the next one.
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
   * Returns when the first changed window is to be checked for closing. A window whose time has expired while events still come is checked
   * after `againMs`: by its own time it would be checked after every batch of a burst.
   */
  checkAt(nowMs: number, againMs: number): number | undefined {
    const times = [...this.#touched.values()].map(({ run: { state, notBefore } }) => {
      const at = notBefore ?? 0;
      return state === "closing" || at > nowMs ? at : nowMs + againMs;
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Returns the windows that began. */
  begun(): NewStandingRun[] {
    return [...this.#touched.values()].flatMap(({ run, isNew }) => (isNew ? [run as NewStandingRun] : []));
  }

  /** Returns the changes of stored windows. */
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

/** Returns the columns of a window, or of the run that it became, that decisions change. */
export function windowChangeOf(run: NewStandingRun | StandingRunRecord): StandingWindowChange {
  const { id, state, reason, detail, lane, count, decidedAt } = run;
  const { rateKey, input, bytes, lastAt, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId } = run;
  return {
    ...{ id, state, reason, detail, lane, count, decidedAt },
    ...{ rateKey, input, bytes, lastAt, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId },
  };
}
