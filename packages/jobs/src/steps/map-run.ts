import type { CallRecord } from "@svc/db/calls/repo";
import type { JobState } from "../state/job.ts";
import type { ProgressOf } from "../state/progress.ts";
import type { StepEffects } from "./effects.ts";
import type { Withholding } from "./invoke.ts";
import { handBytesMax, keptBytesMax, type MapMemory } from "./map-memory.ts";
import { type MapAt, type RowJobs, type RowParts, type RowWork, runRow, type StoppedRow } from "./map-row.ts";
import type { RowWindow } from "./map-window.ts";
import { passingBytesMax } from "./set-memory.ts";

/** When this many rows have ended, they are stored at once. With fewer ended rows, the step waits some milliseconds for more. */
const much = 200;
const some = 32;
const keptAfterMs = 20;
const laterMs = 40;
/** Maximum number of rows that have ended and are not stored yet. At this number, the `map` step begins no new row. */
const endedMax = 2 * much;
/**
 * A `map` step runs fewer rows at the same time after a call limit was full. After this number of rows has ended, it runs as many rows as
 * before.
 */
const comebackRows = 50;

/**
 * Rows of a `map` step to store in one commit. `works`: ended rows, in order. `records`: the records of their calls for the ledger (record
 * of all tool calls). `progress`: the progress of the step after these rows.
 */
export type RowsPart = {
  readonly works: readonly RowWork[];
  readonly records: readonly CallRecord[];
  readonly progress: ProgressOf<"map">;
};

/** Result of `RowsRun.run` when rows of a map step have run. `part`: the last rows to store. `open`: the rows that have not ended. */
export type RowsEnd = {
  readonly part: RowsPart;
  readonly open: readonly RowWork[];
  /** True if every row of the map has ended. */
  readonly isDone: boolean;
  /**
   * The job's limit that stopped the calls, if one did. `fullUntilMs`: set if a call limit shared with other jobs stopped them; that limit
   * is full until this time.
   */
  readonly limit: "toolCalls" | "writes" | undefined;
  readonly fullUntilMs: number | undefined;
  /** Present if a call waits until a change of its tool is accepted. */
  readonly withheld: Withholding | undefined;
};

/** The functions and data that RowsRun needs, which makes the calls of a `map` step for many rows. */
export type RowsContext = {
  readonly effects: StepEffects;
  readonly memory: MapMemory;
  readonly children?: RowJobs | undefined;
  readonly tools: RowParts["tools"];
  /** Commits ended rows while other rows continue. Returns the job after the commit. */
  keep(part: RowsPart): Promise<JobState>;
};

/**
 * Runs up to `concurrency` rows of a `map` step at a time, and stores ended rows meanwhile. When a limit of the job is reached or the job
 * must pause, no further row begins. When a call limit is reached, fewer rows run at a time. After the run, the caller stores the last rows.
 */
export class RowsRun {
  readonly #window: RowWindow;
  readonly #at: MapAt;
  readonly #context: RowsContext;
  readonly #size: number;
  readonly #takeRecord = (record: CallRecord) => {
    this.#records.push(record);
    this.#recordBytes += record.arguments.byteLength;
    this.#context.memory.bytes += record.arguments.byteLength;
  };
  readonly #parts: RowParts;
  /** The job after the last commit of this run. */
  #state: JobState;
  #ended: RowWork[] = [];
  #records: CallRecord[] = [];
  /** Memory of the ended rows that are not stored yet, in bytes. */
  #endedBytes = 0;
  #recordBytes = 0;
  #enough = much;
  /** Maximum number of rows that run at the same time now. It is lower while a call limit is full. */
  #places: number;
  #active = 0;
  #isReading = false;
  /** True if the next row of the `map` step waits until the event loop has time for it. */
  #isInLine = false;
  /** True if no row of the `map` step is ready to begin and no row is being read. Then this object has only running rows left. */
  #isDry = false;
  /** Number of the `map` step's rows that have ended since this object began to run rows. */
  #endedCount = 0;
  #waiting = 0;
  #endedSinceFull = 0;
  #limit: RowsEnd["limit"];
  #fullUntilMs: number | undefined;
  #withheld: Withholding | undefined;
  #failure: { readonly error: unknown } | undefined;
  #moved = Promise.withResolvers<void>();
  #isPressing = new AbortController();

  /** `window`: supplies the rows whose calls this object runs. */
  constructor(at: MapAt, window: RowWindow, context: RowsContext) {
    const { step, state } = at;
    this.#at = at;
    this.#context = context;
    this.#state = state;
    this.#size = Math.min(step.concurrency, state.loaded.program.limits.concurrency);
    this.#places = this.#size;
    this.#window = window;
    const { effects, memory, children, tools } = context;
    this.#parts = { effects, memory, takeRecord: this.#takeRecord, children, tools };
  }

  /** Starts rows, and waits until all started rows have stopped. Throws the error of a call, a read or a commit that failed. */
  async run(): Promise<RowsEnd> {
    await this.#read();
    while (this.#isUnderWay() || this.#isMuchLeft()) {
      if (this.#isUnderWay()) await this.#moved.promise;
      await this.#gather();
      if (this.#isUnderWay() || this.#isMuchLeft()) await this.#keep();
    }
    if (this.#failure !== undefined) {
      await this.#context.effects.saveRecords(this.#records.splice(0));
      throw this.#failure.error;
    }
    const [works, records] = [this.#takeEnded(), this.#takeRecords()];
    const { open, isDone, progress } = this.#window.close(works);
    const part = { works: open.length === 0 ? works : inOrder([...works, ...open]), records, progress };
    const [limit, fullUntilMs, withheld] = [this.#limit, this.#fullUntilMs, this.#withheld];
    return { part, open, isDone, limit, fullUntilMs, withheld };
  }

  #isUnderWay(): boolean {
    return this.#active > 0 || this.#isReading || this.#isInLine;
  }

  /** True if the ended rows that are left use too much memory for one commit. */
  #isMuchLeft(): boolean {
    return this.#failure === undefined && this.#ended.length > 1 && this.#endedBytes > keptBytesMax;
  }

  /**
   * Waits until it is time to store ended rows, or until no row is running. On a slow machine or with a slow app, the wait makes several
   * rows share one commit.
   */
  async #gather(): Promise<void> {
    for (const [enough, ms] of [
      [much, keptAfterMs],
      [some, laterMs],
    ] as const) {
      this.#enough = enough;
      this.#isPressing = new AbortController();
      if (this.#isDue()) return;
      await this.#context.effects.clock.wait(ms, this.#isPressing.signal);
    }
  }

  #isDue(): boolean {
    const isEnough = Math.max(this.#ended.length, this.#records.length) >= this.#enough;
    const isMuch = this.#endedBytes + this.#recordBytes >= keptBytesMax;
    return isEnough || isMuch || !this.#isUnderWay() || this.#failure !== undefined;
  }

  async #keep(): Promise<void> {
    // Rows are encrypted on the main thread, so they are stored only when this thread has time.
    const turn = this.#context.effects.spareTime();
    if (turn !== undefined) await turn;
    this.#moved = Promise.withResolvers();
    if (this.#failure !== undefined) {
      // After an error nothing more is stored. The code only waits for the rows that still run.
      if (this.#isUnderWay()) await this.#moved.promise;
      return;
    }
    const works = this.#takeEnded();
    const recordBytes = this.#recordBytes;
    const records = this.#takeRecords();
    if (works.length + records.length === 0) return;
    try {
      this.#state = await this.#context.keep({ works, records, progress: this.#window.pass(works) });
    } catch (error) {
      this.#fail(error);
    }
    const { memory } = this.#context;
    memory.bytes -= recordBytes;
    if (memory.isWatched) memory.settle();
    this.#begin();
  }

  /**
   * Returns the rows of the `map` step that have ended and are not stored yet, in order. If rows are large, it returns only as many as fit
   * into one commit.
   */
  #takeEnded(): RowWork[] {
    let bytes = 0;
    const more = this.#ended.findIndex((work) => {
      const isOver = bytes >= keptBytesMax;
      if (!isOver) bytes += work.bytes;
      return isOver;
    });
    this.#endedBytes -= bytes;
    return inOrder(this.#ended.splice(0, more === -1 ? this.#ended.length : more));
  }

  #takeRecords(): CallRecord[] {
    this.#recordBytes = 0;
    return this.#records.splice(0);
  }

  #move(): void {
    this.#moved.resolve();
    // `abort` is called only once for each signal, because each call creates an error object as the reason, even if the signal is already
    // aborted.
    if (!this.#isPressing.signal.aborted && this.#isDue()) this.#isPressing.abort();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /** Reads more rows while earlier rows run, and then starts the new rows. */
  async #read(): Promise<void> {
    this.#isReading = true;
    const { memory } = this.#context;
    try {
      const turn = this.#context.effects.spareTime();
      if (turn !== undefined) await turn;
      await this.#window.read();
      if (memory.bytes > passingBytesMax) await memory.charge();
    } catch (error) {
      this.#fail(error);
    }
    this.#isReading = false;
    this.#begin();
    this.#move();
  }

  /**
   * Starts to process rows while fewer rows are in work than allowed. Each row starts when the node has time for it, because incoming
   * requests come first.
   */
  #begin(): void {
    // The reasons to stop (for example a reached limit or a requested pause) are the same for all rows that begin in this loop. So only the
    // first row checks them.
    for (let isFirst = true; this.#hasRow(isFirst); isFirst = false) {
      const turn = this.#context.effects.spareTime();
      if (turn !== undefined) {
        this.#isInLine = true;
        void turn.then(this.#goOn);
        return;
      }
      void this.#run(this.#window.take());
    }
  }

  /**
   * True if a row of the `map` step can begin now. If few read rows are left, also starts to read more rows. `isFirst`: true for the first
   * of several rows that begin together. Only the first row checks if the step must stop.
   */
  #hasRow(isFirst: boolean): boolean {
    if (this.#isInLine || this.#isDry || this.#active >= this.#places) return false;
    if (isFirst && this.#mustStop()) return false;
    // Rows can end faster than they are committed. No new row begins then, because ended rows would fill the memory.
    if (this.#ended.length >= endedMax) return false;
    const mayRead = this.#window.mayRead({ ended: this.#endedCount, waiting: this.#waiting });
    if (mayRead && !this.#isReading) void this.#read();
    const isFull = this.#context.memory.bytes >= handBytesMax;
    const { hasNext } = this.#window;
    this.#isDry = !hasNext && !this.#isReading && !mayRead && !isFull;
    return hasNext && (!isFull || this.#active === 0);
  }

  /** Begins the next waiting row of the `map` step, unless the step must stop. */
  readonly #goOn = (): void => {
    this.#isInLine = false;
    if (this.#hasRow(true)) void this.#run(this.#window.take());
    this.#begin();
    this.#move();
  };

  #mustStop(): boolean {
    const hasStopped = this.#failure !== undefined || this.#limit !== undefined || this.#fullUntilMs !== undefined;
    return hasStopped || this.#context.effects.mustPause(this.#state);
  }

  async #run(row: RowWork): Promise<void> {
    this.#active++;
    const { memory } = this.#context;
    memory.begun.add(row);
    try {
      const end = await runRow(this.#at, row, this.#parts);
      this.#active--;
      if (typeof end === "object") this.#wasFull(row, end);
      else if (end === undefined) this.#left(row);
      this.#limit ??= typeof end === "string" ? end : undefined;
    } catch (error) {
      this.#active--;
      this.#fail(error);
    }
    memory.begun.delete(row);
    if (memory.isWatched) memory.settle();
    this.#begin();
    this.#move();
  }

  /**
   * Puts a row back into the queue because a call limit is reached, and reduces the number of rows that run at a time. If no row is left
   * that runs, the remaining rows wait until `untilMs`.
   */
  #wasFull(row: RowWork, { fullUntilMs: untilMs, withheld }: StoppedRow): void {
    if (withheld !== undefined && this.#withheld?.message === undefined) this.#withheld = withheld;
    this.#window.putBack(row);
    this.#isDry = false;
    this.#endedSinceFull = 0;
    this.#places = this.#active;
    if (this.#active === 0) this.#fullUntilMs = untilMs;
  }

  #left(row: RowWork): void {
    if (row.state === undefined) {
      this.#waiting++;
    } else {
      if (shedEnded(row, this.#at.step.keep)) {
        this.#context.memory.bytes -= row.bytes;
        row.bytes = 0;
      }
      this.#ended.push(row);
      this.#endedCount++;
      this.#endedBytes += row.bytes;
    }
    this.#endedSinceFull++;
    if (this.#places === this.#size || this.#endedSinceFull < comebackRows) return;
    this.#endedSinceFull = 0;
    this.#places = this.#size;
  }
}

function inOrder(works: RowWork[]): RowWork[] {
  return works.sort((a, b) => a.ordinal - b.ordinal);
}

/** Removes from an ended row the data that need not be stored. Returns true if the rest is so small that its memory is not counted. */
function shedEnded(work: RowWork, keep: MapAt["step"]["keep"]): boolean {
  if (keep.length > 0) return false;
  work.row = {};
  if (work.state !== "ok") return false;
  work.outputs = {};
  return work.undo.length === 0;
}
