import { type FaultText, type PartedText, partedOf } from "./fault-text.ts";

/** Codes of refused calls, by their names in the API (docs/reference/errors). */
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

/**
 * Details of a fault for client programs. `reason`: in UPPER_SNAKE, listed in docs/reference/errors. `field`: JSON name of the wrong field.
 * `help`: one sentence.
 */
export type FaultDetail = { readonly reason: string; readonly field: string; readonly help: string };

/** Input for one detail of an error. An absent `field` or `help` becomes an empty text. */
type DetailInput = { readonly reason: string; readonly field?: string; readonly help?: FaultText };

/** Error for a call that svc refuses. Service methods throw it, and packages/server sends it to the client. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly details: readonly FaultDetail[];
  /** Time in milliseconds after which the same request may succeed; undefined if waiting does not help. */
  readonly retryAfterMs: number | undefined;
  /** The message with its named parts marked, such as names of calls. The console and the command line replace them by their own words. */
  readonly says: PartedText;
  /**
   * The help text of each error detail, in the order of the details. Names of API calls, names of fields and waiting times are marked in
   * the text. The console and the command line replace them by their own words.
   */
  readonly advice: readonly PartedText[];

  /**
   * Returns the details of this error, with help texts in parts (such as names of API calls). The console and the command line replace
   * these parts by their own words.
   */
  get parted(): readonly DetailInput[] {
    return this.details.map((detail, index) => ({ ...detail, help: this.advice[index] ?? detail.help }));
  }

  constructor(code: FaultCode, says: FaultText, details: readonly DetailInput[], retryAfterMs?: number | undefined) {
    const message = partedOf(says);
    super(message.text);
    const advice = details.map(({ help = "" }) => partedOf(help));
    this.code = code;
    this.details = details.map(({ reason, field = "" }, index) => ({ reason, field, help: advice[index]?.text ?? "" }));
    this.retryAfterMs = retryAfterMs;
    this.says = message;
    this.advice = advice;
  }
}

/**
 * Returns the value of the HTTP header Retry-After for a fault, in whole seconds (RFC 9110, 10.2.3); undefined if the fault has no retry
 * time.
 */
export function retryAfterText({ retryAfterMs }: Pick<Fault, "retryAfterMs">): string | undefined {
  return retryAfterMs === undefined ? undefined : String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
}

/**
 * Returns a value as text for a message: strings quoted and escaped as in JSON, bytes as their count. A text longer than `maxLength`
 * characters (default 80) is cut and ends in "...". Never throws. Do not use it for secrets.
 */
export function formatValue(value: unknown, maxLength = 80): string {
  // The value may be a whole request body, so it is cut before it is escaped.
  const text = onOneLine(typeof value === "string" ? JSON.stringify(value.slice(0, maxLength + 1)) : describe(value));
  return text.length > maxLength ? `${text.slice(0, maxLength - 3).toWellFormed()}...` : text;
}

/** Returns a text on one line. Line breaks and control characters that JSON leaves unchanged are escaped. */
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
    // The value cannot be written as JSON, because it has a cycle, contains a bigint, or has a toJSON that throws.
    return "an object";
  }
}

/**
 * Throws an Error. Call it at the end of a switch over a union type: the compiler then reports each case that is missing. At run time it is
 * reached only if a value violates its type.
 */
export function assertExhaustive(value: never): never {
  throw new Error(`unhandled case ${formatValue(value)}`);
}
