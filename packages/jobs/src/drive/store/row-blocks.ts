import { isJsonObject, type JsonObject } from "@svc/core";
import type { NewJobRow } from "@svc/db/jobs/rows";
import type { FetchedRow } from "../../state/apply.ts";
import type { JobSeals } from "./seals.ts";

/** Bytes of memory that a decrypted row needs for each of its encrypted bytes (approximate factor). */
export const openedFactor = 3;

/** Maximum number of rows that are encrypted together in one block. */
const blockRowsMax = 50;

/**
 * Number of characters of row text at which a block (several rows that are encrypted together) is full. The next row then begins a new
 * block.
 */
const blockCharsMax = 65_536;

/**
 * Encrypts the fields of rows. Several rows form one block, because encrypting many small rows one by one is slow. The number of a block is
 * that of its first row. A block with one row contains an object, as in version 0.1; a larger block contains a list.
 */
export function sealRows(rows: readonly FetchedRow[], sealText: JobSeals["sealText"]): NewJobRow[] {
  return blocksOf(rows).map(({ rowNumber, texts }) => {
    const [first = ""] = texts;
    return { rowNumber, data: sealText(placeOf(rowNumber), texts.length === 1 ? first : `[${texts.join(",")}]`) };
  });
}

/** A block of rows before it is encrypted. `rowNumber`: number of its first row. `texts`: JSON texts of all its rows. */
type Block = { readonly rowNumber: number; readonly texts: string[] };

/** Groups rows into blocks that are encrypted together. The rows of a block have consecutive numbers. */
function blocksOf(rows: readonly FetchedRow[]): Block[] {
  const blocks: Block[] = [];
  let chars = 0;
  for (const { rowNumber, data } of rows) {
    const last = blocks.at(-1);
    const isNext = last !== undefined && last.rowNumber === rowNumber - last.texts.length;
    const text = JSON.stringify(data);
    if (isNext && last.texts.length < blockRowsMax && chars + text.length <= blockCharsMax) {
      last.texts.push(text);
      chars += text.length;
    } else {
      blocks.push({ rowNumber, texts: [text] });
      chars = text.length;
    }
  }
  return blocks;
}

/**
 * Decrypts a block (rows of a job that are stored together) and returns the fields of its rows. `number`: the number of the block and of
 * its first row. Throws an Error if the value contains no rows.
 */
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
