import { useSyncExternalStore } from "react";
import type { Zone } from "../words/time.ts";

/** The user's settings. Only this browser stores them. */
export type Preferences = {
  theme: "system" | "light" | "dark";
  zone: Zone;
  shortcuts: boolean;
  /** True if the user has hidden the first steps of Home. */
  hidesStart: boolean;
  /** The aim of the user, which orders the first steps of Home. */
  aim: Aim;
};

/** The aim of a user: to receive webhooks, to give tools to an agent, to automate work, or to run svc for a team. */
export type Aim = "webhooks" | "agent" | "automate" | "team";

const storedAs = "svc-preferences";
const defaults: Preferences = {
  ...{ theme: "system", zone: "local", shortcuts: true },
  ...{ hidesStart: false, aim: "webhooks" },
};
const listeners = new Set<() => void>();
let current = read();

function read(): Preferences {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(storedAs) ?? "{}") as Partial<Preferences>) };
  } catch {
    // The browser's storage is not available, so the settings last only while the page is open.
    return defaults;
  }
}

/** Changes some of the user's settings, and stores all of them in this browser. */
export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(storedAs, JSON.stringify(current));
  } catch {
    // The browser's storage is not available, so the settings last only while the page is open.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

/** Sets the theme of the document. The console calls it once before it draws the first page. */
export function applyTheme(): void {
  if (current.theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = current.theme;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the time zone in which the console shows times. */
export function shownZone(): Zone {
  return current.zone;
}

/** Returns the settings, and updates the component when they change. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current);
}
