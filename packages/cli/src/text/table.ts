import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

/** Rows as lines with aligned columns; the last column is not padded. `header` names the columns. */
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

/** A time of a message in RFC 3339, or `-` when it is unset. */
export function timeText(timestamp: Timestamp | undefined): string {
  return timestamp === undefined ? "-" : timestampDate(timestamp).toISOString();
}

/** A count with its noun: `1 event`, `2 events`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Names with their values in two columns, further lines of a value below its first. What has no value is left out. */
export function factLines(facts: readonly (readonly [name: string, value: string])[]): string[] {
  const told = facts.filter(([, value]) => value !== "");
  const width = Math.max(...told.map(([name]) => name.length));
  return told.flatMap(([name, value]) => {
    return value.split("\n").map((line, index) => `${(index === 0 ? name : "").padEnd(width)}  ${line}`);
  });
}
