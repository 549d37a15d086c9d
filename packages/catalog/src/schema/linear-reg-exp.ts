import { RE2JS } from "@bufbuild/re2";
import type { RegExpEngine } from "ajv/dist/types/index.js";

/** A Unicode class is a table of hundreds of ranges. */
const unicodeClassSize = 50;

/**
 * About how many instructions a pattern compiles to: a character or class is one, and RE2 writes repetitions out, so `a{100}` is
 * a hundred. Takes any text, well formed or not.
 */
export function patternSize(pattern: string): number {
  /** Sizes of the open groups so far, and of the item that a repetition would repeat. */
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

/** Instructions that a step over one character of a text runs at most. A fixed form is in one place at a time. */
export function patternSteps(pattern: string): number {
  const isFixed = pattern.startsWith("^") && !/[*+?|]|\{\d*,/.test(pattern);
  return isFixed ? 4 : patternSize(pattern) + 3;
}

/** A regular expression that takes time linear in its input (RE2 syntax: no look-around, no back references). */
export type LinearRegExp = { test(text: string): boolean };

/** Compiles a pattern, or says why RE2 cannot take it. */
export function parseLinearRegExp(pattern: string): LinearRegExp | { readonly fault: string } {
  try {
    return new RE2JS(pattern);
  } catch (error) {
    // RE2JS throws its own exceptions for every pattern it refuses; there is no other call that says so.
    return { fault: `is not an RE2 expression (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** Compiles a pattern that was checked. Throws for one that RE2 refuses. */
export function compileLinearRegExp(pattern: string): LinearRegExp {
  return new RE2JS(pattern);
}

/** Of all patterns over one value. A step takes 100 ns at worst, and most take a tenth of it. */
const stepsMax = 500_000;

/** Whether a pattern may be run over a text by itself: linear time still is long when both are. */
export function isShortEnough(pattern: string, text: string, most = stepsMax): boolean {
  return patternSteps(pattern) * text.length <= most;
}

/** The patterns that were run would take more steps than one value is allowed. */
export class PatternStepsError extends Error {
  override name = "PatternStepsError";
}

/** RE2 in the place where the JSON Schema compiler takes an engine, with a budget for all patterns of one value. */
export type MeteredRegExps = {
  /** Throws for a pattern that RE2 refuses; its expressions throw PatternStepsError when the budget is spent. */
  readonly engine: RegExpEngine & ((pattern: string) => LinearRegExp);
  /** Begins another value. */
  restart(): void;
};

/** Compiles each pattern once, for as long as what is made here is kept. */
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
    // Only standalone code, which is never made here, would hold this text.
    engine: Object.assign(engine, { code: "linearRegExp" }),
    restart: () => {
      left = stepsMax;
    },
  };
}
