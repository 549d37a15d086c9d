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

/** Whether the page is as narrow as a phone (under 720 px): cards stand in place of grids, and a bar at the bottom. */
export function useIsPhone(): boolean {
  return useMedia("(max-width: 719px)");
}

/** Whether what is pressed must be large, since it is pressed with a finger. */
export function useIsCoarse(): boolean {
  return useMedia("(pointer: coarse)");
}

/** Which colours the page is in, `light` or `dark`: for what is drawn by a script. */
export function useTheme(): "light" | "dark" {
  const { theme } = usePreferences();
  const systemIsDark = useMedia("(prefers-color-scheme: dark)");
  if (theme !== "system") return theme;
  return systemIsDark ? "dark" : "light";
}

/** Whether somebody can see the tab. */
export function useIsVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener("visibilitychange", listener);
      return () => document.removeEventListener("visibilitychange", listener);
    },
    () => document.visibilityState === "visible",
  );
}
