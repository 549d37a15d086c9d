import type { CallRecord } from "@svc/db";
import type { StepEffects } from "./effects.ts";
import { newUsedCalls, type UsedCalls } from "./invoke.ts";
import { type MapAt, type RowWork, runRow } from "./map-row.ts";
import { RowWindow } from "./map-window.ts";

/** What ended is kept once it is `much`, or after so long where it is `some`; where it is less, a little later. */
const much = 200;
const some = 32;
const keptAfterMs = 20;
const laterMs = 40;
/** After so many rows a worker that left for a full call limit comes back. */
const comebackRows = 50;

/** Why rows were left: a limit of the job, or, until `fullUntilMs`, one that its calls share with others. */
export type RowsEnd = { readonly limit: "toolCalls" | "writes" | undefined; readonly fullUntilMs: number | undefined };

/** What a run has to keep: rows that ended, and the ledger's rows of calls. */
export type RowsPart = { readonly works: readonly RowWork[]; readonly records: readonly CallRecord[] };

/** What a run works with. */
export type RowsContext = {
  readonly effects: StepEffects;
  /** Commits a part. Rows go on meanwhile. */
  keep(part: RowsPart, window: RowWindow): Promise<void>;
};

/**
 * Runs rows, `concurrency` at a time, and has what ended kept meanwhile; no further one is begun once a limit of the job is reached or the
 * driver is to pause. Where a call limit is full, those that are under way go on, one after another as their places become free;
 * when none is, the rest waits. Resolves once none is under way; what was not kept by then is left to the caller.
 */
export class RowsRun {
  readonly window: RowWindow;
  readonly #at: MapAt;
  readonly #context: RowsContext;
  readonly #used: UsedCalls = newUsedCalls();
  readonly #size: number;
  #records: CallRecord[] = [];
  #enough = much;
  #active = 0;
  #endedSinceFull = 0;
  #limit: RowsEnd["limit"];
  #fullUntilMs: number | undefined;
  #failure: { readonly error: unknown } | undefined;
  #moved = Promise.withResolvers<void>();
  #isPressing = new AbortController();

  constructor(at: MapAt, context: RowsContext) {
    const { step, state } = at;
    this.#at = at;
    this.#context = context;
    this.#size = Math.min(step.concurrency, state.loaded.program.limits.concurrency);
    this.window = new RowWindow(at, context.effects, this.#used);
  }

  /** Runs rows until none is under way. Throws what a call, a read or a commit threw, once none is. */
  async run(): Promise<RowsEnd> {
    for (let n = 0; n < this.#size; n++) void this.#worker();
    while (this.#active > 0) {
      await this.#moved.promise;
      await this.#gather();
      if (this.#active > 0) await this.#keep();
    }
    if (this.#failure !== undefined) {
      await this.#context.effects.saveRecords(this.takeRecords());
      throw this.#failure.error;
    }
    return { limit: this.#limit, fullUntilMs: this.#fullUntilMs };
  }

  /** The ledger's rows that were not kept. */
  takeRecords(): CallRecord[] {
    return this.#records.splice(0);
  }

  /** Waits until it is time to keep, or nothing is under way. On a slow machine, or with a slow app, a commit is shared as well. */
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
    const isEnough = Math.max(this.window.endedCount, this.#records.length) >= this.#enough;
    return isEnough || this.#active === 0 || this.#failure !== undefined;
  }

  async #keep(): Promise<void> {
    this.#moved = Promise.withResolvers();
    if (this.#failure !== undefined) {
      // Nothing is kept any more: what is under way is waited for.
      if (this.#active > 0) await this.#moved.promise;
      return;
    }
    const part = { works: this.window.takeEnded(), records: this.takeRecords() };
    if (part.works.length + part.records.length === 0) return;
    try {
      await this.#context.keep(part, this.window);
    } catch (error) {
      this.#fail(error);
    }
  }

  #move(): void {
    this.#moved.resolve();
    if (this.#isDue()) this.#isPressing.abort();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
  }

  async #worker(): Promise<void> {
    this.#active++;
    try {
      await this.#work();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#active--;
      this.#move();
    }
  }

  #mustStop(): boolean {
    return this.#failure !== undefined || this.#limit !== undefined || this.#context.effects.mustPause(this.#at.state);
  }

  async #work(): Promise<void> {
    const { effects } = this.#context;
    const parts = { effects, takeRecord: (record: CallRecord) => void this.#records.push(record) };
    while (!this.#mustStop()) {
      const row = await this.window.next();
      if (row === undefined || this.#mustStop()) return;
      const end = await runRow(this.#at, row, parts);
      if (typeof end === "object") {
        this.window.putBack(row);
        this.#endedSinceFull = 0;
        if (this.#active === 1) this.#fullUntilMs = end.fullUntilMs;
        return;
      }
      this.#limit ??= end;
      if (end === undefined) this.#left(row);
    }
  }

  #left(row: RowWork): void {
    this.window.left(row);
    this.#endedSinceFull++;
    this.#move();
    if (this.#active >= this.#size || this.#endedSinceFull < comebackRows || !this.window.hasNext) return;
    this.#endedSinceFull = 0;
    while (this.#active < this.#size) void this.#worker();
  }
}
