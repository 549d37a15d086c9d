/** An error in the form of the log. */
export type ErrorDescription = {
  type: string;
  message: string;
  code?: string;
  constraint?: string;
  /** Frames only. */
  stack: string;
  cause?: ErrorDescription;
};

/**
 * Returns the log's view of an error: kind, message, code and frames, and the same of its causes. Other properties are omitted, because
 * driver errors contain statements, parameters and failed rows.
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error), stack: "" };
  const { code, constraint_name: constraint, cause } = error as Error & { code?: unknown; constraint_name?: unknown };
  return {
    type: error.name,
    message: withoutParameters(error.message),
    ...(typeof code === "string" || typeof code === "number" ? { code: String(code) } : {}),
    ...(typeof constraint === "string" ? { constraint } : {}),
    stack: framesOf(error.stack ?? ""),
    ...(cause === undefined || depth === 5 ? {} : { cause: describeError(cause, depth + 1) }),
  };
}

/** drizzle-orm appends the values of a failed statement to the message (errors.js, DrizzleQueryError). */
function withoutParameters(message: string): string {
  const end = message.indexOf("\nparams:");
  return end < 0 ? message : message.slice(0, end);
}

function framesOf(stack: string): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames.join("\n");
}
