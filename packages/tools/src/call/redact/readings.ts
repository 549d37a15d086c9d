/** A range of a text, from `start` (included) to `end` (excluded). */
export type Range = readonly [start: number, end: number];

/** A text whose escapes (such as `%20`) were decoded. `rangeOf`: converts a range of the decoded text to the range of the original text. */
export type Reading = { readonly text: string; readonly rangeOf: (range: Range) => Range };

type Escapes = { readonly sign: string; readonly pattern: RegExp; readonly plain: (sequence: string) => string };

const percent = "%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}";
const percentLong = "%f[0-4](?:%[89ab][0-9a-f]){3}";

/**
 * The kinds of escapes that svc decodes: those of URLs, forms, JSON and HTML. All are decoded, because programs differ in which characters
 * they escape.
 */
const ways: readonly Escapes[] = [
  { sign: "%", pattern: new RegExp(`${percent}|${percentLong}`, "gi"), plain: ofPercent },
  { sign: "+", pattern: new RegExp(`\\+|${percent}|${percentLong}`, "gi"), plain: ofPercent },
  { sign: "\\", pattern: /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/g, plain: ofBackslash },
  { sign: "&", pattern: /&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos);/gi, plain: ofEntity },
];

/** Maximum number of times that a text is decoded. It is 2, because some texts are escaped twice, for example a URL in a URL. */
const timesMax = 2;

/**
 * Number of escapes (such as `%20` or `&amp;`) that may still be decoded in the search for secrets. It is limited, because a million
 * escapes take half a second of the node's only thread.
 */
export type EscapeBudget = { left: number };

/**
 * Maximum number of escapes (such as `%20` or `&amp;`) that svc decodes to find secrets. The limit applies to one call, or to one read of a
 * job.
 */
export const escapesMax = 200_000;

/**
 * Returns all forms in which a text can be read: the text itself, and the text after decoding each kind of escape (such as `%20`, `\u0041`
 * or `&amp;`). Returns undefined if the text has too many escapes.
 */
export function readingsOf(text: string, budget: EscapeBudget): Reading[] | undefined {
  const written: Reading = { text, rangeOf: (range) => range };
  const readings = [written];
  for (const way of ways) {
    let reading: Reading | undefined = written;
    for (let time = 0; time < timesMax && reading !== undefined; time++) {
      reading = reading.text.includes(way.sign) ? unescaped(reading, way, budget) : undefined;
      if (budget.left < 0) return undefined;
      if (reading !== undefined) readings.push(reading);
    }
  }
  return readings;
}

/**
 * Returns a text in which the escapes of one kind, such as `%41`, are decoded. Returns undefined if the text has none. Also returns
 * undefined if the allowed number of escapes (`budget`) is used up.
 */
function unescaped({ text, rangeOf }: Reading, { pattern, plain }: Escapes, budget: EscapeBudget): Reading | undefined {
  const parts: string[] = [];
  // Positions of the escapes, four numbers for each: position and length in the decoded text, then position and length in the original
  // text.
  const marks: number[] = [];
  let [read, length] = [0, 0];
  for (const { 0: sequence, index } of text.matchAll(pattern)) {
    if (--budget.left < 0) return undefined;
    const character = plain(sequence);
    length += index - read;
    marks.push(length, character.length, index, sequence.length);
    parts.push(text.slice(read, index), character);
    length += character.length;
    read = index + sequence.length;
  }
  if (marks.length === 0) return undefined;
  parts.push(text.slice(read));
  return {
    text: parts.join(""),
    rangeOf: ([start, end]) => rangeOf([placeOf(marks, start)[0], placeOf(marks, end - 1)[1]]),
  };
}

/**
 * Returns the range in the original text for the character at `at` in the decoded text. If the character was written as an escape (such as
 * `%20`), returns the range of the whole escape. `marks`: the positions of all escapes.
 */
function placeOf(marks: readonly number[], at: number): Range {
  let [low, high] = [0, marks.length / 4];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle * 4] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return [at, at + 1];
  const [from = 0, length = 0, written = 0, writtenLength = 0] = marks.slice(low * 4 - 4, low * 4);
  if (at < from + length) return [written, written + writtenLength];
  const place = written + writtenLength + at - from - length;
  return [place, place + 1];
}

function ofPercent(sequence: string): string {
  if (sequence === "+") return " ";
  if (sequence.length === 3) return String.fromCharCode(Number.parseInt(sequence.slice(1), 16));
  return Buffer.from(sequence.replaceAll("%", ""), "hex").toString("utf8");
}

const controls: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

function ofBackslash(sequence: string): string {
  const sign = sequence.charAt(1);
  return sign === "u" ? String.fromCharCode(Number.parseInt(sequence.slice(2), 16)) : (controls[sign] ?? sign);
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function ofEntity(sequence: string): string {
  const name = sequence.slice(1, -1).toLowerCase();
  const known = entities[name];
  if (known !== undefined) return known;
  const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0x10ffff ? sequence : String.fromCodePoint(code);
}
