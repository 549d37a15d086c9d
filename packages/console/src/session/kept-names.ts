/**
 * Names under which this browser stores what the user did on the pages. Signing out clears all of them; preferences of the browser stay.
 */
export const keptNames = {
  answeredAs: "svc-answer-as",
  filters: "svc-last-filters",
  input: "svc-last-input",
} as const;

/** Clears it. An open page loses what it has read when it is closed. */
export function forgetKept(): void {
  try {
    for (const name of Object.values(keptNames)) localStorage.removeItem(name);
  } catch {
    // Storage is off: nothing was stored.
  }
}
