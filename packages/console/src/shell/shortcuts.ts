import { useEffect, useRef } from "react";
import type { NavPage } from "./pages.ts";

/** What a shortcut asks for. */
export type Shortcut = { to: string } | "palette" | "filter" | "keys";

/** So long after `g` its letter may come. */
const chordMs = 1_500;

/**
 * What a key asks for; undefined for nothing. Ctrl or ⌘ K works anywhere. Single letters work in a focused list alone, and only where
 * they are not turned off. `afterG` says that `g` came right before; `pages` are where its letters lead.
 */
export function shortcutOf(
  { key, ctrlKey, metaKey, altKey }: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">,
  {
    inList,
    letters,
    afterG,
    pages,
  }: { inList: boolean; letters: boolean; afterG: boolean; pages: readonly Pick<NavPage, "to" | "letter">[] },
): Shortcut | undefined {
  if ((ctrlKey || metaKey) && !altKey) return key.toLowerCase() === "k" ? "palette" : undefined;
  if (!inList || !letters || altKey) return undefined;
  if (afterG) {
    const page = pages.find(({ letter }) => letter === key);
    return page?.to === undefined ? undefined : { to: page.to };
  }
  return key === "/" ? "filter" : key === "?" ? "keys" : undefined;
}

/** Calls `onShortcut` for the shortcuts of the whole page. */
export function useShortcuts(
  letters: boolean,
  pages: readonly NavPage[],
  onShortcut: (shortcut: Shortcut) => void,
): void {
  const handler = useRef(onShortcut);
  handler.current = onShortcut;
  useEffect(() => {
    let gAt = Number.NEGATIVE_INFINITY;
    const onKeyDown = (event: KeyboardEvent) => {
      const inList = isInList(event.target);
      const afterG = event.timeStamp - gAt < chordMs;
      const shortcut = shortcutOf(event, { inList, letters, afterG, pages });
      gAt = event.key === "g" && inList && !afterG ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (shortcut === undefined) return;
      event.preventDefault();
      handler.current(shortcut);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [letters, pages]);
}

function isInList(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return (
    target.closest("[role=grid], [role=list]") !== null && target.closest("input, textarea, select, button") === null
  );
}
