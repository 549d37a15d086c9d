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
