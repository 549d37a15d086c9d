import type { Work } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { readJobRowBlocks } from "@svc/db/jobs/rows";
import type { JsonObject } from "@svc/program";
import type { JobState } from "../../state/job.ts";
import type { OpenedRows } from "../../steps/effects.ts";
import { openBlock, openedFactor } from "./row-blocks.ts";
import type { JobSeals } from "./seals.ts";

/** Maximum size of the encrypted blocks of rows that one statement reads, in bytes. */
const blocksBytesMax = 1_048_576;
const runsMax = 1_000;

/**
 * Data with which the driver (the loop that runs one job's steps) reads the job's stored rows: the database, the keys for decryption, and
 * the job's id.
 */
export type StoredRowSource = {
  readonly db: Executor;
  readonly seals: JobSeals;
  readonly work: Work;
  readonly jobId: JobState["id"];
};

/**
 * Decrypts rows of a job by their numbers, and each block of rows only once. Returns all of them, or the first ones that fit into
 * `bytesMax` of memory. Rejects with an Error if a row is missing.
 */
export async function openRows(
  source: StoredRowSource,
  rowNumbers: readonly number[],
  bytesMax: number,
): Promise<OpenedRows> {
  const { fields, bytes, isWhole } = await openSorted(source, ascending(rowNumbers), bytesMax);
  if (isWhole) return { rows: rowNumbers.length, fields, bytes };
  const missing = rowNumbers.findIndex((number) => !fields.has(number));
  if (missing > 0) return { rows: missing, fields, bytes };
  // The memory limit was reached before the first row of the list was decrypted, because rows are decrypted in another order. So this
  // function calls itself with a shorter list.
  return openRows(source, rowNumbers.slice(0, Math.ceil(fields.size / 2)), bytesMax);
}

/**
 * Maximum length of a list of row numbers that is put in order by sorting. Sorting a longer list would block the event loop. The numbers of
 * such a list are marked in an array, which is then read in ascending order.
 */
const sortedMax = 1_000;

/**
 * Returns the numbers in ascending order. From a list with more than `sortedMax` numbers, duplicates are removed; in a shorter list, they
 * stay.
 */
function ascending(numbers: readonly number[]): readonly number[] {
  if (numbers.length <= sortedMax) return [...numbers].sort((a, b) => a - b);
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const number of numbers) {
    if (number < first) first = number;
    if (number > last) last = number;
  }
  const isWanted = new Uint8Array(last - first + 1);
  for (const number of numbers) isWanted[number - first] = 1;
  const found: number[] = [];
  for (let at = 0; at < isWanted.length; at++) if (isWanted[at] === 1) found.push(first + at);
  return found;
}

/**
 * Returns the decrypted rows of a job, in the order of their row numbers. It stops when all requested rows are found, or when they need
 * `bytesMax` bytes of memory.
 */
async function openSorted(
  { db, jobId, seals, work }: StoredRowSource,
  sorted: readonly number[],
  bytesMax: number,
): Promise<WantedRows> {
  const wanted = new WantedRows(sorted);
  while (!wanted.isWhole && wanted.bytes < bytesMax) {
    const blocks = await readJobRowBlocks(db, jobId, { ...wanted.runs(), bytesMax: blocksBytesMax });
    const before = wanted.fields.size;
    let opened = 0;
    const slice = () => {
      for (; opened < blocks.length && !work.isSliceOver(); opened++) {
        const { number, data } = blocks[opened] as (typeof blocks)[number];
        wanted.take(number, openBlock(number, data, seals), data.byteLength);
      }
    };
    while (opened < blocks.length) {
      work.run(slice);
      if (work.isSliceOver()) await work.turn();
    }
    if (wanted.fields.size === before) throw new Error(`row ${wanted.runs().firsts[0]} of a job is in no block`);
  }
  return wanted;
}

/** A search for rows. It has the numbers of the rows to decrypt, in ascending order, and collects the decrypted rows in `fields`. */
class WantedRows {
  readonly fields = new Map<number, JsonObject>();
  /** Approximate memory of the rows in `fields`, in bytes. */
  bytes = 0;
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  get isWhole(): boolean {
    return this.#next >= this.#numbers.length;
  }

  /**
   * Takes the requested rows from a block (rows of a job that are stored together), and ignores the rest of the block. `number`: row number
   * of the block's first row. Blocks must be passed in the order of their row numbers.
   */
  take(number: number, block: readonly JsonObject[], sealedBytes: number): void {
    const before = this.#next;
    for (; this.#next < this.#numbers.length; this.#next++) {
      const rowNumber = this.#numbers[this.#next] ?? 0;
      const row = block[rowNumber - number];
      if (row === undefined) break;
      this.fields.set(rowNumber, row);
    }
    this.bytes += (openedFactor * sealedBytes * (this.#next - before)) / block.length;
  }

  /** Returns the first runs (unbroken ranges) of row numbers that are still missing. */
  runs(): { readonly firsts: number[]; readonly lasts: number[] } {
    const firsts: number[] = [];
    const lasts: number[] = [];
    for (let at = this.#next; at < this.#numbers.length; at++) {
      const number = this.#numbers[at] ?? 0;
      const last = lasts.length - 1;
      if (last >= 0 && number <= (lasts[last] ?? 0) + 1) lasts[last] = number;
      else if (firsts.push(number) <= runsMax) lasts.push(number);
      else break;
    }
    return { firsts: firsts.slice(0, lasts.length), lasts };
  }
}
