import { useSyncExternalStore } from "react";
import { usePreferences } from "../shell/preferences.ts";

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}

/** True if the page is as narrow as a phone (under 720 px). Lists then show cards instead of grids, and a bar appears at the bottom. */
export function useIsPhone(): boolean {
  return useMedia("(max-width: 719px)");
}

/**
 * True if the page is too narrow (up to 1180 px) for all columns of a list and for a navigation with names. The navigation then shows only
 * icons; on a phone it is a bar at the bottom.
 */
export function useIsNarrow(): boolean {
  return useMedia("(max-width: 1180px)");
}

/** True if the user's main pointer is a finger, so that buttons must be large. */
export function useIsCoarse(): boolean {
  return useMedia("(pointer: coarse)");
}

/** Returns the colour theme of the page, for components that draw with scripts. */
export function useTheme(): "light" | "dark" {
  const { theme } = usePreferences();
  const systemIsDark = useMedia("(prefers-color-scheme: dark)");
  if (theme !== "system") return theme;
  return systemIsDark ? "dark" : "light";
}

/** True while the page is printed. Lists then draw all their rows. */
export function useIsPrinted(): boolean {
  return useMedia("print");
}

/** True if the browser's tab is visible. */
export function useIsVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener("visibilitychange", listener);
      return () => document.removeEventListener("visibilitychange", listener);
    },
    () => document.visibilityState === "visible",
  );
}
