import { useSyncExternalStore } from "react";
import { keptNames } from "../session/kept-names.ts";

/**
 * A filter of a list that the user saved under a name. `page`: the path of the list below its project, such as `deliveries`. `search`: the
 * search parameters of the page, with its range.
 */
export type SavedFilter = {
  readonly page: string;
  readonly name: string;
  readonly search: Readonly<Record<string, string>>;
};

/** Maximum number of saved filters of a project. */
const filtersMax = 100;
/** Maximum number of characters of a name. */
const nameMax = 60;

/** Parameters that filter no rows: the open row and dialogs. */
const momentary = new Set(["open", "start", "dialog", "connect", "for", "like"]);

type ByProject = Readonly<Record<string, readonly SavedFilter[]>>;

const none: readonly SavedFilter[] = [];
const listeners = new Set<() => void>();
let saved = read();

function read(): ByProject {
  try {
    return JSON.parse(localStorage.getItem(keptNames.savedFilters) ?? "{}") as ByProject;
  } catch {
    // The browser's storage is not available, so filters are kept only while the page is open.
    return {};
  }
}

// Listens also while no list is shown, so that a sign-out in another tab ends the filters of this tab.
globalThis.addEventListener?.("storage", ({ key }: StorageEvent) => {
  if (key !== keptNames.savedFilters && key !== null) return;
  saved = read();
  for (const listener of listeners) listener();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function write(projectId: string, filters: readonly SavedFilter[]): void {
  saved = { ...saved, [projectId]: filters };
  try {
    localStorage.setItem(keptNames.savedFilters, JSON.stringify(saved));
  } catch {
    // The browser's storage is not available, so filters are kept only while the page is open.
  }
  for (const listener of listeners) listener();
}

/** Returns the filters that the user saved in a project, in the order of their names. */
export function savedFilters(projectId: string): readonly SavedFilter[] {
  return saved[projectId] ?? none;
}

/** Returns the saved filters of a project, and draws the component again when they change, also in another tab. */
export function useSavedFilters(projectId: string): readonly SavedFilter[] {
  return useSyncExternalStore(subscribe, () => savedFilters(projectId));
}

/** Returns the search parameters that a saved filter keeps: all but those that are valid only for a moment, such as the open row. */
export function keptSearch(search: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      value === undefined || momentary.has(name) ? [] : [[name, value] as const],
    ),
  );
}

/** True if two filters of a list consist of the same search parameters with the same values. */
export function isSameSearch(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** Returns why a filter of a page cannot have a name. Undefined if it can. `renamed`: the filter's present name. */
export function nameFault(projectId: string, page: string, name: string, renamed?: string): string | undefined {
  const own = savedFilters(projectId);
  if (name.trim() === "") return "Enter a name.";
  if (name.trim().length > nameMax) return `The name has ${name.trim().length} characters; at most ${nameMax} fit.`;
  if (name.trim() !== renamed && own.some((one) => one.page === page && one.name === name.trim()))
    return "Another filter of this list has this name.";
  return renamed === undefined && own.length >= filtersMax
    ? `The project has ${filtersMax} saved filters. Delete one first.`
    : undefined;
}

/** Saves a filter of a list under its name. `renamed`: the earlier name of the filter, which is removed. */
export function saveFilter(projectId: string, filter: SavedFilter, renamed = filter.name): void {
  const others = savedFilters(projectId).filter(({ page, name }) => page !== filter.page || name !== renamed);
  write(
    projectId,
    [...others, filter].sort((a, b) => a.name.localeCompare(b.name)),
  );
}

/** Deletes a saved filter. */
export function deleteFilter(projectId: string, { page, name }: SavedFilter): void {
  write(
    projectId,
    savedFilters(projectId).filter((one) => one.page !== page || one.name !== name),
  );
}
