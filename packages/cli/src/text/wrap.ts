import { tableLines } from "./table.ts";

/** Characters a line may have before it is broken. */
const widthMax = 120;
/** What the last column of a table gets, however much room the others take. */
const columnMin = 40;

/** A text in lines of at most `width` characters, broken between words; a longer word has a line of its own. */
export function wrapText(text: string, width = widthMax): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== "")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A table whose last column is broken into lines that stay in their column. */
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
