import type { ToolkitIndex } from "./toolkit-index.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { wordsOf } from "./words.ts";

/** The share of its score that a tool keeps if it belongs to another kind of app than the named one. */
const otherKindShare = 0.55;
/** Words of a query that are looked at: more are rarely a request. */
const wordsMax = 60;

/** The names of each kind of app in plain words, by a word of the slugs of its toolkits. */
const kinds: readonly { readonly slug: string; readonly name: string }[] = Object.entries(vocabulary.kinds).flatMap(
  ([slug, names]) => names.split(", ").map((name) => ({ slug, name })),
);
const before: readonly string[] = vocabulary.beforeKinds.split(", ");
const articles: ReadonlySet<string> = new Set(vocabulary.articles);

/**
 * Returns the share of its score that a tool keeps by its toolkit. An app's kind is named at the beginning (`wiki page 12: …`), at the end, or
 * behind a preposition (`in the CRM`), in any of the languages; elsewhere its words are what is wanted.
 */
export function kindShareOf(text: string, toolkits: readonly ToolkitIndex[]): (index: ToolkitIndex) => number {
  const words = wordsOf(text).slice(0, wordsMax);
  const said = ` ${words.filter((word) => !articles.has(word)).join(" ")} `;
  const named = new Set(kinds.flatMap(({ slug, name }) => (isNamed(said, name) ? [slug] : [])));
  const meant = new Set(toolkits.filter(({ toolkitSlug }) => isOfKind(toolkitSlug, named)));
  return (index) => (meant.size === 0 || meant.has(index) ? 1 : otherKindShare);
}

function isNamed(said: string, name: string): boolean {
  const spaced = ` ${name} `;
  if (!said.includes(spaced)) return false;
  return (
    said.startsWith(spaced) ||
    said.endsWith(spaced) ||
    before.some((preposition) => said.includes(` ${preposition}${spaced}`))
  );
}

function isOfKind(toolkitSlug: string, named: ReadonlySet<string>): boolean {
  if (named.size === 0) return false;
  const words = toolkitSlug.split("_");
  return named.has(words.join(" ")) || words.some((word) => named.has(word));
}
