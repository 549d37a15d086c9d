import type { Work } from "@svc/core";
import { type Executor, type JobSetPlaces, readJobRowBlocks, readJobSetPlaces } from "@svc/db";
import type { JsonObject } from "@svc/program";
import type { JobState } from "../state/job.ts";
import type { ChunkRange, SetChunk } from "../steps/effects.ts";
import { openBlock, openedFactor } from "./row-blocks.ts";
import type { JobSeals } from "./seals.ts";

/**
 * Rows of a chunk at most. Where they stand anywhere in the job, as those of a sorted set do, a chunk of few would open a block for each
 * of its rows: one of many opens each block once.
 */
const rowsMax = 2_000;
const scatteredRowsMax = 20_000;
/** Sealed bytes of the rows of a chunk, about, and of the blocks that are read at once. */
const chunkBytesMax = 2_097_152;
const blocksBytesMax = 1_048_576;

/** What chunks are read with by one driver. `roomOf`: by set, how many rows a chunk is likely to have room for, as far as it is known. */
export type ChunkReading = {
  readonly db: Executor;
  readonly seals: JobSeals;
  readonly work: Work;
  readonly roomOf: Map<string, number>;
};

/** Reads and opens a chunk of a set. */
export async function readSetChunk(
  { roomOf, ...reading }: ChunkReading,
  jobId: JobState["id"],
  { setId, states, fromOrdinal, withData = true }: ChunkRange,
): Promise<SetChunk> {
  const read = (limit: number) => readJobSetPlaces(reading.db, { jobId, setId, states }, { fromOrdinal, limit });
  let limit = roomOf.get(setId) ?? rowsMax;
  let places = await read(limit);
  if (!withData) return chunkOf(places, { rows: places.ordinals.length, limit, fields: undefined, bytes: 0 });
  if (!roomOf.has(setId) && places.ordinals.length === limit && isScattered(places)) {
    limit = scatteredRowsMax;
    places = await read(limit);
  }
  const opened = await openRows({ ...reading, jobId }, places.rowNumbers);
  roomOf.set(setId, roomFor(opened, limit === scatteredRowsMax ? scatteredRowsMax : rowsMax));
  return chunkOf(places, { ...opened, limit });
}

/** Where two rows are further apart, no block holds both and those between them. */
const farApart = 100;

function isScattered({ rowNumbers }: JobSetPlaces): boolean {
  const jumps = rowNumbers.filter((number, index) => Math.abs(number - (rowNumbers[index - 1] ?? number)) > farApart);
  return jumps.length > rowNumbers.length / 8;
}

/** The fields of the first `rows` of some rows, by their numbers. */
type Opened = { readonly rows: number; readonly fields: ReadonlyMap<number, JsonObject>; readonly bytes: number };

function roomFor({ rows, bytes }: Opened, most: number): number {
  const bytesOfOne = Math.max(1, bytes) / Math.max(1, rows);
  return Math.max(1, Math.min(most, Math.floor(chunkBytesMax / bytesOfOne)));
}

const noFields: JsonObject = {};

function chunkOf(
  { ordinals, rowNumbers, states }: JobSetPlaces,
  { rows, limit, fields, bytes }: { rows: number; limit: number; fields: Opened["fields"] | undefined; bytes: number },
): SetChunk {
  const [lastOrdinal = 0] = ordinals.slice(-1);
  const isEnd = ordinals.length < limit;
  return {
    rows: ordinals.slice(0, rows).map((ordinal, index) => {
      const rowNumber = rowNumbers[index] ?? 0;
      const data = fields === undefined ? noFields : (fields.get(rowNumber) ?? noFields);
      return { ordinal, rowNumber, state: states[index] ?? "in", data };
    }),
    next: rows < ordinals.length ? ordinals[rows] : isEnd ? undefined : lastOrdinal + 1,
    bytes: bytes * openedFactor,
  };
}

type Source = Omit<ChunkReading, "roomOf"> & { readonly jobId: JobState["id"] };

/** Opens rows, the first ones of those that are given where all are too large together. */
async function openRows(source: Source, rowNumbers: readonly number[]): Promise<Opened> {
  const { fields, bytes } = await openSorted(
    source,
    [...rowNumbers].sort((a, b) => a - b),
  );
  const missing = rowNumbers.findIndex((number) => !fields.has(number));
  if (missing !== 0) return { rows: missing === -1 ? rowNumbers.length : missing, fields, bytes };
  // They stand in another order than their blocks: as many as there was room for, of those that come first.
  return openRows(source, rowNumbers.slice(0, Math.ceil(fields.size / 2)));
}

/** Opens rows in the order of their numbers, up to the one with which they come to as much as a chunk may. */
async function openSorted({ db, jobId, seals, work }: Source, sorted: readonly number[]): Promise<WantedRows> {
  const wanted = new WantedRows(sorted);
  while (wanted.isWanting) {
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
    if (wanted.fields.size === before) throw new Error(`row ${wanted.runs().firsts[0]} of a job stands in no block`);
  }
  return wanted;
}

/** Rows that a chunk is to have, in the order of their numbers, and what was found of them. */
class WantedRows {
  readonly fields = new Map<number, JsonObject>();
  /** Sealed, about. */
  bytes = 0;
  readonly #numbers: readonly number[];
  #next = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  get isWanting(): boolean {
    return this.#next < this.#numbers.length && this.bytes < chunkBytesMax;
  }

  /** Takes what is wanted of a block: blocks come in the order of their numbers. */
  take(number: number, block: readonly JsonObject[], sealedBytes: number): void {
    const before = this.#next;
    for (; this.#next < this.#numbers.length; this.#next++) {
      const rowNumber = this.#numbers[this.#next] ?? 0;
      const row = block[rowNumber - number];
      if (row === undefined) break;
      this.fields.set(rowNumber, row);
    }
    this.bytes += (sealedBytes * (this.#next - before)) / block.length;
  }

  /** The runs of numbers that are still wanted. */
  runs(): { readonly firsts: number[]; readonly lasts: number[] } {
    const firsts: number[] = [];
    const lasts: number[] = [];
    for (let at = this.#next; at < this.#numbers.length; at++) {
      const number = this.#numbers[at] ?? 0;
      const last = lasts.length - 1;
      if (last >= 0 && number <= (lasts[last] ?? 0) + 1) lasts[last] = number;
      else {
        firsts.push(number);
        lasts.push(number);
      }
    }
    return { firsts, lasts };
  }
}
