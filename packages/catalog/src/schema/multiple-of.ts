import { isJsonNumber } from "@svc/core";
import { _, type Ajv2020, str } from "ajv/dist/2020.js";

/** A decimal number. `digits`: digits without trailing zeros. `power`: power of ten by which the digits are multiplied. */
type Decimal = { readonly digits: string; readonly power: number };

/** The value that is validated now, with all digits of its numbers. Undefined if doubles can hold all its numbers exactly. */
let judged: { readonly value: unknown } | undefined;

/**
 * Runs `judge`, which validates a value, and returns its result. During the run, the keyword `multipleOf` is checked with all digits of the
 * value's numbers. Without this function, it would be checked with doubles, which lose digits.
 */
export function withExactNumbers<T>(value: unknown, judge: () => T): T {
  judged = { value };
  try {
    return judge();
  } finally {
    judged = undefined;
  }
}

/** Replaces the compiler's `multipleOf` with one that calculates in decimals, because doubles cannot hold 19.99 or 0.01 exactly. */
export function addMultipleOf(ajv: Ajv2020): void {
  ajv.removeKeyword("multipleOf");
  ajv.addKeyword({
    keyword: "multipleOf",
    type: "number",
    schemaType: "number",
    error: {
      message: ({ schemaCode }) => str`must be multiple of ${schemaCode}`,
      params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    },
    compile(step: number) {
      const unit = decimalOf(JSON.stringify(step));
      return (data: number, context) => {
        const exact = judged === undefined ? data : numberAt(judged.value, context?.instancePath ?? "");
        return isMultiple(decimalOf(JSON.stringify(exact ?? data)), unit);
      };
    },
  });
}

/** Returns the number at a JSON Pointer; undefined if the value there is not a number. */
function numberAt(value: unknown, pointer: string): unknown {
  let at = value;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  return isJsonNumber(at) ? at : undefined;
}

function decimalOf(text: string): Decimal {
  const [, whole = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const written = whole + fraction;
  // A loop is used, because a regular expression would take time in proportion to the square of the number of zeros before a digit.
  let end = written.length;
  while (end > 0 && written[end - 1] === "0") end--;
  return { digits: written.slice(0, end), power: Number(exponent) - fraction.length + written.length - end };
}

/** Maximum power of ten that the check for `multipleOf` multiplies with. Higher powers do not change the result. */
const powerMax = 64;

function isMultiple(number: Decimal, unit: Decimal): boolean {
  if (number.digits === "") return true;
  // `number` has no zeros at its end. So it is not a multiple if its power of ten is lower than that of `unit`. All other numbers have at
  // most some hundred digits, which can be divided quickly.
  if (unit.digits === "" || number.power < unit.power) return false;
  // The at most 17 digits of `unit` form a number below 2 ** 57. Thus 10 ** 64 already contains all its factors 2 and 5.
  const shift = 10n ** BigInt(Math.min(powerMax, number.power - unit.power));
  return (BigInt(number.digits) * shift) % BigInt(unit.digits) === 0n;
}
