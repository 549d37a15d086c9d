import { RE2JS } from "@bufbuild/re2";
import type { RegExpEngine } from "ajv/dist/types/index.js";

/** Size of a Unicode class, which is a table of hundreds of ranges. */
const unicodeClassSize = 50;

/**
 * Returns the approximate number of instructions of a compiled pattern. A character or class is one, and RE2 expands repetitions, so
 * `a{100}` is a hundred. Accepts any text, well formed or not.
 */
export function patternSize(pattern: string): number {
  /** Sizes of the open groups so far, and of the last item, which a repetition would repeat. */
  const open: number[] = [0];
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

/** Returns the maximum instructions per character of a text. A fixed form is at one position at a time. */
export function patternSteps(pattern: string): number {
  const isFixed = pattern.startsWith("^") && !/[*+?|]|\{\d*,/.test(pattern);
  return isFixed ? 4 : patternSize(pattern) + 3;
}

/** A regular expression with time linear in its input (RE2 syntax: no look-around, no back references). */
export type LinearRegExp = { test(text: string): boolean };

/** Compiles a pattern, or returns why RE2 refuses it. */
export function parseLinearRegExp(pattern: string): LinearRegExp | { readonly fault: string } {
  try {
    return new RE2JS(pattern);
  } catch (error) {
    // RE2JS throws its own exceptions for every refused pattern; it has no other way to check one.
    return { fault: `is not an RE2 expression (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** Compiles a checked pattern. Throws for one that RE2 refuses. */
export function compileLinearRegExp(pattern: string): LinearRegExp {
  return new RE2JS(pattern);
}

/** Maximum steps of all patterns for one value. A step takes at most 100 ns, usually a tenth of that. */
const stepsMax = 500_000;

/** True if a pattern may run over a text: linear time is still long if both are long. */
export function isShortEnough(pattern: string, text: string, most = stepsMax): boolean {
  return patternSteps(pattern) * text.length <= most;
}

/** The patterns would take more steps than one value may use. */
export class PatternStepsError extends Error {
  override name = "PatternStepsError";
}

/** RE2 as the engine of the JSON Schema compiler, with a step budget for all patterns of one value. */
export type MeteredRegExps = {
  /** Throws for a pattern that RE2 refuses. Its expressions throw PatternStepsError if the budget is used up. */
  readonly engine: RegExpEngine & ((pattern: string) => LinearRegExp);
  /** Resets the budget for another value. */
  restart(): void;
};

/** Creates the engine, which compiles each pattern once. */
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
    };
  };
  const engine = (pattern: string) => {
    const known = compiled.get(pattern) ?? compile(pattern);
    compiled.set(pattern, known);
    return known;
  };
  return {
    // Only standalone code, which is never generated here, would use this text.
    engine: Object.assign(engine, { code: "linearRegExp" }),
    restart: () => {
      left = stepsMax;
    },
  };
}
