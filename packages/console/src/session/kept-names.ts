/**
 * Names under which the browser's storage keeps what the user did on the pages (for example filters and input). Signing out deletes this
 * data. Preferences of the browser stay.
 */
export const keptNames = {
  answeredAs: "svc-answer-as",
  filters: "svc-last-filters",
  input: "svc-last-input",
  savedFilters: "svc-saved-filters",
} as const;

/** Deletes the data under all `keptNames` from the browser's storage. An open page still has the data in its memory. */
export function forgetKept(): void {
  try {
    for (const name of Object.values(keptNames)) localStorage.removeItem(name);
  } catch {
    // The browser's storage is not available, so there is nothing to delete.
  }
}
