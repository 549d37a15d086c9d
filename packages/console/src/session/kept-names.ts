/** Where this browser keeps what somebody did on the pages, by what it is. All of it goes when they sign out; preferences of the browser stay. */
export const keptNames = {
  answeredAs: "svc-answer-as",
  filters: "svc-last-filters",
  input: "svc-last-input",
} as const;

/** Forgets it. What an open page has read of it goes with the page. */
export function forgetKept(): void {
  try {
    for (const name of Object.values(keptNames)) localStorage.removeItem(name);
  } catch {
    // Storage is off: nothing was kept.
  }
}
