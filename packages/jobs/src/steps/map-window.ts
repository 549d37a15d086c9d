import type { ProgressOf, RetryProgress } from "../state/progress.ts";
import type { RowRange, StepEffects } from "./effects.ts";
import { newTally, type UsedCalls } from "./invoke.ts";
import { type MapAt, type RowWork, rowWorkOf } from "./map-row.ts";
import { sourceOf } from "./step-kind.ts";

/** Rows that have been read and have not ended, at most. */
const openMax = 200;
/** Rows that are read together. */
const pageRows = 100;
/** Rows from the first that has not ended to the last that was read, at most: those that ended between are listed in the progress. */
const spanMax = 1_000;

type Retries = Readonly<Record<string, RetryProgress>>;
type Entry = { readonly work: RowWork; isTaken: boolean };

/**
 * The rows of a map that an act has at hand, in their order. It refills as rows end, however long one of them takes: from a row that
 * does not end on, up to a bound, the ordinals of those that did are kept.
 */
export class RowWindow {
  readonly #at: MapAt;
  readonly #effects: StepEffects;
  readonly #used: UsedCalls;
  /** All that were read, from the first on that has not ended. */
  readonly #entries = new Map<number, Entry>();
  readonly #queue: RowWork[] = [];
  readonly #ended: RowWork[] = [];
  /** Read, and not ended. */
  #open = 0;
  /** Those that wait for a retry. */
  #waiting = 0;
  #nextOrdinal: number;
  #isAtEnd = false;
  #readCount = 0;
  #reading: Promise<void> | undefined;

  /** `used` counts what all rows use together. */
  constructor(at: MapAt, effects: StepEffects, used: UsedCalls) {
    this.#at = at;
    this.#effects = effects;
    this.#used = used;
    this.#nextOrdinal = at.progress.next ?? 0;
  }

  /** Rows that ended and were not taken. */
  get endedCount(): number {
    return this.#ended.length;
  }

  /** Whether there was no row left to read. */
  get isEmpty(): boolean {
    return this.#isAtEnd && this.#readCount === 0;
  }

  /** Whether a row can be begun at once. */
  get hasNext(): boolean {
    return this.#queue.length > 0;
  }

  /** The next row to begin; undefined when there is none now. */
  async next(): Promise<RowWork | undefined> {
    // Read while those before run.
    if (this.#mayRefill()) this.#refill();
    while (this.#queue.length === 0 && this.#reading !== undefined) {
      await this.#reading;
      if (this.#queue.length === 0 && this.#mayRefill()) this.#refill();
    }
    return this.#queue.shift();
  }

  /** Puts back a row that was begun and could not go. */
  putBack(work: RowWork): void {
    this.#queue.unshift(work);
  }

  /** Says that a row was left: it ended, or it waits for a retry. */
  left(work: RowWork): void {
    if (work.state === undefined) {
      this.#waiting++;
      return;
    }
    this.#open--;
    this.#ended.push(work);
  }

  /** Takes the rows that ended, in their order. */
  takeEnded(): RowWork[] {
    const ended = this.#ended.splice(0).sort((a, b) => a.ordinal - b.ordinal);
    for (const { ordinal } of ended) this.#pass(ordinal);
    return ended;
  }

  /** Rows that have not ended, in their order. */
  listOpen(): RowWork[] {
    return [...this.#entries.values()].flatMap(({ work, isTaken }) =>
      isTaken || work.state !== undefined ? [] : [work],
    );
  }

  /** How far the map is once the rows that were taken are stored; `isLast`: and all the others, as far as they are. */
  progress({ isLast }: { readonly isLast: boolean }): ProgressOf<"map"> {
    const { retries: _retries, ended: before = [], ...rest } = this.#at.progress;
    const [next = this.#nextOrdinal] = this.#entries.keys();
    const endedHere = [...this.#entries].flatMap(([ordinal, { isTaken }]) => (isTaken ? [ordinal] : []));
    // What earlier acts ended may lie behind what this one has read.
    const ended = [...endedHere, ...before.filter((ordinal) => ordinal >= this.#nextOrdinal)];
    const retries = isLast ? this.#retriesLeft() : this.#retriesKept(next);
    return { ...rest, next, ...(ended.length > 0 && { ended }), ...(retries && { retries }) };
  }

  /** Where they are given, even none, rows may be stored between their calls. */
  #retriesLeft(): Retries | undefined {
    const open = this.listOpen();
    return open.length === 0 ? undefined : { ...retriesOf(open), ...this.#retriesUnread() };
  }

  /** Of rows that are stored as this act found them. */
  #retriesKept(next: number): Retries | undefined {
    const { retries: before, next: from = 0 } = this.#at.progress;
    if (before === undefined || next >= from + spanMax) return undefined;
    const unchanged = this.listOpen().filter(({ doneCalls, doneBefore }) => doneCalls === doneBefore);
    return { ...retriesOf(unchanged), ...this.#retriesUnread() };
  }

  #retriesUnread(): Retries {
    const before = Object.entries(this.#at.progress.retries ?? {});
    return Object.fromEntries(before.filter(([call]) => Number.parseInt(call, 10) >= this.#nextOrdinal));
  }

  #mayRefill(): boolean {
    const isWanted = this.#queue.length < pageRows && this.#open + pageRows <= openMax;
    // While one waits to be tried again nothing is begun behind what was read: an app that refuses is not asked by ever more rows.
    return isWanted && !this.#isAtEnd && this.#waiting === 0 && this.#entries.size + pageRows <= spanMax;
  }

  #refill(): void {
    if (this.#reading !== undefined) return;
    const reading = this.#readPage().finally(() => {
      this.#reading = undefined;
    });
    // Whoever waits for it hears of a failure; where nobody does, it is read again when it is needed.
    reading.catch(() => {});
    this.#reading = reading;
  }

  async #readPage(): Promise<void> {
    const { state, step, progress } = this.#at;
    const { again, retries, next: from = 0 } = progress;
    const ended = new Set(progress.ended);
    const range = { fromOrdinal: this.#nextOrdinal, limit: pageRows };
    const own: RowRange = { ...range, setId: step.id, state: again };
    const rows = await this.#effects.readRows(state, again === undefined ? { ...range, ...sourceOf(step) } : own);
    // What earlier acts left of rows that have not ended.
    const mayBeLeft = again === undefined && retries !== undefined && range.fromOrdinal < from + spanMax;
    const left = mayBeLeft ? await this.#effects.readRows(state, { ...own, withData: false }) : [];
    const leftOf = new Map(left.map((row) => [row.ordinal, row]));
    for (const row of rows) {
      const tally = newTally(this.#used);
      const work = rowWorkOf(row, again === undefined ? leftOf.get(row.ordinal) : row, { tally, retries });
      this.#entries.set(row.ordinal, { work, isTaken: false });
      if (ended.has(row.ordinal)) {
        this.#pass(row.ordinal);
        continue;
      }
      this.#open++;
      this.#queue.push(work);
    }
    this.#readCount += rows.length;
    this.#isAtEnd = rows.length < pageRows;
    this.#nextOrdinal = (rows.at(-1)?.ordinal ?? this.#nextOrdinal - 1) + 1;
  }

  #pass(ordinal: number): void {
    const entry = this.#entries.get(ordinal);
    if (entry !== undefined) entry.isTaken = true;
    for (const [first, { isTaken }] of this.#entries) {
      if (!isTaken) return;
      this.#entries.delete(first);
    }
  }
}

/** By call. */
function retriesOf(works: readonly RowWork[]): Retries {
  return Object.fromEntries(
    works.flatMap(({ ordinal, doneCalls, retry }) =>
      retry === undefined ? [] : [[`${ordinal}/${doneCalls}`, retry] as const],
    ),
  );
}
