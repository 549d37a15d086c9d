import { createId, type EventId, type StandingProgramId, type StandingRunId } from "@svc/core";
import type { NewStandingRun, StandingRunRecord } from "@svc/db/standing/runs";
import type { StandingWindowChange } from "@svc/db/standing/windows";
import type { Collect } from "../definition/definition.ts";

/** An event that a window takes, and the bytes of what it carries. */
export type CollectedEvent = { readonly eventId: EventId; readonly atMs: number; readonly bytes: number };

/** Bytes that a window hands over at most, and the event that passes them. */
const windowBytesMax = 262_144;

type Window = { run: NewStandingRun | StandingRunRecord; readonly isNew: boolean };

/**
 * The windows of a program's keys in one transaction. A window is a run that collects: it takes events until it is quiet, or has waited, or
 * is full; then it closes, and is decided about by itself.
 */
export class Windows {
  readonly #open: Map<string, Window>;
  readonly #touched = new Map<StandingRunId, Window>();
  readonly #programId: StandingProgramId;
  /** Which window has which event. */
  readonly events: {
    readonly eventId: EventId;
    readonly programId: StandingProgramId;
    readonly runId: StandingRunId;
  }[] = [];

  constructor(programId: StandingProgramId, open: readonly StandingRunRecord[]) {
    this.#programId = programId;
    this.#open = new Map(open.map((run) => [run.lane, { run, isNew: false }]));
  }

  /** Takes an event into the window of its key. `fresh`: a run of its version, for a window that begins with it. */
  take(key: string, collect: Collect, event: CollectedEvent, fresh: NewStandingRun): void {
    const open = this.#open.get(key);
    // Each version collects for itself, and what came after a window's time is not of it.
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
   * When it is to be looked whether the first of those that were touched closes. One whose time is over already, while events come to it,
   * is looked at in a while: by its time it would be after every batch of a storm.
   */
  lookAt(nowMs: number, againMs: number): number | undefined {
    const times = [...this.#touched.values()].map(({ run: { state, notBefore } }) => {
      const at = notBefore ?? 0;
      return state === "closing" || at > nowMs ? at : nowMs + againMs;
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Windows that began. */
  begun(): NewStandingRun[] {
    return [...this.#touched.values()].flatMap(({ run, isNew }) => (isNew ? [run as NewStandingRun] : []));
  }

  /** What became of those that were there. */
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

/** What is written of a window, or of a run that one became. */
export function windowChangeOf(run: NewStandingRun | StandingRunRecord): StandingWindowChange {
  const { id, state, reason, detail, lane, count, decidedAt } = run;
  const { rateKey, input, bytes, lastAt, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId } = run;
  return {
    ...{ id, state, reason, detail, lane, count, decidedAt },
    ...{ rateKey, input, bytes, lastAt, notBefore, startFailures, startedAt, endedAt, jobId, blockingJobId },
  };
}
