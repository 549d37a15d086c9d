import { type Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";

/** What a program reads of one fault: `reason` UPPER_SNAKE and listed in docs/errors.md, `field` by its JSON name, `help` one sentence. */
export type FaultDetail = { reason: string; field?: string; help?: string };

/** One fault of a call. `message` says what was wrong, with which value, and what would be right. */
export type Fault = FaultDetail & { code: Code; message: string };

/** Several faults of one request, told at once; `message` covers them all. */
export type FaultList = { code: Code; message: string; details: readonly FaultDetail[] };

/** Makes the error a service method throws, with one svc.v1.ErrorDetail. Every refusal of the API is made here or by `faults`. */
export function fault({ code, message, ...detail }: Fault): ConnectError {
  return faults({ code, message, details: [detail] });
}

/** Makes the error for a request with several faults: one svc.v1.ErrorDetail for each, in the order given. */
export function faults({ code, message, details }: FaultList): ConnectError {
  const outgoing = details.map(({ reason, field = "", help = "" }) => ({
    desc: ErrorDetailSchema,
    value: { reason, field, help },
  }));
  return new ConnectError(message, code, undefined, outgoing);
}

/**
 * Writes a value for a message: strings quoted and escaped as in JSON, bytes as their count, everything cut
 * to `maxLength` characters (default 80) with "..." as the mark of a cut. Never throws. Not for secrets.
 */
export function formatValue(value: unknown, maxLength = 80): string {
  // A value may be a whole request body: cut it before it is escaped.
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, maxLength + 1)) : describe(value);
  return text.length > maxLength ? `${text.slice(0, maxLength - 3).toWellFormed()}...` : text;
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
export function assertNever(value: never): never {
  throw new Error(`unhandled case ${formatValue(value)}`);
}
