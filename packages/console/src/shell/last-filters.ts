import { keptNames } from "../session/kept-names.ts";
import { parseSearch } from "./search-params.ts";

const storedAs = keptNames.filters;
/** Parameters that are valid only for a moment (times, the open row, dialogs). They are not stored with the user's filters. */
const momentary = ["open", "since", "until", "start", "dialog", "connect", "for", "like"];

function read(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(storedAs) ?? "{}") as Record<string, string>;
  } catch {
    // The browser's storage is not available, so filters are kept only while the page is open.
    return {};
  }
}

let kept = read();

let shown: { readonly path: string; readonly search: string } | undefined;

/**
 * Stores the filters that the user chose on a list, by the path of its page. Filters from an opened address (for example a link) are stored
 * only after the user changes them.
 */
export function keepFilters(path: string, search: string): void {
  const isChange = shown?.path === path && shown.search !== search;
  shown = { path, search };
  if (!isChange) return;
  kept = { ...kept, [path]: search };
  try {
    localStorage.setItem(storedAs, JSON.stringify(kept));
  } catch {
    // The browser's storage is not available, so the filters are kept only while the page is open.
  }
}

/** Parameters of a page that hide no rows. */
const noFilters = ["tab", "live", "table"];

/**
 * True if at least one parameter of the address is a filter, so that the page hides rows. A parameter that selects a tab, for example, is
 * not a filter.
 */
export function areFilters(search: Record<string, string>): boolean {
  return Object.keys(search).some((name) => !noFilters.includes(name));
}

/** Returns the user's last filters of a list, without parameters that are valid only for a moment (for example the open row). */
export function lastFilters(path: string): Record<string, string> {
  const search = parseSearch(kept[path] ?? "");
  return Object.fromEntries(Object.entries(search).filter(([name]) => !momentary.includes(name)));
}
