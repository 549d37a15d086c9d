// Counts texts that are hard to read at first sight (AGENTS.md, "Texts"): doc comments and prose in strings of each package, comments of
// the contract, help of the command line, and docs. Fails if a count is above its limit in scripts/word-limits.json.
// `node_modules/.bin/node scripts/check-words.mjs [--list PATTERN [GROUP]] [--lower]`: `--list` prints the texts that match a pattern,
// `--lower` writes counts that have fallen as the new limits.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/** Patterns for wordings that are hard to read, by name. `comments`: true if only comments are searched. */
const patterns = {
  "question word first": { expression: /^(?:What|Whether|Where|Who|Which|Whose|Whom)\b(?!.*\?$)/, comments: true },
  "nobody, whoever": { expression: /\b(?:nobody|somebody|anybody|whoever|whatever|whichever)\b/i },
  stands: { expression: /\bstands?\b(?! (?:for|alone|by)\b)/ },
  "tells, told": { expression: /\b(?:tells?|told)\b(?!-)/ },
  "beside, anew": { expression: /\b(?:beside|anew|hence|thereof|thereby|wherein)\b/i },
  "is no, is none": { expression: /(?<![Tt]here )\b(?:is|are) (?:none|no)\b(?! longer)/ },
  "goes on": { expression: /\bgo(?:es)? on\b/ },
  "over 30 words": { sentence: 30 },
};

/** Returns a text on one line, in which each piece of code and each address is replaced by one word. */
function plain(text) {
  return text
    .replace(/`[^`]*`/g, "code")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}

/** Returns the doc comments of a source file. */
function commentsOf(text) {
  return [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(([, body = ""]) => plain(body.replace(/^\s*\* ?/gm, "")));
}

/** Returns the prose of a source file: strings, and texts between tags, of four words or more. */
function proseOf(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/.*$/gm, "");
  const strings = [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`|>([^<>{}=;]+)</g)];
  return strings
    .map(([, double, template, between]) =>
      plain((double ?? template ?? between ?? "").replace(/\$\{[^}]*\}/g, "code")),
    )
    .filter(
      (string) =>
        /^(?:[\w'’"(]+[,;:.?!")]* ){3}/.test(string) && !/^(?:select|insert|update|delete|with) /i.test(string),
    );
}

/** Returns the comments of a contract file: each group of consecutive `//` lines. */
function contractCommentsOf(text) {
  return [...text.matchAll(/(?:^[ \t]*\/\/.*\n)+/gm)].map(([lines]) => plain(lines.replace(/^[ \t]*\/\/ ?/gm, "")));
}

/** Returns the paragraphs and list items of a page or help text, without code, tables and headings. */
function paragraphsOf(text) {
  return text
    .replace(/^```[\s\S]*?^```/gm, "")
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .filter((paragraph) => !/^\s*(?:[#|>]|<!--)/.test(paragraph))
    .map(plain)
    .filter((paragraph) => paragraph !== "");
}

function hasPattern(text, { expression, sentence }) {
  if (expression !== undefined) return expression.test(text);
  return text.split(/(?<!\be\.g|\bi\.e)[.:;?!]+\)? |(?:^|\s)[-*•] /).some((part) => part.split(" ").length > sentence);
}

/**
 * Returns the texts of a help: its paragraphs, and the description in each row of its lists, without the command, option or variable before
 * it.
 */
function helpTextsOf(text) {
  return text
    .replace(/^(?:[A-Z]\w*:|Usage: .*)$/gm, "\n")
    .split(/\n\s*\n|\n(?= {2}\S)/)
    .filter((row) => !/^\s*(?:svc|npx|curl|generate-definition) /.test(row))
    .map((row) => plain(row.replace(/^ {2}\S.*? {2,}(?=\S)/, "")))
    .filter((row) => row !== "");
}

/** Where texts come from: the files, the group for which a file's texts are counted, and the function that reads them. */
const kinds = [
  {
    files: "packages/*/src/**/*.{ts,tsx}",
    groupOf: (path) => `${path.split(/[\\/]/)[1]} comments`,
    textsOf: commentsOf,
    isComment: true,
  },
  {
    files: "packages/*/src/**/*.{ts,tsx}",
    groupOf: (path) => `${path.split(/[\\/]/)[1]} texts`,
    textsOf: proseOf,
    skip: /\.test\.tsx?$|[\\/]test-[^\\/]*$|^packages.testing/,
  },
  { files: "proto/svc/v1/*.proto", groupOf: () => "contract", textsOf: contractCommentsOf, isComment: true },
  { files: "test/golden/help/**/*.txt", groupOf: () => "help", textsOf: helpTextsOf },
  { files: "{README,CONTRIBUTING,AGENTS,CHANGELOG}.md", groupOf: () => "docs", textsOf: paragraphsOf },
  { files: "docs/**/*.md", groupOf: () => "docs", textsOf: paragraphsOf },
];

/** Returns all texts, by the group whose limits apply to them. */
function readGroups() {
  const groups = new Map();
  for (const { files, groupOf, textsOf, isComment = false, skip } of kinds) {
    for (const path of globSync(files, { cwd: root })) {
      if (skip?.test(path)) continue;
      const texts = textsOf(readFileSync(join(root, path), "utf8")).map((text) => ({ path, text, isComment }));
      groups.set(groupOf(path), [...(groups.get(groupOf(path)) ?? []), ...texts]);
    }
  }
  return new Map([...groups].toSorted(([a], [b]) => a.localeCompare(b)));
}

/** Returns the texts of a group that match a pattern. */
function matchesOf(texts, { comments = false, ...pattern }) {
  return texts.filter(({ text, isComment }) => (isComment || !comments) && hasPattern(text, pattern));
}

function list(groups, name, only) {
  for (const [group, texts] of groups) {
    if (only !== undefined && !group.startsWith(only)) continue;
    for (const { path, text } of matchesOf(texts, patterns[name]))
      process.stdout.write(`${path}: ${text.slice(0, 200)}\n`);
  }
}

/** Prints the counts. Returns a sentence for each count that is above its limit. */
function compare(groups, limits, counts) {
  const above = [];
  for (const [group, texts] of groups) {
    const found = Object.entries(patterns).map(([name, pattern]) => [name, matchesOf(texts, pattern).length]);
    counts[group] = { texts: texts.length, ...Object.fromEntries(found) };
    process.stdout.write(
      `${group.padEnd(22)}${[texts.length, ...found.map(([, count]) => count)].map((count) => String(count).padStart(6)).join("")}\n`,
    );
    for (const [name, count] of found) {
      const limit = limits[group]?.[name] ?? 0;
      if (count > limit)
        above.push(
          `${group}: "${name}" ${count} times, at most ${limit}: scripts/check-words.mjs --list "${name}" "${group}"`,
        );
    }
  }
  return above;
}

const limitsPath = join(root, "scripts", "word-limits.json");
const options = process.argv.slice(2);
const groups = readGroups();
if (options[0] === "--list") {
  list(groups, options[1], options[2]);
} else {
  const counts = {};
  process.stdout.write(`columns: texts, ${Object.keys(patterns).join(", ")}\n`);
  const above = compare(groups, JSON.parse(readFileSync(limitsPath, "utf8")), counts);
  if (options[0] === "--lower") writeFileSync(limitsPath, `${JSON.stringify(counts, undefined, 2)}\n`);
  else process.stdout.write(above.map((line) => `${line}\n`).join(""));
  process.exitCode = options[0] !== "--lower" && above.length > 0 ? 1 : 0;
}
