/** The kinds of faults, by the names that the wire has for them (docs/errors.md). */
export type FaultCode =
  | "canceled"
  | "unknown"
  | "invalid_argument"
  | "deadline_exceeded"
  | "not_found"
  | "already_exists"
  | "permission_denied"
  | "resource_exhausted"
  | "failed_precondition"
  | "aborted"
  | "out_of_range"
  | "unimplemented"
  | "internal"
  | "unavailable"
  | "data_loss"
  | "unauthenticated";

/** What a program reads of one fault: `reason` UPPER_SNAKE and listed in docs/errors.md, `field` by its JSON name, `help` one sentence. */
export type FaultDetail = { readonly reason: string; readonly field: string; readonly help: string };

/** A detail as it is written down; `field` and `help` may be left out, and are empty then. */
type GivenDetail = Pick<FaultDetail, "reason"> & Partial<FaultDetail>;

/**
 * Why a call is refused, in the words of the domain; packages/server alone knows how the wire says it. Thrown by the methods of
 * services, and passed as data where a refusal is expected. `message` covers all the details, usually one.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly details: readonly FaultDetail[];
  /** After how long the same request may be taken, milliseconds; undefined where waiting does not help or nobody knows. */
  readonly retryAfterMs: number | undefined;

  /** Use `fault` or `faults`. */
  constructor(code: FaultCode, message: string, details: readonly FaultDetail[], retryAfterMs?: number | undefined) {
    super(message);
    this.code = code;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

/** How the wire says when to come again, in whole seconds (RFC 9110, 10.2.3); undefined where a fault does not say. */
export function retryAfterText({ retryAfterMs }: Fault): string | undefined {
  return retryAfterMs === undefined ? undefined : String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
}

/**
 * What to do, with the wait that programs find in Retry-After: in place of the header's name, or behind a text that does not name it.
 * `seconds` is the header's value; without one the text stays.
 */
export function withWait(help: string, seconds: string | undefined): string {
  if (seconds === undefined) return help;
  const told = help.replace(/\bafter the time (?:of|in) Retry-After\b/, `after ${seconds} s`);
  return told === help ? `${help} Retry after ${seconds} s.`.trimStart() : told;
}

/** The same fault for those who read no headers: what its details advise says how long to wait, where the fault does. */
export function withWaitTold(given: Fault): Fault {
  const { code, message, retryAfterMs } = given;
  const details = given.details.map((detail) => ({ ...detail, help: withWait(detail.help, retryAfterText(given)) }));
  return new Fault(code, message, details, retryAfterMs);
}

/** Makes the fault of a call. `message` says what was wrong, with which value, and what would be right. */
export function fault(
  given: GivenDetail & {
    readonly code: FaultCode;
    readonly message: string;
    readonly retryAfterMs?: number | undefined;
  },
): Fault {
  const { code, message, retryAfterMs, ...detail } = given;
  return faults({ code, message, retryAfterMs, details: [detail] });
}

/** Makes several faults of one request, told at once: a detail for each, in the order given; `message` covers them all. */
export function faults(given: {
  readonly code: FaultCode;
  readonly message: string;
  readonly details: readonly GivenDetail[];
  readonly retryAfterMs?: number | undefined;
}): Fault {
  const details = given.details.map(({ reason, field = "", help = "" }) => ({ reason, field, help }));
  return new Fault(given.code, given.message, details, given.retryAfterMs);
}

/**
 * Writes a value for a message: strings quoted and escaped as in JSON, bytes as their count, everything cut
 * to `maxLength` characters (default 80) with "..." as the mark of a cut. Never throws. Not for secrets.
 */
export function formatValue(value: unknown, maxLength = 80): string {
  // A value may be a whole request body: cut it before it is escaped.
  const text = onOneLine(typeof value === "string" ? JSON.stringify(value.slice(0, maxLength + 1)) : describe(value));
  return text.length > maxLength ? `${text.slice(0, maxLength - 3).toWellFormed()}...` : text;
}

/** Escapes what JSON leaves as it is and what ends a line. */
function onOneLine(text: string): string {
  return text.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function describe(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.byteLength} bytes`;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (typeof value !== "object" || value === null) return String(value);
  try {
    return JSON.stringify(value) ?? "an object";
  } catch {
    // Cycles, bigints and throwing toJSON have no JSON form.
    return "an object";
  }
}

/** Ends an exhaustive switch: a case that is not handled does not type-check. Throws when data breaks the type at run time. */
export function assertExhaustive(value: never): never {
  throw new Error(`unhandled case ${formatValue(value)}`);
}
