/** The Date of epoch milliseconds. The one way to make one: of a text a Date reads what it pleases, in the zone of the process. */
export function dateOf(ms: number): Date {
  return new Date(ms);
}

/** RFC 3339 text in UTC with milliseconds of an epoch time. */
export function isoTime(ms: number): string {
  const slot = ms % recentTimes;
  const known = recent[slot];
  if (known?.ms === ms) return known.text;
  const text = dateOf(ms).toISOString();
  if (known !== undefined) recent[slot] = { ms, text };
  return text;
}

/** The last times: that of an event is written several times, and by thousands in a second most have been written before. */
const recentTimes = 64;
const recent = Array.from({ length: recentTimes }, () => ({ ms: -1, text: "" }));
