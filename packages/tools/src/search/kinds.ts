import type { ToolkitIndex } from "./toolkit-index.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { wordsOf } from "./words.ts";

/** Share of its score that a tool keeps if the query names another kind of app than the tool's. */
const otherKindShare = 0.55;
/** Maximum words of a query that are read. Longer texts are rarely requests. */
const wordsMax = 60;

/** Names of the kinds of apps, such as wiki or CRM. `slug`: a word that the slugs of such apps contain. */
const kinds: readonly { readonly slug: string; readonly name: string }[] = Object.entries(vocabulary.kinds).flatMap(
  ([slug, names]) => names.split(", ").map((name) => ({ slug, name })),
);
const before: readonly string[] = vocabulary.beforeKinds.split(", ");
const articles: ReadonlySet<string> = new Set(vocabulary.articles);

/**
 * Returns a function that gives a factor for the scores of a toolkit's tools. If the query names a kind of app (for example `wiki`), the
 * factor is below 1 for toolkits of other kinds. In all other cases it is 1.
 * - The query names a kind of app if the kind's name is at the start (`wiki page 12: …`), at the end, or after a preposition (`in the
 *   CRM`), in any supported language.
 * - At every other position, the same word describes what the user wants, and not the app.
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
