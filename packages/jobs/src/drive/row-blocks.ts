import { isJsonObject, type JsonObject } from "@svc/core";
import type { NewJobRow } from "@svc/db";
import type { FetchedRow } from "../state/apply.ts";
import type { JobSeals } from "./seals.ts";

/** Rows that are sealed together, at most. */
const blockRowsMax = 50;
/** Text of a block after which another begins. */
const blockCharsMax = 65_536;

/**
 * Seals the fields of rows, block by block: a seal costs as much for many small rows as for one. A block has the number of its first row,
 * and holds a list; a row alone is sealed as an object, as version 0.1 sealed every row.
 */
export function sealRows(rows: readonly FetchedRow[], seal: JobSeals["seal"]): NewJobRow[] {
  return blocksOf(rows).map((block) => {
    const [{ rowNumber }] = block;
    const value = block.length === 1 ? block[0].data : block.map(({ data }) => data);
    return { rowNumber, data: seal(placeOf(rowNumber), value) };
  });
}

type Block = [FetchedRow, ...FetchedRow[]];

/** Runs of numbers that follow each other. */
function blocksOf(rows: readonly FetchedRow[]): Block[] {
  const blocks: Block[] = [];
  let chars = 0;
  for (const row of rows) {
    const last = blocks.at(-1);
    const isNext = last?.[0].rowNumber === row.rowNumber - (last?.length ?? 0);
    const length = JSON.stringify(row.data).length;
    if (last !== undefined && isNext && last.length < blockRowsMax && chars + length <= blockCharsMax) {
      last.push(row);
      chars += length;
    } else {
      blocks.push([row]);
      chars = length;
    }
  }
  return blocks;
}

/** Opens a block: the fields of its rows, from its number on. Throws an Error for what holds no rows. */
export function openBlock(number: number, sealed: Uint8Array, { open }: Pick<JobSeals, "open">): readonly JsonObject[] {
  const value = open(placeOf(number), sealed);
  const rows = Array.isArray(value) ? value : [value];
  return rows.map((row) => {
    if (!isJsonObject(row)) throw new Error(`row block ${number} of a job holds no object`);
    return row;
  });
}

function placeOf(number: number): string {
  return `rows/${number}`;
}
