import { type FaultText, type PartedText, partedOf } from "./fault-text.ts";

/** Kinds of faults, by their names on the wire (docs/reference/errors). */
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

/** A fault for programs: `reason` in UPPER_SNAKE and listed in docs/reference/errors, `field` by its JSON name, `help` one sentence. */
export type FaultDetail = { readonly reason: string; readonly field: string; readonly help: string };

/** Input of a detail; without `field` or `help`, they are empty. */
type DetailInput = { readonly reason: string; readonly field?: string; readonly help?: FaultText };

/**
 * A refused call, in the words of the domain; only packages/server knows its form on the wire. Service methods throw it; an expected
 * refusal is passed as data. `message` covers all details, usually one.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly details: readonly FaultDetail[];
  /** Time after which the same request may succeed, milliseconds; undefined if waiting does not help. */
  readonly retryAfterMs: number | undefined;
  /** The message with its parts. */
  readonly says: PartedText;
  /** The help of each detail with its parts. */
  readonly advice: readonly PartedText[];

  /** The details, with the parts of their help. */
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

/** Returns the retry delay for the wire, in whole seconds (RFC 9110, 10.2.3); undefined if the fault has none. */
export function retryAfterText({ retryAfterMs }: Pick<Fault, "retryAfterMs">): string | undefined {
  return retryAfterMs === undefined ? undefined : String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
}

/**
 * Formats a value for a message: strings quoted and escaped as in JSON, bytes as their count, cut to `maxLength` characters (default 80)
 * with "..." at the cut. Never throws. Not for secrets.
 */
export function formatValue(value: unknown, maxLength = 80): string {
  // A value may be a whole request body: cut it before it is escaped.
  const text = onOneLine(typeof value === "string" ? JSON.stringify(value.slice(0, maxLength + 1)) : describe(value));
  return text.length > maxLength ? `${text.slice(0, maxLength - 3).toWellFormed()}...` : text;
}

/** Escapes line breaks and controls that JSON leaves unescaped. */
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

/** Ends an exhaustive switch: an unhandled case does not type-check. Throws if data violates the type at run time. */
export function assertExhaustive(value: never): never {
  throw new Error(`unhandled case ${formatValue(value)}`);
}
