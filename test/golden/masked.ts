/** Parts of a text that differ from run to run, with what a recording shows in their place. Ids keep a number by first appearance. */
const varying: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "TIME"],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, "TIME"],
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT"],
  [/whsec_[A-Za-z0-9+/=]+/g, "whsec_SECRET"],
  [/\bsvc_[0-9A-Za-z]{43}_[0-9A-Za-z]+/g, "svc_KEY"],
  [/\b[0-9a-f]{64}\b/g, "HASH"],
  [/(?<="fingerprint":")[0-9a-f]{32}(?=")/g, "HASH"],
  [/(?<="(?:nextPageToken|hint|cursor)":")[^"]+/g, "TEXT"],
  [/(?<="(?:durationMs|providerMs|p50Ms|p95Ms|p99Ms|position|measuredAttempts)":)[\d.]+/g, "0"],
  [/(?<=#link=|#|state=)[\w-]{40,}/g, "SECRET"],
  [/\d+(?= of them arrive twice)/g, "N"],
  [/(?<="waitingReason":")(?:turn|retry|endpoint_failing)(?=")/g, "TURN"],
  // How often a delivery has failed so far, and when its subscription is tried next.
  [/(?<="state":"pending","attempts":)\d+/g, "1"],
  [/"backoffUntil":"TIME",?/g, ""],
  // How far a job is that only waits: it may be queued, running or parked when the answer is made.
  [/(?<="status":")JOB_STATUS_(?:QUEUED|RUNNING|PARKED)(?=","programJson":"(?:[^"\\]|\\.)*?\\"wait\\")/g, "UNDER_WAY"],
  [/(?<="stepReceipts":)\[\{"stepId":"\w+","kind":"wait"[^[]*"errors":\[\]\}\](?=,"lastError")/g, "[]"],
  [/"park":\{"reason":"wait"[^}]*\},/g, ""],
  // How long a job has run so far.
  [/(?<="used":\{"deadlineSeconds":)\d+/g, "0"],
  // The days of the next times of a schedule.
  [/(?<="local":")\d{4}-\d\d-\d\d(?=T)/g, "2026-01-05"],
  // The day of the recording, and how many times of a schedule the last day had.
  [/(?<="(?:day|local)":")\d{4}-\d\d-\d\d(?=["T])/g, "2026-01-05"],
  [/(?<="policy":"queueAll","total":)\d+,"started":\d+/g, '1,"started":1'],
  [/(?<="webhook-timestamp":")\d+/g, "0"],
  // In which part of the last day something happened.
  [/(?<="bars":)\[[^\]]*\]/g, "[]"],
  [/(?<="health":)\{[^}]*\}/g, "{}"],
  [/(.)\1{50,}/g, "$1…$1"],
];

const id = /\b([a-z]{2,5})_[0-7][0-9a-z]{25}\b/g;

/** Returns a function that masks texts of one recording: equal ids get equal numbers in all of them. */
export function masking(): (text: string) => string {
  const numbers = new Map<string, string>();
  const counts = new Map<string, number>();
  const numbered = (whole: string, prefix: string) => {
    const known = numbers.get(whole);
    if (known !== undefined) return known;
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    numbers.set(whole, `${prefix}_${count}`);
    return `${prefix}_${count}`;
  };
  return (text) =>
    varying.reduce((shown, [pattern, instead]) => shown.replace(pattern, instead), text).replace(id, numbered);
}

/** The shape of an answer whose values depend on what happens at the same time: the names of its fields and their types. */
export function shapeOf(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const typeOf = (value: unknown) => (Array.isArray(value) ? "list" : typeof value);
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, typeOf(value)]));
}
