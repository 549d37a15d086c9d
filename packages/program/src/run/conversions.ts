import {
  type CelFunc,
  type CelInput,
  CelScalar,
  type CelUint,
  celEnv,
  celFunc,
  celUint,
  isCelError,
  objectType,
  parse,
  plan,
} from "@bufbuild/cel";
import { isoTime, readInstant } from "@svc/core/time";
import { longNumberOf } from "./long-numbers.ts";

const { BYTES, DOUBLE, INT, STRING, UINT } = CelScalar;
const timestamp = objectType("google.protobuf.Timestamp");
const duration = objectType("google.protobuf.Duration");

const numberForm = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

const durationForm = /^[+-]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h))+)$/;

/** True if CEL's function `duration` accepts a text: units from hours down to nanoseconds, or `0` alone, in at most 128 characters. */
export function isDurationText(text: string): boolean {
  return text.length <= 128 && durationForm.test(text);
}

/** True if CEL's function `timestamp` accepts a text: a time in RFC 3339 with at most nanoseconds. */
export function isTimestampText(text: string): boolean {
  // A digit other than 0 after the ninth decimal place would be lost, so such a text is refused.
  return readInstant(text) !== undefined && !/\.\d{9}\d*[1-9]/.test(text);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * CEL's functions that convert a text or bytes. They replace the evaluator's own functions, which accept invalid input: an empty text
 * becomes 0, `0x1F` becomes 31, 30 February becomes 2 March, and half a character becomes U+FFFD. The functions here fail for such input.
 */
export const conversions: readonly CelFunc[] = [
  celFunc("int", [STRING], INT, wholeOf),
  celFunc("uint", [STRING], UINT, unsignedOf),
  celFunc("double", [STRING], DOUBLE, doubleOf),
  celFunc("bool", [STRING], CelScalar.BOOL, truthOf),
  celFunc("string", [BYTES], STRING, decoded),
  celFunc("string", [DOUBLE], STRING, textOf),
  celFunc("bytes", [STRING], BYTES, (text: string) => {
    if (!text.isWellFormed()) throw unreadable("bytes");
    return encoder.encode(text);
  }),
  celFunc("timestamp", [STRING], timestamp, timeOf),
  celFunc("timestamp", [INT], timestamp, (since: bigint) => celTime(msOf(since))),
  celFunc("duration", [STRING], duration, spanOf),
];

function unreadable(kind: string): Error {
  return new Error(`cannot convert to ${kind}`);
}

/** Returns the text of a number, with all digits that the number had in the JSON. */
function textOf(double: number): string {
  const long = longNumberOf(double);
  if (long === "unclear") throw unreadable("string");
  return long === undefined ? String(double) : JSON.stringify(long);
}

function decoded(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw unreadable("string");
  }
}

function wholeOf(text: string): bigint {
  // A longer text is always beyond 2^63, and parsing it would be slow.
  if (!/^[+-]?\d{1,100}$/.test(text)) throw unreadable("int");
  const whole = BigInt(text.replace("+", ""));
  if (BigInt.asIntN(64, whole) !== whole) throw unreadable("int");
  return whole;
}

function unsignedOf(text: string): CelUint {
  if (!/^\+?\d{1,100}$/.test(text)) throw unreadable("uint");
  const whole = BigInt(text.replace("+", ""));
  if (BigInt.asUintN(64, whole) !== whole) throw unreadable("uint");
  return celUint(whole);
}

function doubleOf(text: string): number {
  if (/^(NaN|[+-]?Infinity)$/.test(text)) return Number(text);
  const number = numberForm.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number)) throw unreadable("double");
  return number;
}

/** The texts that CEL's function `bool` accepts, with their values. */
const truths: Readonly<Record<string, boolean>> = {
  ...{ true: true, True: true, TRUE: true, t: true, 1: true },
  ...{ false: false, False: false, FALSE: false, f: false, 0: false },
};

function truthOf(text: string): boolean {
  const truth = Object.hasOwn(truths, text) ? truths[text] : undefined;
  if (truth === undefined) throw unreadable("bool");
  return truth;
}

const times = plan(celEnv(), parse("timestamp(text)"));
const spans = plan(celEnv(), parse("duration(text)"));

function made(run: typeof times, text: string): CelInput {
  const value = run({ text });
  if (isCelError(value)) throw new Error(value.message);
  return value;
}

function timeOf(text: string): CelInput {
  const instant = isTimestampText(text) ? readInstant(text) : undefined;
  if (instant === undefined) throw unreadable("timestamp");
  return celInstant(instant.seconds, instant.nanos);
}

function spanOf(text: string): CelInput {
  if (!isDurationText(text)) throw unreadable("duration");
  return made(spans, text);
}

/** Returns a CEL time from seconds and nanoseconds since 1970. */
function celInstant(seconds: number, nanos: number): CelInput {
  return made(times, `${isoTime(seconds * 1000).slice(0, 19)}.${String(nanos).padStart(9, "0")}Z`);
}

/** Returns a CEL time from milliseconds since 1970. Throws an Error outside of the years 1 to 9999. */
export function celTime(ms: number): CelInput {
  if (Number.isNaN(ms) || Math.abs(ms) > 8.64e15) throw unreadable("timestamp");
  return made(times, isoTime(ms));
}

/** Seconds from 1970 to the end of the year 9999, the latest time that CEL allows. */
const secondsMax = 253_402_300_799n;

/** Returns a time since 1970 in milliseconds. `since` is read as seconds, or as milliseconds if it is too large for seconds. */
function msOf(since: bigint): number {
  // The evaluator and version 0.1 of programs read every number as milliseconds. Milliseconds after January 1978 are too large for seconds.
  const isSeconds = since >= -secondsMax && since <= secondsMax;
  return Number(isSeconds ? since * 1_000n : since);
}
