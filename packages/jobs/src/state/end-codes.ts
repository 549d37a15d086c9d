const codes: Readonly<Record<string, string>> = {
  failed: "FAILED",
  aborted: "ABORTED",
  cancelled: "CANCELLED",
  expired: "DEADLINE_EXCEEDED",
};

const known: ReadonlySet<string> = new Set(Object.values(codes));

/** Returns the code of a step that did not end before its job, by the job's end. */
export function endCodeOf(cause: string): string {
  return codes[cause] ?? cause;
}

/** True if a code reports only the job's end and not an error of the step. */
export function isEndCode(code: string): boolean {
  return known.has(code);
}
