/** What a transcript shows in place of what differs from run to run, and back. */
export type Mask = {
  /** The lines of a text with names for what is unstable in them. */
  apply(printed: readonly string[]): string[];
  /** A typed line with what its names mean. */
  resolve(line: string): string;
};

/** Ids that are typed in transcripts as those of nothing. */
const noId = "01h455vb4pex5vsknk084sn02q";
const id = new RegExp(`\\b([a-z]{2,5})_(?!${noId})[0-9a-hjkmnp-tv-z]{26}\\b`, "g");
const token = /whsec_[\w+/]+=*|(?<![\w-])(?=[\w-]*\d)[\w-]{32,}/g;
/** Texts that name a time of theirs name this day. */
const time = /\b20[2-4]\d-(?!03-1[45])\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?/g;
const unstable: readonly (readonly [RegExp, string])[] = [
  [time, "<time>"],
  [/\b20[2-4]\d-(?!03-1[45])\d\d-\d\d\b/g, "<date>"],
  [/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, "<time>"],
  [/\b1[78]\d{8}(?:\d{3})?\b/g, "<epoch>"],
  [/((?:Ms|measuredAttempts|pass)\\?"): ?\d+(?:\.\d+)?/g, "$1: <n>"],
  [/("used": \{\s+"deadlineSeconds": )\d+/g, "$1<n>"],
  // A delivery that was made due is under way before the answer is read, or not yet.
  [
    /"state": "(?:failing|backing_off)",(\s+"failingSince": "<time>",)?(?:\s+"backoffUntil": "<time>",)?/g,
    '"state": "<failing or backing off>",$1',
  ],
  [/("reason": "attempts fail since <time>, last with \w+;)[^"]+/g, "$1 <until when>"],
  [/\bk[0-9a-f]{8}\b/g, "<vault key>"],
  [/\b\d[\d,.]* ms\b/g, "<n> ms"],
  [/<time>, [^,\n]+ later/g, "<time>, <n> later"],
  [/\b\d\d:\d\d:\d\d\b/g, "<clock>"],
  [/(tzVersion\\?": \\?")\w+/g, "$1<version>"],
  [/\bfor [^,\n]+ more\b/g, "for <n> more"],
  [/\bsvc_[\w-]{4}(?![\w-])/g, "<hint>"],
  [/\b\d+ events? in \d+ chains?/g, "<n> events in <n> chains"],
  [/(127\.0\.0\.1|localhost):\d{5}\b/g, "$1:<port>"],
];

/** Makes a mask that knows the values of variables, and numbers ids and tokens as they appear. */
export function createMask(variables: Readonly<Record<string, string>>): Mask {
  const values = Object.entries(variables).toSorted(([, a], [, b]) => b.length - a.length);
  const nameOf = new Map<string, string>();
  const meaningOf = new Map<string, string>();
  const counts = new Map<string, number>();
  const named = (kind: string, value: string): string => {
    const known = nameOf.get(value);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const name = `${kind}_${count}`;
    nameOf.set(value, name);
    meaningOf.set(name, value);
    return name;
  };
  return {
    apply(printed) {
      if (printed.length === 0) return [];
      let text = maskColumns(printed.join("\n").split("\n")).join("\n");
      for (const [name, value] of values) text = text.replaceAll(value, `$${name}`);
      text = text.replaceAll(id, (value, kind: string) => named(kind, value));
      text = text.replaceAll(token, (value) => (value.includes(noId) ? value : named("token", value)));
      for (const [pattern, to] of unstable) text = text.replaceAll(pattern, to);
      return text.split("\n");
    },
    resolve: (line) =>
      line
        .replaceAll(/\$(\w+)/g, (name, key: string) => variables[key] ?? name)
        .replaceAll(/\b[a-z]+_\d+\b/g, (name) => meaningOf.get(name) ?? name),
  };
}

/** Replaces what stands in columns of durations, with its width. */
function maskColumns(lines: readonly string[]): string[] {
  let column: { start: number; end: number } | undefined;
  return lines.map((line) => {
    const header = /\b(?:MS|TOOK)\b *(?=\s|$)/.exec(line);
    if (header !== null) {
      const end = header.index + header[0].length;
      column = { start: header.index, end: end === line.length ? Number.POSITIVE_INFINITY : end };
    }
    if (line === "") column = undefined;
    if (column === undefined || line.length < column.start) return line;
    const cell = header === null ? "<n>" : header[0].trimEnd();
    const rest = line.slice(column.end).trimStart();
    return `${line.slice(0, column.start)}${cell}${rest === "" ? "" : `  ${rest}`}`;
  });
}
