/**
 * Returns a text in one line, without characters that a terminal would interpret. It is for texts that svc did not write, such as names and
 * answers of apps.
 */
export function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function removes control characters
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ");
}

/**
 * Returns the lines of a text that svc did not write, such as an answer of an app. Leaves out empty lines. Each line is in the form that
 * `plainText` returns.
 */
export function plainLines(text: string): string[] {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => plainText(line).trimEnd());
  const told = lines.filter((line) => line !== "");
  return told.length === 0 ? [""] : told;
}

/** Returns a number with commas between thousands (for example `20,000`). */
export function numberText(value: number): string {
  return value.toLocaleString("en-US");
}

/** Returns a duration in its two largest units (for example `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`). */
export function spanText(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const units = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ] as const;
  const first = units.findIndex(([, size]) => seconds >= size);
  const parts = units.slice(first, first + 2).map(([name, size], index) => {
    const before = units[first + index - 1];
    const rest = index === 0 || before === undefined ? seconds : seconds % before[1];
    return { name, count: Math.floor(rest / size) };
  });
  return parts
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} ${name}`)
    .join(" ");
}

/** Returns a text as one word of a POSIX shell command. Adds quotes if the shell would otherwise change or split the text. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Returns a number of bytes in a readable unit (for example `12.3 MB`). */
export function bytesText(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/**
 * Returns the name of an enum value in lower-case words (for example `pending plan approval`). For an unknown value, returns its number.
 */
export function enumWords(names: Readonly<Record<string, number | string>>, value: number): string {
  const [name = String(value)] = Object.entries(names).find(([, number]) => number === value) ?? [];
  return name.toLowerCase().replaceAll("_", " ");
}
