import hljs from "highlight.js/lib/common";
import http from "highlight.js/lib/languages/http";
import MarkdownIt, { type Token } from "markdown-it";

hljs.registerLanguage("http", http);

/** A heading of a page. */
export type Heading = { readonly level: number; readonly text: string; readonly anchor: string };

/** Text of a page from one heading to the next, or a table row that begins with a name. The text is plain, without Markdown. */
export type PagePassage = { readonly headings: readonly Heading[]; readonly text: string };

/**
 * A row of a table in a documentation page whose first cell is a name, such as that of an environment variable. `first` and `last` are the
 * indexes of its first and last token.
 */
type NamedRow = { readonly name: string; readonly first: number; readonly last: number };

/** A page after its Markdown was parsed. */
export type ParsedPage = {
  readonly title: string;
  /** The page's first paragraph as plain text. */
  readonly summary: string;
  readonly headings: readonly Heading[];
  readonly passages: readonly PagePassage[];
  /**
   * Returns the HTML of the documentation page. `linkTo` returns the web address for a link's target; undefined if the target is not
   * published.
   */
  render(linkTo: (target: string) => string | undefined): string;
};

/**
 * Returns the address of a link's target by calling `linkTo`, which the caller of `render` passed. Returns undefined if the target is not
 * published.
 */
function linkFrom(env: object | undefined, target: unknown): string | undefined {
  return (env as { linkTo: (target: string) => string | undefined }).linkTo(String(target ?? ""));
}

const markdown = new MarkdownIt({ html: true, highlight });

function highlight(code: string, language: string): string {
  return hljs.getLanguage(language) === undefined ? "" : hljs.highlight(code, { language }).value;
}

const { rules } = markdown.renderer;
const { fence, image } = rules;
rules["fence"] = (tokens, index, ...rest) => `<div class="code">${fence?.(tokens, index, ...rest)}</div>\n`;
rules["table_open"] = () => '<div class="table"><table>\n';
rules["table_close"] = () => "</table></div>\n";
rules["html_block"] = rules["html_inline"] = (tokens, index) =>
  (tokens[index]?.content ?? "").replace(/<!--[\s\S]*?-->\n?/g, "");
rules["image"] = (tokens, index, settings, env, self) => {
  const token = tokens[index];
  token?.attrSet("src", linkFrom(env, token.attrGet("src")) ?? "");
  token?.attrSet("loading", "lazy");
  return image?.(tokens, index, settings, env, self) ?? "";
};
rules["link_open"] = (tokens, index, settings, env, self) => {
  const token = tokens[index];
  const link = linkFrom(env, token?.attrGet("href"));
  if (token === undefined || link === undefined) return "<span>";
  token.attrSet("href", link);
  if (/^https?:/.test(link)) token.attrSet("rel", "noreferrer");
  return self.renderToken(tokens, index, settings);
};
// Returns the closing tag of a link. If the link's target is not published, the link was opened as a span, so it must close as a span.
rules["link_close"] = (tokens, index, _settings, env) => {
  const opening = tokens.slice(0, index).findLast(({ type }) => type === "link_open");
  return linkFrom(env, opening?.meta?.["target"]) === undefined ? "</span>" : "</a>";
};

/** Parses a page. Throws if the page has no title. */
export function parsePage(source: string): ParsedPage {
  const tokens = markdown.parse(source, {});
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === "link_open") token.meta = { target: token.attrGet("href") };
  }
  const headings = placeAnchors(tokens);
  const rows = placeRowAnchors(tokens);
  const title = headings.find(({ level }) => level === 1)?.text;
  if (title === undefined) throw new Error("a page begins with a title: # Title");
  const opening = tokens.findIndex(({ type, level }) => type === "paragraph_open" && level === 0);
  return {
    ...{ title, headings },
    summary: plainOf(tokens.slice(opening, opening + 2)),
    passages: passagesOf(tokens, headings, rows),
    render: (linkTo) => markdown.renderer.render(tokens, markdown.options, { linkTo }),
  };
}

/**
 * Returns the page's headings. Gives each heading the same anchor that code hosts such as GitHub make from its text, so that links to
 * sections work at both places.
 */
function placeAnchors(tokens: readonly Token[]): Heading[] {
  const counts = new Map<string, number>();
  return tokens.flatMap((token, index) => {
    if (token.type !== "heading_open") return [];
    const text = plainOf(tokens.slice(index + 1, index + 2));
    const plain = anchorOf(tokens[index + 1]?.content ?? "");
    const count = counts.get(plain) ?? 0;
    counts.set(plain, count + 1);
    const anchor = count === 0 ? plain : `${plain}-${count}`;
    token.attrSet("id", anchor);
    return [{ level: Number(token.tag.slice(1)), text, anchor }];
  });
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/**
 * Returns the table rows that begin with the name of an error reason, a variable or a metric. Gives each of these rows an anchor, because
 * readers search for such names.
 */
function placeRowAnchors(tokens: readonly Token[]): NamedRow[] {
  return tokens.flatMap((token, first) => {
    const [, name] = /^`([A-Z][A-Z_]{3,}|svc_\w+)`$/.exec(tokens[first + 2]?.content ?? "") ?? [];
    if (token.type !== "tr_open" || name === undefined) return [];
    token.attrSet("id", name.toLowerCase());
    const last = tokens.findIndex(({ type }, index) => index > first && type === "tr_close");
    return [{ name, first, last }];
  });
}

function passagesOf(tokens: readonly Token[], headings: readonly Heading[], rows: readonly NamedRow[]): PagePassage[] {
  const starts = tokens.flatMap(({ type }, index) => (type === "heading_open" ? [index] : []));
  return starts.flatMap((start, place) => {
    const end = starts[place + 1] ?? tokens.length;
    const above: Heading[] = [];
    for (const heading of headings.slice(0, place + 1)) {
      while ((above.at(-1)?.level ?? 0) >= heading.level) above.pop();
      above.push(heading);
    }
    const within = rows.filter(({ first }) => first > start && first < end);
    const isRow = (index: number) => within.some(({ first, last }) => index >= first && index <= last);
    const text = plainOf(tokens.slice(start + 3, end).filter((_, index) => !isRow(start + 3 + index)));
    const named = within.map(({ name, first, last }) => ({
      headings: [...above, { level: 7, text: name, anchor: name.toLowerCase() }],
      text: plainOf(tokens.slice(first + 5, last)),
    }));
    return [{ headings: above, text }, ...named];
  });
}

/** Returns the plain text of parsed Markdown (tokens). */
function plainOf(tokens: readonly Token[]): string {
  const parts = tokens.flatMap(({ type, content, children }) => {
    if (type === "fence" || type === "code_block") return [content];
    return type === "inline" ? [(children ?? []).map(spokenOf).join("")] : [];
  });
  return parts.join(" ").replace(/\s+/g, " ").trim();
}

function spokenOf({ type, content }: Token): string {
  if (type === "softbreak" || type === "hardbreak") return " ";
  return type === "html_inline" ? "" : content;
}
