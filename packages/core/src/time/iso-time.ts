/**
 * Returns the Date of epoch milliseconds. Create every Date with this function: from a text, Date accepts many forms and uses the time zone
 * of the process.
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

/** Number of cached time texts. An event's time is written several times, and under load most times repeat. */
const recentTimes = 64;
const recent = Array.from({ length: recentTimes }, () => ({ ms: -1, text: "" }));
