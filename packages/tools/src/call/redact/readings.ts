/** A range of a text: `[start, end)`. */
export type Range = readonly [start: number, end: number];

/** A text with its escapes decoded. `rangeOf`: converts a range of this text to a range of the original text. */
export type Reading = { readonly text: string; readonly rangeOf: (range: Range) => Range };

type Escapes = { readonly sign: string; readonly pattern: RegExp; readonly plain: (sequence: string) => string };

const percent = "%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}";
const percentLong = "%f[0-4](?:%[89ab][0-9a-f]){3}";

/** Escapes of URLs, forms, JSON and HTML. Programs that write texts escape different characters; svc decodes all of these escapes. */
const ways: readonly Escapes[] = [
  { sign: "%", pattern: new RegExp(`${percent}|${percentLong}`, "gi"), plain: ofPercent },
  { sign: "+", pattern: new RegExp(`\\+|${percent}|${percentLong}`, "gi"), plain: ofPercent },
  { sign: "\\", pattern: /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/g, plain: ofBackslash },
  { sign: "&", pattern: /&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos);/gi, plain: ofEntity },
];

/** Maximum number of decoding passes. Some texts are escaped twice (for example a URL in a URL, or JSON in a JSON text). */
const timesMax = 2;

/** Number of escapes that may still be decoded. Decoding a million escapes takes half a second of a node's one thread. */
export type EscapeBudget = { left: number };

/** Maximum number of escapes decoded for one call, or for one read of a job. */
export const escapesMax = 200_000;

/**
 * Returns every reading of a text: the unchanged text, and the text with each kind of escape decoded. Undefined if the text has too many
 * escapes.
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

/** Returns a text with one kind of escape decoded. Undefined if there is nothing to decode or no budget is left. */
function unescaped({ text, rangeOf }: Reading, { pattern, plain }: Escapes, budget: EscapeBudget): Reading | undefined {
  const parts: string[] = [];
  // Four numbers for each escape: its position and length in the decoded text, then its position and length in the original text.
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

/** Returns the range in the original text of one decoded character. If the character was escaped, the range is the whole escape. */
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
