import { RE2JS } from "@bufbuild/re2";
import type { RegExpEngine } from "ajv/dist/types/index.js";

/**
 * Number of instructions that a Unicode class (such as `\p{L}`) counts as in a compiled pattern. The number is high because such a class is
 * a table of hundreds of character ranges.
 */
const unicodeClassSize = 50;

/**
 * Returns the approximate number of instructions of a compiled pattern. A character or class is one instruction. RE2 expands repetitions,
 * so `a{100}` has a hundred. Accepts any text, also if it is not a valid pattern.
 */
export function patternSize(pattern: string): number {
  /** Number of instructions found so far in each group that is still open. The first number is that of the pattern itself. */
  const open: number[] = [0];
  // Size of the last character, class or group. A repetition such as `{3}` multiplies it.
  let item = 0;
  const add = (size: number) => {
    item = size;
    open.push((open.pop() ?? 0) + size);
  };
  for (const [token, , least = "", most = ""] of pattern.matchAll(tokens)) {
    if (token === "(") open.push(1);
    else if (token === ")") add(open.length > 1 ? (open.pop() ?? 0) + 1 : 1);
    else if (token.startsWith("{") && least !== "") add(item * Math.max(Number(least), Number(most), 1));
    else if (/^\[|^\\[pP]/.test(token)) add(1 + unicodeClassSize * (token.match(/\\[pP]/g)?.length ?? 0));
    else add(1);
  }
  return open.reduce((sum, size) => sum + size, 1);
}

const tokens = /\\[pP](?:\{[^}]*\}|.)?|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]?|(\{(\d+)(?:,(\d*))?\})|[\s\S]/gu;

/**
 * Returns the maximum number of instructions that the pattern needs for each character of a text. A pattern that begins with `^` and has no
 * repetitions or alternatives needs few instructions. The matcher follows only one position in such a pattern at a time.
 */
export function patternSteps(pattern: string): number {
  const isFixed = pattern.startsWith("^") && !/[*+?|]|\{\d*,/.test(pattern);
  return isFixed ? 4 : patternSize(pattern) + 3;
}

/**
 * A regular expression that takes time linear in its input (RE2 syntax: no look-around, no back references). `toString` returns the pattern,
 * by which the library Ajv distinguishes patterns.
 */
export type LinearRegExp = { test(text: string): boolean; toString(): string };

/** Returns a compiled pattern, or the reason why RE2 does not accept it. */
export function parseLinearRegExp(pattern: string): LinearRegExp | { readonly fault: string } {
  try {
    return new RE2JS(pattern);
  } catch (error) {
    // RE2JS throws its own exceptions for an invalid pattern. It has no other way to check a pattern.
    return { fault: `is not an RE2 expression (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** Returns a compiled pattern that was checked before. Throws if RE2 does not accept it. */
export function compileLinearRegExp(pattern: string): LinearRegExp {
  return new RE2JS(pattern);
}

/** Maximum steps of all patterns together for one value. A step takes at most 100 ns, and usually about 10 ns. */
const stepsMax = 500_000;

/**
 * True if matching the text with the pattern needs at most `most` steps. False if pattern and text together are too long; even linear time
 * would then be too much.
 */
export function isShortEnough(pattern: string, text: string, most = stepsMax): boolean {
  return patternSteps(pattern) * text.length <= most;
}

/** Error for a value that takes too many steps to check against the regular expressions of a schema. */
export class PatternStepsError extends Error {
  override name = "PatternStepsError";
}

/**
 * Compiles the patterns of JSON Schemas with RE2. While one value is checked, all its patterns together may take only a limited number of
 * steps.
 */
export type MeteredRegExps = {
  /**
   * Returns a compiled pattern. Throws if RE2 does not accept the pattern. The pattern throws PatternStepsError when the step limit is used
   * up.
   */
  readonly engine: RegExpEngine & ((pattern: string) => LinearRegExp);
  /** Sets the number of used steps (units of matching work) back to zero. Call this function before each value that is validated. */
  restart(): void;
};

/** Creates an engine for regular expressions that limits the steps of a match. The engine compiles each pattern once. */
export function createMeteredRegExps(): MeteredRegExps {
  const compiled = new Map<string, LinearRegExp>();
  let left = stepsMax;
  const compile = (pattern: string): LinearRegExp => {
    const form = new RE2JS(pattern);
    const steps = patternSteps(pattern);
    return {
      test(text) {
        left -= steps * (text.length + 1);
        if (left < 0) throw new PatternStepsError(`more than ${stepsMax} steps`);
        return form.test(text);
      },
      toString: () => pattern,
    };
  };
  const engine = (pattern: string) => {
    const known = compiled.get(pattern) ?? compile(pattern);
    compiled.set(pattern, known);
    return known;
  };
  return {
    // The library Ajv writes the text in `code` only into standalone validator modules. svc never generates such modules.
    engine: Object.assign(engine, { code: "linearRegExp" }),
    restart: () => {
      left = stepsMax;
    },
  };
}
