/** Returns the Date of epoch milliseconds. Use only this to create a Date: from text, Date accepts many forms, in the process's time zone. */
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

/** Number of cached times: an event's time is written several times, and under load most times repeat. */
const recentTimes = 64;
const recent = Array.from({ length: recentTimes }, () => ({ ms: -1, text: "" }));
