import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** Returns a table as lines with aligned columns. `header`: the names of the columns. The last column has no padding. */
export function tableLines(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Returns a time in RFC 3339. Returns `-` if the time is not set. */
export function timeText(timestamp: Timestamp | undefined): string {
  return timestamp === undefined ? "-" : timestampDate(timestamp).toISOString();
}

/** Returns a count with its noun (for example `1 event`, `2 events`). */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Returns names and values as lines in two columns. If a value has several lines, they are below each other in the second column. Leaves
 * out empty values.
 */
export function factLines(facts: readonly (readonly [name: string, value: string])[]): string[] {
  const told = facts.filter(([, value]) => value !== "");
  const width = Math.max(...told.map(([name]) => name.length));
  return told.flatMap(([name, value]) => {
    return value.split("\n").map((line, index) => `${(index === 0 ? name : "").padEnd(width)}  ${line}`);
  });
}

/** Maximum characters of a printed line. A longer text is broken into several lines. */
const widthMax = 120;
/** Minimum width of a table's last column, in characters. */
const columnMin = 40;

/** Returns a text as lines of at most `width` characters. Lines break between words. A word longer than `width` has its own line. */
export function wrapText(text: string, width = widthMax): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Returns a table as lines. A long text in the last column is broken into several lines within that column. */
export function wrappedTableLines(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const others = [header, ...rows].map((row) => row.slice(0, -1));
  const widths = header.slice(0, -1).map((_, column) => Math.max(...others.map((row) => row[column]?.length ?? 0)));
  const taken = widths.reduce((sum, width) => sum + width + 2, 0);
  const wrapped = rows.flatMap((row) => {
    const [first = "", ...more] = wrapText(row.at(-1) ?? "", Math.max(columnMin, widthMax - taken));
    const blank = widths.map(() => "");
    return [[...row.slice(0, -1), first], ...more.map((line) => [...blank, line])];
  });
  return tableLines(header, wrapped);
}

/** Returns the first sentence of a text. */
export function firstSentence(text: string): string {
  return /^.*?[.](?=\s+[A-Z])/s.exec(text)?.[0] ?? text;
}
