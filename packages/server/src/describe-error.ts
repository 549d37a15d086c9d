/** An error as the log shows it. */
export type ErrorDescription = {
  type: string;
  message: string;
  code?: string;
  constraint?: string;
  /** The stack frames of the error, without its message. */
  stack: string;
  cause?: ErrorDescription;
};

/**
 * Returns an error as the log shows it: kind, message, code and stack frames, and the same for its causes. Other properties are omitted,
 * because errors of the PostgreSQL driver contain statements, parameters and failed rows.
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

/**
 * Returns the message of a database error up to the values that drizzle-orm appends to it (errors.js, DrizzleQueryError). The values are
 * left out, because they may be secret.
 */
function withoutParameters(message: string): string {
  const end = message.indexOf("\nparams:");
  return end < 0 ? message : message.slice(0, end);
}

function framesOf(stack: string): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames.join("\n");
}
