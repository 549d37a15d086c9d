/** Ranges of time that lists and charts are narrowed to, in milliseconds back from now. */
export const ranges = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, "30d": 2_592_000_000 } as const;

/** Name of a range, as it stands in addresses. */
export type Range = keyof typeof ranges;

/** The names of the ranges, the shortest first. */
export const rangeNames = Object.keys(ranges) as readonly Range[];

const words: Record<Range, string> = { "1h": "last hour", "24h": "last 24 h", "7d": "last 7 d", "30d": "last 30 d" };

/** A range as it is read. */
export function rangeWords(range: Range): string {
  return words[range];
}

const short: Record<Range, string> = { "1h": "1 h", "24h": "24 h", "7d": "7 d", "30d": "30 d" };

/** A range where it is one of several buttons. */
export function shortRangeWords(range: Range): string {
  return short[range];
}
