import { type Job, JobStatus, type StepReceipt } from "@svc/sdk";

const statuses: ReadonlyMap<number, string> = namesOf(JobStatus);

/** The statuses by name, in the order a job may take them. */
export const statusNames: readonly string[] = [...statuses.values()].filter((name) => name !== "unspecified");

/** The values of an enum by number, named as this command line names them: `pending_plan_approval`. */
export function namesOf(values: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  return new Map(Object.entries(values).map(([name, value]) => [value, name.toLowerCase()]));
}

/** A status as this command line names it; one that it does not know, by its number. */
export function statusText(status: JobStatus): string {
  return statuses.get(status) ?? String(status);
}

/** The status of a name; UNSPECIFIED for one that is none. */
export function statusOfName(name: string): JobStatus {
  return JobStatus[name.toUpperCase() as keyof typeof JobStatus] ?? JobStatus.UNSPECIFIED;
}

/** What a job waits for a person with, such as `parked (approval at step gate)`; else its status. */
export function standingText({ status, park }: Job): string {
  if (park === undefined) return statusText(status);
  const place = park.stepId === "" ? "" : ` at step ${park.stepId}`;
  return `${statusText(status)} (${park.reason}${place})`;
}

/** Whether a job has ended. */
export function hasEnded({ finishedAt }: Pick<Job, "finishedAt">): boolean {
  return finishedAt !== undefined;
}

/** A text that others wrote, on one line, without what a terminal would take for a command. */
export function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, " ");
}

/** A number with thousands apart: `20,000`. */
export function numberText(value: number): string {
  return value.toLocaleString("en-US");
}

/** A span of time in its two largest units: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function spanText(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const units = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ] as const;
  const first = units.findIndex(([, size]) => seconds >= size);
  const parts = units.slice(first, first + 2).map(([name, size], index) => {
    const before = units[first + index - 1];
    const rest = index === 0 || before === undefined ? seconds : seconds % before[1];
    return { name, count: Math.floor(rest / size) };
  });
  return parts
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} ${name}`)
    .join(" ");
}

/** How rows ended. */
type Rows = {
  readonly in: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
};

/** What became of the rows of a step, such as `1,200 rows, 3 failed`; empty for none. */
export function rowsText(rows: Partial<Rows> | undefined, kind: string): string {
  if (rows === undefined) return "";
  const { ok = 0, failed = 0, skipped = 0, unknown = 0 } = rows;
  const taken = numberText(rows.in ?? 0);
  // A filter skips what does not hold: that is its work, no fault.
  if (kind === "filter") return `${numberText(ok)} of ${taken} rows`;
  const ends = [
    [failed, "failed"],
    [skipped, "skipped"],
    [unknown, "unknown"],
  ] as const;
  const others = ends.filter(([count]) => count > 0).map(([count, name]) => `${numberText(count)} ${name}`);
  return [`${taken} ${taken === "1" ? "row" : "rows"}`, ...others].join(", ");
}

/** The calls of a step or job, such as `81 read, 12 write, 1 retried`; empty for none. */
export function callsText(calls: StepReceipt["calls"]): string {
  if (calls === undefined) return "";
  return (["read", "write", "destructive", "retried", "unknown"] as const)
    .filter((name) => calls[name] > 0)
    .map((name) => `${numberText(calls[name])} ${name}`)
    .join(", ");
}

/** Quotes a word for a POSIX shell, if it needs that. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
