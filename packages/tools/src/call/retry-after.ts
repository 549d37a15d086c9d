const retryAfterMaxMs = 3_600_000;

/** Retry-After (RFC 9110, 10.2.3): seconds or a date; undefined when it is absent or unreadable, at most an hour. */
export function parseRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\s*\d{1,9}\s*$/.test(text) ? Number(text) * 1000 : httpDate(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), retryAfterMaxMs);
}

/** A date names its day in words; Date.parse alone takes "-1" and "1.5" for days of the year 2001. */
function httpDate(text: string): number {
  return /[A-Za-z]{3}.*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
}
