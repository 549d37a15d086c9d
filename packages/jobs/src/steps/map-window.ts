import { isCall } from "@svc/program";
import type { Change, UndoOf } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { JobState } from "../state/job.ts";
import type { ProgressOf, RetryProgress } from "../state/progress.ts";
import { undoOf } from "./arguments.ts";
import type { RowRange, SetPage, SetRow, StepEffects } from "./effects.ts";
import { newTally, noUsedCalls, type UsedCalls } from "./invoke.ts";
import { handBytesMax, type MapMemory } from "./map-memory.ts";
import { answersOf, type MapAt, type RowWork, rowWorkOf } from "./map-row.ts";

/** Approximate maximum of encrypted bytes in the rows of a `map` step that are read together. A larger row is read alone. */
const pageBytesMax = 1_048_576;

/** Maximum number of rows that are in memory and have not ended. */
const openMax = 200;
/** Maximum number of rows that are read together. */
const pageRows = 100;
/**
 * Maximum distance, in rows, between the first unfinished row of a `map` step and the last row that was read. The stored progress of the
 * step lists the finished rows between these two, so this limits its size.
 */
const spanMax = 1_000;
/** Highest possible ordinal (number of a row in its set). */
const lastOrdinal = 2_147_483_647;

type Retries = Readonly<Record<string, RetryProgress>>;
type Entry = { readonly work: RowWork; isTaken: boolean };

type WindowParts = { readonly memory: MapMemory; readonly used?: UsedCalls | undefined };

/**
 * How many of the rows that a map step has read are no longer being processed. `ended`: rows that are finished. `waiting`: rows that wait
 * for a retry.
 */
type LeftRows = { readonly ended: number; readonly waiting: number };

/** The rows of a `map` step that are in memory, in order. When one of them ends, the next row is read, even if an earlier row still runs. */
export class RowWindow {
  readonly #at: MapAt;
  readonly #effects: StepEffects;
  readonly #memory: MapMemory;
  /** How much of the job's limits the current action of the `map` step has used, counted over all rows. */
  readonly #used: UsedCalls;
  /** The rows of the `map` step that were read so far, beginning with the first unfinished row. The key is the row's number in its set. */
  readonly #entries = new Map<number, Entry>();
  readonly #queue: RowWork[] = [];
  /** Number of rows read so far. Rows that had ended before the current step action (unit of a step's work) do not count. */
  #readCount = 0;
  #nextOrdinal: number;
  #isAtEnd = false;

  /**
   * `used`: object that counts how much of the job's limits is used. The caller passes it if child jobs of the step must be counted in the
   * same object. Default: a new object.
   */
  constructor(at: MapAt, effects: StepEffects, { memory, used = { ...noUsedCalls } }: WindowParts) {
    this.#at = at;
    this.#memory = memory;
    this.#used = used;
    this.#effects = effects;
    this.#nextOrdinal = at.progress.next ?? 0;
  }

  /** True if a row was read and not started yet, so that `take` can return a row. */
  get hasNext(): boolean {
    return this.#queue.length > 0;
  }

  /** Returns the next row to begin. Throws an Error if there is none; check `hasNext` first. */
  take(): RowWork {
    const row = this.#queue.shift();
    if (row === undefined) throw new Error("the map has no row to begin");
    return row;
  }

  /** Puts a row back in front of the waiting rows, because it could not run. */
  putBack(work: RowWork): void {
    this.#queue.unshift(work);
  }

  /**
   * Removes ended rows from the rows in memory, because they are about to be stored. Returns the progress of the map, which is stored
   * together with these rows.
   */
  pass(ended: readonly RowWork[]): ProgressOf<"map"> {
    this.#passAll(ended);
    return this.#progress(({ next }) => this.#retriesKept(next));
  }

  /**
   * Ends the work on a map step's rows in memory, so that the progress can be committed. The rows in `ended` are finished and removed
   * first. Returns the map's progress, and in `open` the unfinished rows, which are stored in their present state. `isDone` is true if the
   * map has no rows left.
   */
  close(ended: readonly RowWork[]): { open: readonly RowWork[]; isDone: boolean; progress: ProgressOf<"map"> } {
    this.#passAll(ended);
    const open = this.#listOpen();
    // A row can be stored after one of its calls and before its next call. The field `retries` is set, even without entries, if any row is
    // unfinished. It informs the next step action that stored rows may have begun.
    const retries = open.length === 0 ? undefined : { ...retriesOf(open), ...this.#retriesUnread() };
    return { open, isDone: this.#isAtEnd && open.length === 0, progress: this.#progress(() => retries) };
  }

  /** Returns the unfinished rows in order. */
  #listOpen(): RowWork[] {
    return [...this.#entries.values()].flatMap(({ work, isTaken }) =>
      isTaken || work.state !== undefined ? [] : [work],
    );
  }

  #progress(retriesAt: (place: { readonly next: number }) => Retries | undefined): ProgressOf<"map"> {
    const { retries: _retries, ended: before = [], ...rest } = this.#at.progress;
    const [next = this.#nextOrdinal] = this.#entries.keys();
    const endedHere = [...this.#entries].flatMap(([ordinal, { isTaken }]) => (isTaken ? [ordinal] : []));
    // An earlier step action may have read more rows than this one. Rows that it ended and that this step action has not read stay in the
    // list of ended rows.
    const ended = [...endedHere, ...before.filter((ordinal) => ordinal >= this.#nextOrdinal)];
    const retries = retriesAt({ next });
    return { ...rest, next, ...(ended.length > 0 && { ended }), ...(retries && { retries }) };
  }

  /**
   * Returns the planned retries, except those of rows in which a call has ended during the current work on the step. `next`: position of
   * the first row that has not ended. Returns undefined if nothing was planned, or if all planned rows have ended.
   */
  #retriesKept(next: number): Retries | undefined {
    const { retries: before, next: from = 0 } = this.#at.progress;
    if (before === undefined || next >= from + spanMax) return undefined;
    const unchanged = this.#listOpen().filter(({ doneCalls, doneBefore }) => doneCalls === doneBefore);
    return { ...retriesOf(unchanged), ...this.#retriesUnread() };
  }

  #retriesUnread(): Retries {
    const before = Object.entries(this.#at.progress.retries ?? {});
    return Object.fromEntries(before.filter(([call]) => Number.parseInt(call, 10) >= this.#nextOrdinal));
  }

  /** True if more rows should be read: few rows wait to begin, and memory has room for more. */
  mayRead({ ended, waiting }: LeftRows): boolean {
    const isWanted = this.#queue.length < pageRows && this.#readCount - ended + pageRows <= openMax;
    // If a row waits for a retry, no more rows are read. Rows that were already read still begin. So an app that refuses requests does not
    // get ever more of them.
    const hasRoom = this.#memory.bytes < handBytesMax && this.#entries.size + pageRows <= spanMax;
    return isWanted && !this.#isAtEnd && waiting === 0 && hasRoom;
  }

  /** Reads the next page of the rows that the `map` step processes. Puts the rows that have not ended into the waiting queue. */
  async read(): Promise<void> {
    const { progress } = this.#at;
    const { again, retries } = progress;
    const ended = new Set(progress.ended);
    const { rows, leftOf, hasMore } = await this.#readPage();
    const tallied = rows.map((row) => ({ row, tally: newTally(this.#used) }));
    for (const { row, tally } of tallied) {
      const work = rowWorkOf(row, again === undefined ? leftOf.get(row.ordinal) : row, { tally, retries });
      this.#entries.set(row.ordinal, { work, isTaken: false });
      if (ended.has(row.ordinal)) {
        this.#pass(row.ordinal);
        continue;
      }
      this.#readCount++;
      this.#queue.push(work);
      this.#memory.bytes += work.bytes;
    }
    this.#isAtEnd = !hasMore;
    this.#nextOrdinal = (rows.at(-1)?.ordinal ?? this.#nextOrdinal - 1) + 1;
  }

  /** Returns a page of rows. `leftOf` maps the ordinal of an unfinished row to what was stored for this row before. */
  async #readPage(): Promise<SetPage & { readonly leftOf: ReadonlyMap<number, SetRow> }> {
    const { state, step, progress } = this.#at;
    const { again, retries, next: from = 0 } = progress;
    const range = { fromOrdinal: this.#nextOrdinal, limit: pageRows, bytesMax: pageBytesMax };
    const own: RowRange = { ...range, setId: step.id, state: again };
    if (again !== undefined) return { ...(await this.#effects.readRows(state, own)), leftOf: new Map() };
    const page = await this.#effects.readRows(state, { ...range, setId: step.source, states: step.states });
    const mayBeLeft = retries !== undefined && range.fromOrdinal < from + spanMax;
    if (!mayBeLeft) return { ...page, leftOf: new Map() };
    const left = await this.#effects.readRows(state, { ...own, withData: false });
    const leftOf = new Map(left.rows.map((row) => [row.ordinal, row]));
    // The stored parts of unfinished rows may be large, so they are also read in pages. The page of rows then ends at the same row as the
    // page of stored parts.
    const last = left.hasMore ? (left.rows.at(-1)?.ordinal ?? lastOrdinal) : lastOrdinal;
    const rows = page.rows.filter(({ ordinal }) => ordinal <= last);
    return { rows, leftOf, hasMore: page.hasMore || rows.length < page.rows.length };
  }

  #passAll(ended: readonly RowWork[]): void {
    for (const { ordinal } of ended) this.#pass(ordinal);
    if (this.#memory.isWatched) this.#memory.settle();
  }

  #pass(ordinal: number): void {
    const entry = this.#entries.get(ordinal);
    if (entry !== undefined) entry.isTaken = true;
    if (entry?.work.state !== undefined) {
      this.#memory.bytes -= entry.work.bytes;
      entry.work.bytes = 0;
    }
    for (const [first, { isTaken }] of this.#entries) {
      if (!isTaken) return;
      this.#entries.delete(first);
    }
  }
}

/**
 * Returns the planned retries of the rows' calls. The key is `<ordinal>/<call>`: the row's position in its set (list of rows), and the
 * index of the call.
 */
function retriesOf(works: readonly RowWork[]): Retries {
  return Object.fromEntries(
    works.flatMap(({ ordinal, doneCalls, retry }) =>
      retry === undefined ? [] : [[`${ordinal}/${doneCalls}`, retry] as const],
    ),
  );
}

/**
 * Limits of one commit that changes rows with unknown outcome to `ok`, because people decided so. `limit`: number of rows. `bytesMax`:
 * approximate size of their encrypted data, in bytes.
 */
const atOnce = { limit: 200, bytesMax: 1_048_576 };

/**
 * True if an undo entry is stored when people decide that a write in doubt was done. False if the program has no saga, if no call of the
 * step has an undo, and in a simulation run.
 */
export function undoesDoubt({ isSimulated, loaded }: JobState, { calls }: MapAt["step"]): boolean {
  if (isSimulated || loaded.program.sagaOn.length === 0) return false;
  return calls.some((call) => isCall(call) && call.undo !== undefined);
}

/**
 * Returns the change of a job for its next group of rows in doubt (their write may or may not have been executed). People decided that
 * these writes count as executed. Each row becomes `ok`, and an undo entry is stored for its write. If undoing the write would need the
 * app's answer, which is unknown, the undo counts as failed.
 */
export async function settleDoubt({ state, step, progress }: MapAt, effects: StepEffects): Promise<Change> {
  const range = { setId: step.id, state: "unknown", fromOrdinal: 0, ...atOnce } as const;
  const { rows } = await effects.readRows(state, range);
  if (rows.length === 0) {
    const { acceptsDoubt: _accepts, ...kept } = progress;
    return { edits: [{ kind: "progress", progress: kept }], next: { kind: "on" } };
  }
  const entries: UndoOf[] = [];
  for (const row of rows) {
    const undo = await undoOfDoubt({ state, step }, row, effects);
    if (undo !== undefined) entries.push(undo);
  }
  const counts = state.steps.get(step.id)?.receipt.rows ?? noRows;
  const settled = { ...counts, unknown: counts.unknown - rows.length, ok: counts.ok + rows.length };
  const done = rows.map(({ ordinal, rowNumber, doneCalls }) => {
    return { ordinal, rowNumber, state: "ok", doneCalls, errorCode: "", outputs: undefined } as const;
  });
  return {
    edits: [
      { kind: "armUndo", entries },
      { kind: "mapped", setId: step.id, rows: done },
      { kind: "receipt", stepId: step.id, rows: settled },
    ],
    next: { kind: "commit" },
  };
}

/**
 * Returns the undo entry for the write of a row in doubt. svc does not know if the app executed this write. Returns undefined if the write
 * has no undo.
 */
async function undoOfDoubt(
  { state, step }: Pick<MapAt, "state" | "step">,
  row: SetRow,
  effects: StepEffects,
): Promise<UndoOf | undefined> {
  const call = step.calls[row.doneCalls];
  if (call === undefined || !isCall(call)) return undefined;
  const scope = { ...state.scope, row: row.data, calls: answersOf(row) };
  return undoOf(state, { call, stepId: step.id, ordinal: row.ordinal, scope }, effects);
}
