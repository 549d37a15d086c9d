import { parseExactJson } from "./exact-json.ts";
import { type JsonNumber, nearestDouble, rawJson } from "./raw-json.ts";

/**
 * Returns the sum of two numbers. Each may be a plain number, or a raw number (an object that keeps all its JSON digits). The sum is exact
 * if one is raw or if it exceeds 2^53 - 1. Otherwise it is the usual sum of doubles. Numbers with more than 400 digits, or an exponent
 * beyond 400, are first rounded to a double.
 */
export function addExactly(a: JsonNumber, b: JsonNumber): JsonNumber {
  // The common case: both are plain numbers, and a double can hold their sum exactly.
  if (typeof a === "number" && typeof b === "number" && Math.abs(a + b) <= Number.MAX_SAFE_INTEGER) return a + b;
  const [left, right] = [decimalOf(a), decimalOf(b)];
  if (left === undefined || right === undefined) return nearestDouble(a) + nearestDouble(b);
  const places = Math.max(left.places, right.places);
  return numberOf({ units: unitsAt(left, places) + unitsAt(right, places), places });
}

/** True if `a` is smaller than `b`. False if `a` is equal or greater. Both may be raw numbers, which are compared exactly. */
export function isBelow(a: JsonNumber, b: JsonNumber): boolean {
  if (typeof a === "number" && typeof b === "number") return a < b;
  const [left, right] = [decimalOf(a), decimalOf(b)];
  if (left === undefined || right === undefined) return nearestDouble(a) < nearestDouble(b);
  const places = Math.max(left.places, right.places);
  return unitsAt(left, places) < unitsAt(right, places);
}

/** Returns a whole number as a JSON value: a plain number if a double holds it exactly, otherwise a raw number. */
export function wholeNumber(whole: bigint): JsonNumber {
  const number = Number(whole);
  return Number.isSafeInteger(number) ? number : rawJson(String(whole));
}

/** A decimal number: `units` times 10 to the power of minus `places`. */
type Decimal = { readonly units: bigint; readonly places: number };

const decimalForm = /^(-?\d{1,400})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,3}))?$/;
const decimalPlacesMax = 400;

function decimalOf(value: JsonNumber): Decimal | undefined {
  const [, whole, fraction = "", power = "0"] = decimalForm.exec(JSON.stringify(value)) ?? [];
  const places = fraction.length - Number(power);
  return whole === undefined || Math.abs(places) > decimalPlacesMax
    ? undefined
    : { units: BigInt(whole + fraction), places };
}

function unitsAt({ units, places }: Decimal, at: number): bigint {
  return units * 10n ** BigInt(at - places);
}

function numberOf({ units, places }: Decimal): JsonNumber {
  if (places <= 0) return wholeNumber(units * 10n ** BigInt(-places));
  const digits = String(units < 0n ? -units : units).padStart(places + 1, "0");
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, "");
  return parseExactJson(`${units < 0n ? "-" : ""}${text}`) as JsonNumber;
}
