import type { Work } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type JobSetPlaces, readJobSetPlaces } from "@svc/db/jobs/read-set-places";
import type { JsonObject } from "@svc/program";
import type { JobState } from "../state/job.ts";
import type { ChunkRange, OpenedRows, SetChunk } from "../steps/effects.ts";
import { isScattered } from "../steps/row-order.ts";
import { openRows } from "./open-rows.ts";
import { openedFactor } from "./row-blocks.ts";
import type { JobSeals } from "./seals.ts";

/**
 * Rows of a chunk at most. Where they stand anywhere in the job, as those of a sorted set do, a chunk of few would open a block for each
 * of its rows: one of many opens each block once.
 */
const rowsMax = 2_000;
const scatteredRowsMax = 20_000;
/** What the rows of a chunk take in memory, about. */
const chunkBytesMax = openedFactor * 2_097_152;

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
  if (!roomOf.has(setId) && places.ordinals.length === limit && isScattered(places.rowNumbers)) {
    limit = scatteredRowsMax;
    places = await read(limit);
  }
  const opened = await openRows({ ...reading, jobId }, places.rowNumbers, chunkBytesMax);
  roomOf.set(setId, roomFor(opened, limit === scatteredRowsMax ? scatteredRowsMax : rowsMax));
  return chunkOf(places, { ...opened, limit });
}

function roomFor({ rows, bytes }: OpenedRows, most: number): number {
  const bytesOfOne = Math.max(1, bytes) / Math.max(1, rows);
  return Math.max(1, Math.min(most, Math.floor(chunkBytesMax / bytesOfOne)));
}

const noFields: JsonObject = {};

function chunkOf(
  { ordinals, rowNumbers, states }: JobSetPlaces,
  {
    rows,
    limit,
    fields,
    bytes,
  }: { rows: number; limit: number; fields: OpenedRows["fields"] | undefined; bytes: number },
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
    bytes,
  };
}
