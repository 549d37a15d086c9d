import { keptNames } from "../session/kept-names.ts";
import { parseSearch } from "./search-params.ts";

const storedAs = keptNames.filters;
/** Parameters of the moment rather than of a habit: times, the open row, and dialogs. */
const momentary = ["open", "since", "until", "start", "dialog", "connect", "for", "like"];

function read(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(storedAs) ?? "{}") as Record<string, string>;
  } catch {
    // Storage is off: filters are kept while the page is open.
    return {};
  }
}

let kept = read();

let shown: { readonly path: string; readonly search: string } | undefined;

/**
 * Stores the filters that the user chose on a list, by the path of its page. Filters that came with the address, from a link for example,
 * are not stored until the user changes them.
 */
export function keepFilters(path: string, search: string): void {
  const isChange = shown?.path === path && shown.search !== search;
  shown = { path, search };
  if (!isChange) return;
  kept = { ...kept, [path]: search };
  try {
    localStorage.setItem(storedAs, JSON.stringify(kept));
  } catch {
    // Storage is off, as above.
  }
}

/** Parameters of a page that do not remove rows. */
const noFilters = ["tab", "live", "table"];

/** True if parameters of a page remove rows from it: a tab does not. */
export function areFilters(search: Record<string, string>): boolean {
  return Object.keys(search).some((name) => !noFilters.includes(name));
}

/** Returns the last filters of a list, without those of the moment, such as the open row. */
export function lastFilters(path: string): Record<string, string> {
  const search = parseSearch(kept[path] ?? "");
  return Object.fromEntries(Object.entries(search).filter(([name]) => !momentary.includes(name)));
}
