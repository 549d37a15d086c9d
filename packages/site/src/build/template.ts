import { addressOf, linkBetween } from "./addresses.ts";
import type { Heading } from "./markdown.ts";
import type { NavigationEntry } from "./navigation.ts";

/** Files of the browser code, by purpose. Paths are relative to the root of the site. */
export type ClientFiles = Readonly<Record<"style" | "theme" | "script" | "icon" | "index", string>>;

/** Content of a page. */
export type PageParts = {
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly navigation: readonly NavigationEntry[];
  readonly files: ClientFiles;
  /**
   * The repository file of the page, and the URL to edit this file. `source` is undefined for a page without a file. `editUrl` is undefined
   * for a file without such a URL.
   */
  readonly source: { readonly file: string; readonly editUrl: string | undefined } | undefined;
  readonly before: { readonly path: string; readonly label: string } | undefined;
  readonly next: { readonly path: string; readonly label: string } | undefined;
};

/** Returns the HTML document of a page. */
export function writePage(parts: PageParts): string {
  const { path, title, summary, html, files, source } = parts;
  const to = (address: string) => escaped(linkBetween(path, address));
  const isHome = path === "index";
  return `<!doctype html>
<html lang="en" data-root="${to("")}" data-index="${files.index}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(isHome ? "svc documentation" : `${title} · svc`)}</title>
<meta name="description" content="${escaped(summary)}">
<link rel="icon" href="${to(files.icon)}">
<link rel="stylesheet" href="${to(files.style)}">
<script src="${to(files.theme)}"></script>
<script type="module" src="${to(files.script)}"></script>
${source === undefined ? "" : `<link rel="alternate" type="text/markdown" href="${to(`${path}.md`)}">\n`}</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<button type="button" class="menu" popovertarget="pages">Pages</button>
<a class="name" href="${to("")}">svc <span>documentation</span></a>
<button type="button" class="search" data-search hidden><span>Search</span><kbd>/</kbd></button>
<button type="button" class="theme" data-theme-switch hidden>Dark</button>
</header>
<div class="frame">
<nav id="pages" popover aria-label="Pages">${entriesHtml(parts.navigation, path)}</nav>
<main id="content" tabindex="-1">
<article>
${html}</article>
${footHtml(parts)}</main>
${contentsHtml(parts.headings)}</div>
</body>
</html>
`;
}

function entriesHtml(entries: readonly NavigationEntry[], current: string): string {
  return `<ul>${entries.map((entry) => `<li>${entryHtml(entry, current)}</li>`).join("")}</ul>`;
}

/**
 * Returns the HTML of an entry in the site's navigation. The pages of a folder are shown only if the current page is in that folder,
 * because some folders have hundreds of pages. A folder without an index page always shows them.
 */
function entryHtml({ label, path, entries }: NavigationEntry, current: string): string {
  const isCurrent = path === current;
  const mark = isCurrent ? ' aria-current="page"' : "";
  const own = path === undefined ? `<span>${escaped(label)}</span>` : linkHtml(path, label, current, mark);
  const isOpen = path === undefined || isCurrent || isWithin(entries, current);
  return `${own}${entries.length > 0 && isOpen ? entriesHtml(entries, current) : ""}`;
}

function isWithin(entries: readonly NavigationEntry[], current: string): boolean {
  return entries.some(({ path, entries: below }) => path === current || isWithin(below, current));
}

function linkHtml(path: string, label: string, current: string, attributes = ""): string {
  return `<a href="${escaped(linkBetween(current, addressOf(path)))}"${attributes}>${escaped(label)}</a>`;
}

function contentsHtml(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ level, text, anchor }) => `<li class="level-${level}"><a href="#${escaped(anchor)}">${escaped(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${items.join("")}</ul></nav>\n`;
}

function footHtml({ path, source, before, next }: PageParts): string {
  if (source === undefined) return "";
  const { file, editUrl } = source;
  const edit =
    editUrl === undefined
      ? `<code>${escaped(file)}</code> in the repository`
      : `<a href="${escaped(editUrl)}" rel="noreferrer">Edit this page</a>`;
  const markdown = `<a href="${escaped(linkBetween(path, `${path}.md`))}">This page as Markdown</a>`;
  const ways = [
    ...(before === undefined ? [] : [`<span>Before: ${linkHtml(before.path, before.label, path)}</span>`]),
    ...(next === undefined ? [] : [`<span>Next: ${linkHtml(next.path, next.label, path)}</span>`]),
  ];
  return `<footer><p class="ways">${ways.join("")}</p><p>${edit} · ${markdown}</p></footer>\n`;
}

/** Returns a text with HTML characters escaped. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
