import { formatValue } from "../faults/errors.ts";

const unitMs = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
} as const;

const shortPattern = /^(?<count>\d+)(?<unit>ms|s|m|h|d)$/;
const isoPattern = /^P(?=.)(?:(?<w>\d+)W)?(?:(?<d>\d+)D)?(?:T(?=.)(?:(?<h>\d+)H)?(?:(?<m>\d+)M)?(?:(?<s>\d+)S)?)?$/;

/**
 * Returns the milliseconds of a duration: a whole number with a unit (`250ms`, `5s`, `2m`, `2h`, `5d`) or ISO 8601 (`P30D`, `PT1H30M`,
 * `P1W`). Years and months are not allowed, because their length varies. Throws an Error with the value and examples if the text is not a
 * duration.
 */
export function parseDuration(text: string): number {
  const short = shortPattern.exec(text)?.groups;
  const counts = short ? { [short.unit ?? ""]: short.count } : isoPattern.exec(text)?.groups;
  if (counts === undefined) {
    throw new Error(
      `duration ${formatValue(text)} is not understood; expected a form like "250ms", "5s", "2m", "2h", "5d", "P30D" or "PT1H30M"`,
    );
  }
  let sumMs = 0;
  for (const [unit, ms] of Object.entries(unitMs)) sumMs += Number(counts[unit] ?? 0) * ms;
  if (!Number.isSafeInteger(sumMs)) {
    throw new Error(`duration ${formatValue(text)} is too long; at most 285,000 years fit`);
  }
  return sumMs;
}

/**
 * Returns milliseconds as text, in the largest unit that needs no fraction: 90000 is `90s`, 7200000 is `2h`. parseDuration reads the text.
 * Throws an Error if the number is negative or not whole.
 */
export function formatDuration(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0) {
    throw new Error(`duration ${formatValue(ms)} is not a whole number of milliseconds from 0 up`);
  }
  if (ms === 0) return "0s";
  const unit = (["d", "h", "m", "s"] as const).find((name) => ms % unitMs[name] === 0) ?? "ms";
  return `${ms / unitMs[unit]}${unit}`;
}
