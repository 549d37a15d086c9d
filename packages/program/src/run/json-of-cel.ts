import { type CelValue, celEnv, celType, isCelError, isCelList, isCelMap, isCelUint, parse, plan } from "@bufbuild/cel";
import { rawJson } from "@svc/core/raw-json";
import { longNumberOf } from "./long-numbers.ts";

/** Characters of the JSON of a value that an expression computes, at most. */
const computedCharactersMax = 65_536;

/** The JSON text of what an expression gives, or why it has none, as a sentence without values. */
export function jsonOfCel(value: CelValue): { readonly text: string } | { readonly error: string } {
  try {
    const text = JSON.stringify(toJson(value));
    if (text.length <= computedCharactersMax) return { text };
    return { error: `gives more than the ${computedCharactersMax} characters that a value may have` };
  } catch (error) {
    if (error instanceof NoJsonError) return { error: error.message };
    throw error;
  }
}

class NoJsonError extends Error {}

const textOfTime = plan(celEnv(), parse("string(time)"));

/** Times are RFC 3339, durations seconds with an s, bytes base64; whole numbers keep all their digits. Throws NoJsonError. */
function toJson(value: CelValue): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return doubleOf(value);
  if (typeof value === "bigint") return wholeNumber(value);
  if (isCelUint(value)) return wholeNumber(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (isCelList(value)) return Array.from(value, toJson);
  if (isCelMap(value)) return objectOf(value);
  const { name } = celType(value);
  if (name !== "google.protobuf.Timestamp" && name !== "google.protobuf.Duration") {
    throw new NoJsonError("gives what is no value of JSON");
  }
  const text = textOfTime({ time: value });
  if (isCelError(text)) throw new NoJsonError("gives a time out of range");
  return text;
}

/** A number that was given with more digits has them still. */
function doubleOf(value: number): unknown {
  const long = longNumberOf(value);
  if (long === "unclear") {
    throw new NoJsonError("gives one of several numbers that differ in digits which no double has: name it by $ref");
  }
  if (long !== undefined) return long;
  if (!Number.isFinite(value)) throw new NoJsonError("gives a number that JSON does not have: infinite, or none");
  return Object.is(value, -0) ? rawJson("-0") : value;
}

/** A double beyond the safe ones is written with digits that are another whole number's. */
function wholeNumber(value: bigint): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : rawJson(String(value));
}

function objectOf(map: Iterable<readonly [unknown, CelValue]>): object {
  const entries = Array.from(map, ([name, item]) => {
    if (typeof name !== "string") throw new NoJsonError("gives a map whose names are no texts");
    return [name, toJson(item)] as const;
  });
  return Object.fromEntries(entries);
}
