import { notations, quotedText, withoutSeparators } from "./cel-advice.ts";

/** A mistake in the syntax of an expression. `at`: index of its first character. `says`: what is wrong there. */
type Mistake = { readonly at: number; readonly says: string };

/**
 * Returns the first mistake of an expression that cannot be parsed, as a sentence without its subject: what is wrong and at which character
 * (from 1). `fault`: the message of the parser, which is used if no known mistake is found.
 */
export function syntaxMistake(source: string, fault: string): string {
  const { bare, openQuote } = withMarkedTexts(source);
  const found = [...notationMistakes(source, bare), ...bracketMistakes(bare), ...endMistakes(bare)];
  if (openQuote !== undefined)
    found.push({
      at: openQuote,
      says: `has the quote ${source[openQuote]} at character ${openQuote + 1}, which is not closed`,
    });
  const [first] = found.sort((a, b) => a.at - b.at);
  return first?.says ?? plainFault(source, fault);
}

/**
 * Returns an expression in which each character of a quoted text is replaced by a character that no expression contains. So searches find
 * nothing inside texts, and the indexes of all other characters stay the same. `openQuote`: index of a quote that is not closed.
 */
function withMarkedTexts(source: string): { readonly bare: string; readonly openQuote: number | undefined } {
  const bare = source.replaceAll(new RegExp(quotedText, "g"), (text) => "\uE000".repeat(text.length));
  const openQuote = bare.search(/["']/);
  return { bare, openQuote: openQuote < 0 ? undefined : openQuote };
}

function notationMistakes(source: string, bare: string): Mistake[] {
  const separated = withoutSeparators(bare).places.map(({ at, text }) =>
    mistakeAt(at, text, "a number has no separators"),
  );
  const others = notations.flatMap(([pattern, , why]) => {
    // A pattern with the flag `g` would continue from its last match.
    pattern.lastIndex = 0;
    const found = why === undefined ? null : pattern.exec(bare);
    if (why === undefined || found === null) return [];
    return [mistakeAt(found.index, source.slice(found.index, found.index + found[0].length), why)];
  });
  return [...separated, ...others];
}

function mistakeAt(at: number, text: string, why: string): Mistake {
  const shown = text.trim();
  return { at, says: `has ${shown.length > 40 ? `${shown.slice(0, 40)}…` : shown} at character ${at + 1}: ${why}` };
}

const closing: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

function bracketMistakes(bare: string): Mistake[] {
  const open: { readonly at: number; readonly bracket: string }[] = [];
  for (const { index, 0: bracket } of bare.matchAll(/[()[\]{}]/g)) {
    const opener = closing[bracket];
    if (opener === undefined) open.push({ at: index, bracket });
    else if (open.pop()?.bracket !== opener)
      return [{ at: index, says: `has ${bracket} at character ${index + 1}, which nothing opens` }];
  }
  return open
    .slice(-1)
    .map(({ at, bracket }) => ({ at, says: `has ${bracket} at character ${at + 1}, which nothing closes` }));
}

function endMistakes(bare: string): Mistake[] {
  const found = /(?:&&|\|\||[=!<>]=|[<>+\-*/%!]|(?<![\w.])in)\s*$/.exec(bare);
  if (found === null) return [];
  return [{ at: found.index, says: `ends after ${found[0].trim()}, where a value is missing` }];
}

/** Returns the parser's message about a fault. Instead of a line and a column, it gives the number of the character in the expression. */
function plainFault(source: string, fault: string): string {
  const [, line = "", column = "", rest = ""] = /^(\d+):(\d+): (.*)$/s.exec(fault) ?? [];
  if (line === "") return fault;
  const before = source.split("\n").slice(0, Number(line) - 1);
  const at = before.reduce((sum, { length }) => sum + length + 1, 0) + Number(column);
  return `is not CEL at character ${at}: ${rest}`;
}
