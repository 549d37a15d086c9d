const codes: Readonly<Record<string, string>> = {
  failed: "FAILED",
  aborted: "ABORTED",
  cancelled: "CANCELLED",
  expired: "DEADLINE_EXCEEDED",
};

const known: ReadonlySet<string> = new Set(Object.values(codes));

/** Returns the error code that a step gets if it had not ended when its job ended. `cause`: how the job ended. */
export function endCodeOf(cause: string): string {
  return codes[cause] ?? cause;
}

/**
 * True if the error code of a step means that the job ended before this step could end. False if the code is an error of the step itself.
 */
export function isEndCode(code: string): boolean {
  return known.has(code);
}
