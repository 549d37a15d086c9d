export { readRetryAfter } from "./http-date.ts";
export { dateOf, isoTime } from "./iso-time.ts";
export { readInstant, readTime } from "./rfc3339.ts";
