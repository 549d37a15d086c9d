import { isRawJson, parseExactJson } from "@svc/core";

const depthMax = 32;

/** The value of a JSON text, with all digits of its numbers; undefined when it is none. */
export function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseExactJson(text) };
  } catch {
    // Whatever the parser says of it: it is no JSON.
    return undefined;
  }
}

/** Whether a value can be stored and sent on: of at most 32 levels, and without U+0000 and lone surrogates in its texts. */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null || isRawJson(value)) return true;
  if (depth > depthMax) return false;
  return Object.entries(value).every(([name, item]) => isStorable(name) && isStorable(item, depth + 1));
}
