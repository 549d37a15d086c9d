/**
 * Returns the Date of an epoch time in milliseconds. Always use this function. A Date made from a text accepts many forms, and depends on
 * the time zone of the process.
 */
export function dateOf(ms: number): Date {
  return new Date(ms);
}

/** Returns an epoch time as RFC 3339 text in UTC with milliseconds. */
export function isoTime(ms: number): string {
  const slot = ms % recentTimes;
  const known = recent[slot];
  if (known?.ms === ms) return known.text;
  const text = dateOf(ms).toISOString();
  if (known !== undefined) recent[slot] = { ms, text };
  return text;
}

/** Number of cached texts of times. The same times are written again and again, above all under load. */
const recentTimes = 64;
const recent = Array.from({ length: recentTimes }, () => ({ ms: -1, text: "" }));
