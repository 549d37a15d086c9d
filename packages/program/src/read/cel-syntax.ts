import { type CelInput, celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import type { Expr } from "@bufbuild/cel-spec/cel/expr/syntax_pb.js";

/** Most characters of an expression, nodes and levels of its syntax tree (macros expanded), items walked through; bounds of patterns. */
export const celLimits = {
  characters: 1024,
  nodes: 200,
  depth: 24,
  listItems: 1000,
  patternCharacters: 200,
  patternRepeats: 20,
};

const env = celEnv();

/** Parses an expression; `fault` says why it cannot be. Never throws: what nests too deep for the parser is a fault too. */
export function parseExpression(source: string): { readonly tree: Expr } | { readonly fault: string } {
  if (source.length > celLimits.characters) {
    return { fault: `has ${source.length} characters; at most ${celLimits.characters} are allowed` };
  }
  try {
    return { tree: parse(source).expr };
  } catch (error) {
    if (error instanceof RangeError)
      return { fault: `is nested too deep; at most ${celLimits.depth} levels are allowed` };
    return { fault: error instanceof Error ? error.message.replace("<input>:", "") : "does not parse" };
  }
}

/**
 * Why a pattern cannot stand in matches(); undefined when it can. It is compiled at each evaluation, in time that grows with what
 * its counted repetitions unfold to: a class repeated 900 times took 30 ms, 20 times under 1.
 */
export function faultOfPattern(pattern: string): string | undefined {
  const { patternCharacters, patternRepeats } = celLimits;
  if (pattern.length > patternCharacters) return `has a pattern of more than ${patternCharacters} characters`;
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, least, most]) => [
    Number(least),
    Number(most ?? 0),
  ]);
  if (counts.some((count) => count > patternRepeats))
    return `repeats a part of its pattern more than ${patternRepeats} times`;
  const tried = plan(env, parse("text.matches(pattern)"))({ text: "", pattern } as Record<string, CelInput>);
  return isCelError(tried) ? "has a pattern that is not an RE2 expression" : undefined;
}
