import { measureJson } from "./json-size.ts";
import { rawJson } from "./raw-json.ts";

/** Levels that a JSON text may be nested; writing a value as JSON takes a frame of the stack a level. */
const depthMax = 500;

/** A JSON text of more values than may be read. */
export class JsonTooLargeError extends Error {
  override name = "JsonTooLargeError";
}

/**
 * Parses JSON without losing digits: an integer beyond 2^53 - 1 becomes a raw JSON value, which JSON.stringify writes as it was.
 * Ids of some apps are 64-bit integers. Throws SyntaxError, also for what is nested deeper than 500 levels, and JsonTooLargeError
 * for more than `valuesMax` values (default: no limit).
 */
export function parseExactJson(text: string, { valuesMax = Number.POSITIVE_INFINITY } = {}): unknown {
  const parsed = parseShallowJson(text, valuesMax);
  // Nothing below 16 digits is unsafe, and a reviver costs several times the parsing.
  if (!/\d{16}/.test(text)) return parsed;
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    return isUnsafe(value) && context?.source !== undefined ? rawJson(context.source) : value;
  });
}

/** JSON Pointers of the integers in a JSON text that a double cannot hold exactly; empty for most texts. Throws SyntaxError. */
export function unsafeIntegers(text: string): string[] {
  const parsed = parseShallowJson(text, Number.POSITIVE_INFINITY);
  if (!/\d{16}/.test(text)) return [];
  const found: string[] = [];
  const visit = (value: unknown, pointer: string): void => {
    if (isUnsafe(value)) found.push(pointer);
    else if (typeof value === "object" && value !== null) {
      for (const [key, child] of Object.entries(value)) visit(child, `${pointer}/${escapeStep(key)}`);
    }
  };
  visit(parsed, "");
  return found;
}

/** The parser takes any depth; revivers, JSON.stringify and what walks the value do not. */
function parseShallowJson(text: string, valuesMax: number): unknown {
  const { values, depth } = measureJson(text, valuesMax);
  if (values > valuesMax) throw new JsonTooLargeError(`JSON holds more than ${valuesMax} values`);
  if (depth > depthMax) throw new SyntaxError(`JSON is nested deeper than ${depthMax} levels`);
  return JSON.parse(text);
}

function isUnsafe(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** One step of a JSON Pointer (RFC 6901). */
function escapeStep(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1");
}
