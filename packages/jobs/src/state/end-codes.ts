const codes: Readonly<Record<string, string>> = {
  failed: "FAILED",
  aborted: "ABORTED",
  cancelled: "CANCELLED",
  expired: "DEADLINE_EXCEEDED",
};

const known: ReadonlySet<string> = new Set(Object.values(codes));

/** The code of a step that did not end before its job did, by how that ended. */
export function endCodeOf(cause: string): string {
  return codes[cause] ?? cause;
}

/** Whether a code tells of the job's end, and of nothing that befell the step. */
export function isEndCode(code: string): boolean {
  return known.has(code);
}
