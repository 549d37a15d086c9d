import { hours, parseExpression, rewriteCalls } from "./cel-calls.ts";

// Recognizes expressions in other languages, and returns their CEL form for hints.

/** Placeholder in an expression for a quoted text that was removed. This private character does not occur in expressions. */
const mark = "\uE000";

/**
 * An expression without its quoted texts. `source`: the expression with a placeholder for each text. `texts`: the removed texts, in order.
 */
type BareSource = { readonly source: string; readonly texts: readonly string[] };

/** Pattern for a quoted text in an expression of CEL: in double or in single quotes. */
export const quotedText: string = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
const anyQuotedText = new RegExp(`${quotedText}|\`[^\`]*\``, "g");

function withoutTexts(source: string): BareSource {
  const texts: string[] = [];
  const plain = source.replaceAll(/[\u201C\u201D]/g, '"').replaceAll(/[\u2018\u2019]/g, "'");
  const bare = plain.replaceAll(anyQuotedText, (text) => {
    texts.push(text.startsWith("`") ? JSON.stringify(text.slice(1, -1)) : text);
    return `${mark}${texts.length - 1}${mark}`;
  });
  return { source: bare, texts };
}

function withTexts({ source, texts }: BareSource): string {
  return source.replaceAll(new RegExp(`${mark}(\\d+)${mark}`, "g"), (_mark, index) => texts[Number(index)] ?? "");
}

const term = String.raw`(?<![\w.\[\]])[\w.\[\]${mark}]+(?:\([^()]*\))?`;

/** CEL expression that computes today's date (in UTC) as a text, such as 2026-11-24. */
const dayOfNow = "string(now).substring(0, 10)";

/** Operators that are words. They must not be read as names, or as units of numbers. */
const wordOperators = "(?:and|or|is|in|not|like|between)";

/**
 * Notations of other languages that CEL does not have, in the order in which svc replaces them. `by`: the replacement in CEL; undefined if
 * svc does not replace the notation. `why`: what the author did wrong; undefined if svc does not report the notation.
 */
export const notations: readonly (readonly [pattern: RegExp, by: string | undefined, why?: string])[] = [
  [/;/, undefined, "an expression has no semicolon"],
  [/^\s*return\s+|;\s*$/g, ""],
  [/[\u201C\u201D\u2018\u2019]/, undefined, 'a text is in straight quotes: "'],
  [/`/, undefined, "a text is in the quotes \" or '"],
  [
    new RegExp(
      `(?<=[=!]=\\s*)(?!${wordOperators}\\b)[A-Za-z]\\w*(?:\\s+(?!${wordOperators}\\b)[A-Za-z]\\w*)+(?=\\s*(?:$|&|\\||\\)))`,
      "i",
    ),
    undefined,
    "a text is in quotes",
  ],
  [/\$\{([^{}]*)\}|\{\{([^{}]*)\}\}/g, "$1$2"],
  [/\$\.?(?=[A-Za-z])/g, ""],
  [/[$€£¥]\s?(?=\d)/g, "", "a number has no currency sign"],
  [
    new RegExp(`(?<![\\w.])\\d+(?:\\.\\d+)?\\s*(?:%|(?!${wordOperators}\\b)[A-Za-z]\\w*)(?![\\w(])`, "i"),
    undefined,
    "a number has no unit",
  ],
  [/(?<![\w.])(\d+(?:\.\d+)?)\s*(?:EUR|USD|GBP|CHF|JPY|euros?|dollars?|[€£¥%](?=\s*(?:$|&|\||\))))(?![\w(])/gi, "$1"],
  [/(?<![\w.])(?<count>\d+)k\b/gi, "$<count>000"],
  [/\{([\w.]+)\}/g, "$1", "a value is written without braces"],
  [/(?<![\w.])between(?!\w)/i, undefined, "a range is written as two comparisons"],
  [new RegExp(`(${term})\\s+between\\s+(${term})\\s+and\\s+(${term})`, "gi"), "$1 >= $2 && $1 <= $3"],
  [/=>(?=\s*[-\d\uE000])/g, ">=", "at least is written >="],
  [/=</g, "<=", "at most is written <="],
  [/===/g, "==", "equal is written =="],
  [/!==/g, "!=", "not equal is written !="],
  [/<>/g, "!=", "not equal is written !="],
  [new RegExp(`(${term})\\s+not\\s+in\\s+(\\[[^\\]]*\\]|\\([^)]*\\)|${term})`, "gi"), "!($1 in $2)"],
  [/\bis\s+not\s+(?:null|none|nil)\b/gi, "!= null"],
  [/\bis\s+(?:null|none|nil)\b/gi, "== null"],
  [/\b(?:None|nil|NULL|undefined)\b/g, "null"],
  [/\bis\s+not\b/g, "!="],
  [/(?<![\w.])is(?!\w)/gi, "==", "equal is written =="],
  [/(?<![\w.])and(?!\w)/gi, "&&", "and is written &&"],
  [/(?<![\w.])or(?!\w)/gi, "||", "or is written ||"],
  [/(?<!&)&(?!&)/g, "&&", "and is written &&"],
  [/(?<!\|)\|(?!\|)/g, "||", "or is written ||"],
  [/(?<![\w.])not(?!\w)/i, undefined, "not is written !"],
  [/\bnot\s+(\([^()]*\)|[^&|()?]*(?:\([^()]*\)[^&|()?]*)*)/gi, "!($1)"],
  [/\bnot\(/gi, "!("],
  [/!\(\(([^()]*)\)\)/g, "!($1)"],
  [/\bTrue\b|\bTRUE\b/g, "true"],
  [/\bFalse\b|\bFALSE\b/g, "false"],
  [/(?<![=!<>])=(?![=><])/g, "==", "equal is written =="],
  [/\bin\s*\(([^()]*)\)/gi, "in [$1]"],
  [/\bIN\b/g, "in"],
  [/^\s*if\s+(.+?)\s+then\s+(.+?)\s+else\s+(.+?)(?:\s+end)?\s*$/is, "$1 ? $2 : $3"],
  [/^\s*(.+?)\s+if\s+(.+?)\s+else\s+(.+?)\s*$/is, "$2 ? $1 : $3"],
  [new RegExp(`(${term})\\s*\\?\\?\\s*(${term})`, "g"), "(has($1) ? $1 : $2)"],
  [/\bnew\s+Date\(\)|\b(?:Date\.now|now|today|utcnow|current_timestamp|getdate)\(\)/gi, "now"],
  [/\bDate\.parse\(|\bnew\s+Date\((?=[^)])/g, "timestamp("],
  [/(?<![\w.])(?:string\(today\)|today(?!\s*[-+(])\b|now\.(?:format|strftime|toFormat)\([^()]*\))/g, dayOfNow],
  [/(?<![\w.])today\b(?=\s*[-+])/g, "now"],
  [/(?<![\w.[\]])([\w.[\]]+)\.(?:toString|toISOString|isoformat)\(\)/g, "string($1)"],
  [/(?<![\w.[\]])([\w.[\]]+)\.toFixed\((\d)\)/g, "'%.$2f'.format([$1])"],
  [/\bmath\.round\(([^(),]+),\s*(\d)\)/g, "double('%.$2f'.format([$1]))"],
  [/\.getDay\(/g, ".getDayOfWeek("],
  [/\?\.(?=[A-Za-z_])/g, "."],
  [/\.(?:toLowerCase|toLower|lower|lowercase|downcase)\(\)/g, ".lowerAscii()"],
  [/\.(?:toUpperCase|toUpper|upper|uppercase|upcase)\(\)/g, ".upperAscii()"],
  [/\.(?:strip)\(\)/g, ".trim()"],
  [/\.(?:startswith|starts_with|beginsWith)\(/g, ".startsWith("],
  [/\.(?:endswith|ends_with)\(/g, ".endsWith("],
  [/\.(?:includes|has)\(/g, ".contains("],
  [/\.(?:match|test|regex)\(/g, ".matches("],
  [/\.(?:indexof|index)\(/g, ".indexOf("],
  [/\.(?:substr|slice)\((?=\d)/g, ".substring("],
  [/\.(?:some|any)\(/g, ".exists("],
  [/\.(?:every)\(/g, ".all("],
  [/\(\s*\(?(\w+)\)?\s*=>\s*/g, "($1, "],
  [/\.(?:length|count|len|size)\(\)/g, ".size()"],
  [/(?<![\w.[\]])([\w.[\]]+)\.(?:length|count|len|size)\b(?!\()/g, "size($1)"],
  [/(?<![\w.[\]])([\w.[\]]+)\.first\(\)/g, "$1[0]"],
  [/(?<![\w.[\]])([\w.[\]]+)\.last\(\)/g, "$1[size($1) - 1]"],
  [new RegExp(`(${term})\\s*=~\\s*(${term})`, "g"), "$1.matches($2)"],
  [/\b(?:item|record|this|self|it|each|element|entry)\.(?=[A-Za-z])/g, "row."],
];

/**
 * Returns an expression in which large numbers are written without separators: `1000` instead of `1,000`, `1_000`, `1 000` or `1.000,00`.
 * `places`: the numbers that had separators, and their indexes. A comma in a list or between arguments stays.
 */
export function withoutSeparators(bare: string): {
  readonly source: string;
  readonly places: readonly { readonly at: number; readonly text: string }[];
} {
  const places: { at: number; text: string }[] = [];
  const number =
    /(?<![\w.,\uE000])\d{1,3}(?:(?:,\d{3})+(?:\.\d+)?|(?:_\d{3})+(?:\.\d+)?|(?:\.\d{3})+,\d+|(?: \d{3})+)(?![\w,])/g;
  const source = bare.replaceAll(number, (text, at: number) => {
    if (isAmongItems(bare.slice(0, at))) return text;
    places.push({ at, text });
    const isPointGrouped = /\.\d{3}.*,/.test(text);
    return isPointGrouped ? text.replaceAll(".", "").replace(",", ".") : text.replaceAll(/[,_ ]/g, "");
  });
  return { source, places };
}

/**
 * True if the place after the text `before` is in a list or among the arguments of a call. There, a comma separates values and is not a
 * part of a number.
 */
function isAmongItems(before: string): boolean {
  let depth = 0;
  for (let at = before.length - 1; at >= 0; at--) {
    const character = before.charAt(at);
    if (character === ")" || character === "]") depth++;
    else if (character !== "(" && character !== "[") continue;
    else if (depth > 0) depth--;
    else return character === "[" || /\w$/.test(before.slice(0, at));
  }
  return false;
}

/** Returns the expression with time spans in words, such as `7 days` or `INTERVAL 7 DAY`, in CEL form. */
function rewriteSpans(source: string): string {
  return source.replaceAll(
    /\b(?:interval\s+)?(\d{1,5})\s*(days?|d|weeks?|w|hours?|hrs?|h|minutes?|mins?)\b/gi,
    (_span, count: string, unit: string) => {
      const letter = unit.toLowerCase()[0];
      if (letter === "m") return `duration("${count}m")`;
      return hours(count, letter === "d" ? 24 : letter === "w" ? 168 : 1);
    },
  );
}

/** Replaces days and weeks in `duration(…)` by hours. For example, `2d` becomes `48h`. */
function rewriteDurations(source: string): string {
  return source.replaceAll(
    /\bduration\(\s*["'](\d{1,5})\s*(d|days?|w|weeks?)["']\s*\)/gi,
    (_whole, count: string, unit: string) => hours(count, unit.toLowerCase().startsWith("w") ? 168 : 24),
  );
}

/**
 * Maximum length in characters of an expression that is examined for the syntax of other languages. A longer expression is already a fault
 * because of its length.
 */
const sourceMax = 1_024;

/**
 * Returns the CEL form of an expression that was probably written in another language. Returns undefined if no other form is known. `sets`:
 * names of the sets of rows.
 */
export function translated(source: string, sets: readonly string[] = []): string | undefined {
  if (source.length > sourceMax) return undefined;
  const { source: bare, texts } = withoutTexts(withoutPatterns(withoutArrow(source)));
  let written = withoutSeparators(bare).source;
  for (const [pattern, by] of notations) {
    if (by !== undefined) written = written.replaceAll(new RegExp(pattern, flagsOf(pattern)), by);
  }
  const spaced = rewriteCalls(rewriteSpans(written))
    .replaceAll(/\s+\)/g, ")")
    .replaceAll(/\)(?=&&|\|\|)/g, ") ");
  written = rewriteDurations(withTexts({ source: spaced, texts })).trim();
  for (const set of sets)
    written = written.replaceAll(new RegExp(`\\bsize\\((?:rows\\.|steps\\.)?${set}\\)`, "g"), `rows.${set}`);
  // True if the expression reads a field or an item of a set. No CEL form exists for this: a set is not a list, and `rows.<set>` is the
  // number of its rows.
  const isOfSet =
    /(?<![\w.])rows\.\w+\./.test(written) ||
    ["rows\\.\\w+", ...sets].some((set) => new RegExp(`(?<![\\w.])${set}\\[`).test(written));
  return written === source || isOfSet || "fault" in parseExpression(written) ? undefined : written;
}

function flagsOf({ flags }: RegExp): string {
  return flags.includes("g") ? flags : `${flags}g`;
}

/** Returns the body of an arrow function (`row => row.a`). Any other source is returned unchanged. */
function withoutArrow(source: string): string {
  const [whole = "", name = ""] = /^\s*\(?\s*([A-Za-z_]\w*)\s*\)?\s*=>\s*/.exec(source) ?? [];
  if (name === "") return source;
  return source.slice(whole.length).replaceAll(new RegExp(`(?<![\\w.])${name}\\.`, "g"), "row.");
}

/**
 * Returns an expression in which patterns of other languages are replaced by functions of CEL. For example, `x =~ /a.b/` becomes
 * `x.matches('a.b')`, and `x like "a%"` becomes `x.startsWith("a")`.
 */
function withoutPatterns(source: string): string {
  return source
    .replaceAll(
      /([\w.[\]]{1,200})\s*=~\s*(?:\/([^/'"]{1,200})\/[gimsuy]*|["']([^'"]{1,200})["'])/g,
      "$1.matches('$2$3')",
    )
    .replaceAll(/\.match\(\s*\/([^/'"]{1,200})\/[gimsuy]*\s*\)/g, ".matches('$1')")
    .replaceAll(/([\w.[\]]{1,200})\s+like\s+(["'])%([^%'"]{1,200})%\2/gi, "$1.contains($2$3$2)")
    .replaceAll(/([\w.[\]]{1,200})\s+like\s+(["'])([^%'"]{1,200})%\2/gi, "$1.startsWith($2$3$2)")
    .replaceAll(/([\w.[\]]{1,200})\s+like\s+(["'])%([^%'"]{1,200})\2/gi, "$1.endsWith($2$3$2)");
}

/** True if a quoted text contains a line break, which CEL does not allow. */
export function breaksText(source: string): boolean {
  let quote = "";
  for (let at = 0; at < Math.min(source.length, sourceMax); at++) {
    const character = source.charAt(at);
    if (quote === "") quote = character === '"' || character === "'" ? character : "";
    else if (character === "\n" || character === "\r") return true;
    else if (character === "\\") at++;
    else if (character === quote) quote = "";
  }
  return false;
}
