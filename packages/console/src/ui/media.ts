import { useSyncExternalStore } from "react";

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
