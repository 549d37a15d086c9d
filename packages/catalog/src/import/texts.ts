/**
 * Characters that change or hide what a reader sees: controls, zero-width characters, directions, and tags (U+E0000). The document's author
 * is not trusted, and models read these texts.
 */
const invisible = /[\p{Cc}\p{Cf}\u{e0000}-\u{e007f}]/gu;

/**
 * Returns a text of an imported document as one line of plain words (see `plainText`). Returns undefined if the text is suspicious: it
 * gives orders to its reader, or contains hidden characters or long encoded data. Both the original and the plain text are checked, because
 * removed characters can separate the words of an order.
 */
export function safeText(value: unknown, lengthMax: number): string | undefined {
  if (typeof value !== "string") return "";
  const plain = plainWords(value);
  return isFlagged(value) || isFlagged(plain) ? undefined : shortened(plain, lengthMax);
}

/** Maximum characters of a suspicious text that a report quotes for a person. */
const quotedMax = 600;

/** Returns suspicious texts of a source unchanged, one below the other, so that a person can judge them. They are cut at 600 characters. */
export function quotedTexts(texts: readonly unknown[]): string {
  const given = texts.map((text) => textOf(text).slice(0, quotedMax)).filter((text) => text !== "");
  return given.join("\n").slice(0, quotedMax).toWellFormed();
}

/**
 * Returns a value of a document as text: a text unchanged, and a number or boolean as JSON writes it. Returns an empty text for any other
 * value, because converting an object can throw.
 */
export function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Returns a text as one line of plain words: without markup, links and invisible characters, and with a maximum length. */
export function plainText(value: unknown, lengthMax: number): string {
  return typeof value === "string" ? shortened(plainWords(value), lengthMax) : "";
}

function plainWords(value: string): string {
  return withoutTables(value.slice(0, 20_000).toWellFormed())
    .replaceAll(/<(?:[a-zA-Z/!][^<>]{0,500})>/g, " ")
    .replaceAll(/!?\[([^[\]]{0,300})\]\([^()\s]{0,500}(?:\s[^()]{0,100})?\)/g, "$1")
    .replaceAll(/^[ \t]{0,9}(?:[*+-]|\d{1,3}[.)])[ \t]+/gm, "")
    .replaceAll(/[\r\n\t]+/g, " ")
    .replaceAll(invisible, "")
    .replaceAll(/[*_]{2}|`{1,3}|^#+\s*/g, "")
    .replaceAll(/\{(?=\{)/g, "{ ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Returns a text without the tables of Markdown, which lose their meaning on one line. */
function withoutTables(text: string): string {
  const lines = text.split("\n");
  const isRule = (line = "") => line.includes("|") && line.includes("--") && /^[-:| \t\r]+$/.test(line);
  const kept: string[] = [];
  let isInside = false;
  for (const [index, line] of lines.entries()) {
    const isRow = line.includes("|");
    isInside = isRow && (isInside || isRule(lines[index + 1]));
    if (!isInside) kept.push(line);
  }
  return kept.join("\n");
}

function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const cut = text.slice(0, lengthMax - 3);
  const sentence = cut.lastIndexOf(". ");
  if (sentence > lengthMax / 2) return cut.slice(0, sentence + 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), lengthMax / 2)).toWellFormed()}...`;
}

/**
 * Patterns of suspicious texts. Such a text gives orders to the AI model that reads a tool's description, or hides data in a long encoded
 * part.
 */
const orders = [
  /\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|prompts?|rules|messages?|context)\b/i,
  /\b(?:do not|don't|never)\s+(?:tell|inform|mention|reveal|show|ask)\b.{0,40}\b(?:user|human|person|anyone)\b/i,
  /<\s*\/?\s*(?:important|system|instructions?|assistant|secret)\s*>/i,
  /\b(?:system prompt|you are an? (?:ai|assistant|agent|language model))\b/i,
  /[A-Za-z0-9+/]{200,}={0,2}/,
];

function isFlagged(value: string): boolean {
  const text = value.slice(0, 20_000);
  return orders.some((form) => form.test(text)) || /[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u.test(text);
}

const germanLetters: Readonly<Record<string, string>> = {
  ä: "ae",
  ö: "oe",
  ü: "ue",
  Ä: "Ae",
  Ö: "Oe",
  Ü: "Ue",
  ß: "ss",
  ẞ: "SS",
};

/** Returns a text with letters of ASCII: ü becomes ue, and an accent is left out. Letters of other scripts stay. */
function asciiLetters(text: string): string {
  const german = text.normalize("NFC").replaceAll(/[äöüÄÖÜßẞ]/g, (letter) => germanLetters[letter] ?? letter);
  return german.normalize("NFKD").replaceAll(/\p{M}/gu, "");
}

/** Returns the words of an operation's or field's name in lower case: `repos/listForOrg` gives `repos`, `list`, `for`, `org`. */
export function wordsOf(name: string): string[] {
  const split = asciiLetters(name.slice(0, 500))
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2");
  return split.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

/**
 * Returns a name in snake case (`list_for_org`) that begins with a letter. Returns an empty text if the given text has no letter or digit.
 */
export function snakeCase(text: string): string {
  const name = wordsOf(text).join("_");
  return /^\d/.test(name) ? `n${name}` : name;
}

/**
 * Returns a function that tests if a text matches `pattern`, in which `*` matches any characters. Upper and lower case count as the same.
 */
export function globOf(pattern: string): (text: string) => boolean {
  const pieces = pattern.toLowerCase().split("*");
  return (text) => {
    const given = text.toLowerCase();
    const [first = "", ...others] = pieces;
    const last = others.pop();
    if (last === undefined) return given === first;
    if (!given.startsWith(first)) return false;
    let at = first.length;
    for (const piece of others) {
      const found = given.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return given.length - last.length >= at && given.endsWith(last);
  };
}
