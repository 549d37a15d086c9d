import { keptNames } from "../session/kept-names.ts";
import { parseSearch } from "./search-params.ts";

const storedAs = keptNames.filters;
/** What is of a moment and not of a habit: times, what was open beside a list, and dialogs. */
const momentary = ["open", "since", "until", "start", "dialog", "connect", "for", "like"];

function read(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(storedAs) ?? "{}") as Record<string, string>;
  } catch {
    // Storage is off: filters are kept for as long as the page is open.
    return {};
  }
}

let kept = read();

let shown: { readonly path: string; readonly search: string } | undefined;

/**
 * Keeps the filters that a person chose on a list, by the path of its page. Filters that the page was opened with, by a link for
 * example, are not kept until they are changed there.
 */
export function keepFilters(path: string, search: string): void {
  const isChange = shown?.path === path && shown.search !== search;
  shown = { path, search };
  if (!isChange) return;
  kept = { ...kept, [path]: search };
  try {
    localStorage.setItem(storedAs, JSON.stringify(kept));
  } catch {
    // As above.
  }
}

/** What of a page's parameters leaves no row of it out. */
const noFilters = ["tab", "live", "table"];

/** Whether parameters of a page leave rows of it out: a tab does not. */
export function areFilters(search: Record<string, string>): boolean {
  return Object.keys(search).some((name) => !noFilters.includes(name));
}

/** The filters that a list was last left with; those of a moment, such as what was open, left out. */
export function lastFilters(path: string): Record<string, string> {
  const search = parseSearch(kept[path] ?? "");
  return Object.fromEntries(Object.entries(search).filter(([name]) => !momentary.includes(name)));
}
