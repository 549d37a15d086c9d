import { useSyncExternalStore } from "react";
import type { Zone } from "../words/time.ts";

/** The settings of this browser, which are stored only here. */
export type Preferences = { theme: "system" | "light" | "dark"; zone: Zone; shortcuts: boolean };

const storedAs = "svc-preferences";
const defaults: Preferences = { theme: "system", zone: "local", shortcuts: true };
const listeners = new Set<() => void>();
let current = read();

function read(): Preferences {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(storedAs) ?? "{}") as Partial<Preferences>) };
  } catch {
    // Storage is off: the settings last as long as the page.
    return defaults;
  }
}

/** Changes settings and stores them. */
export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(storedAs, JSON.stringify(current));
  } catch {
    // Storage is off, as above.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

/** Sets the theme of the document. Called once before drawing starts. */
export function applyTheme(): void {
  if (current.theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = current.theme;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The settings, kept current. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}
