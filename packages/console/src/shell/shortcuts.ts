import { useEffect, useRef } from "react";
import type { NavPage } from "./pages.ts";

/** The target of a shortcut. */
export type Shortcut = { to: string } | "palette" | "filter" | "keys";

/** Time for the letter after `g`, in milliseconds. */
const chordMs = 1_500;

/**
 * Returns the shortcut of a key; undefined if it has none. Ctrl or ⌘ K works anywhere. Single letters work except in places where letters
 * are typed or choose an entry (`isTyping`), and only if they are turned on. `afterG` is true if `g` came right before; `pages` are the
 * targets of its letters.
 */
export function shortcutOf(
  { key, ctrlKey, metaKey, altKey }: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">,
  {
    isTyping,
    letters,
    afterG,
    pages,
  }: { isTyping: boolean; letters: boolean; afterG: boolean; pages: readonly Pick<NavPage, "to" | "letter">[] },
): Shortcut | undefined {
  if ((ctrlKey || metaKey) && !altKey) return key.toLowerCase() === "k" ? "palette" : undefined;
  if (isTyping || !letters || altKey) return undefined;
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
      const isTyping = takesLetters(event.composedPath()[0]);
      const afterG = event.timeStamp - gAt < chordMs;
      const shortcut = shortcutOf(event, { isTyping, letters, afterG, pages });
      gAt = event.key === "g" && !isTyping && !afterG ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (shortcut === undefined) return;
      event.preventDefault();
      handler.current(shortcut);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [letters, pages]);
}

/** Elements in which a letter is text, chooses an entry, or belongs to an open dialog. */
const takers =
  "input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=textbox], [role=combobox], [role=listbox], [role=menu], [role=dialog]";

function takesLetters(target: EventTarget | undefined): boolean {
  if (!(target instanceof Element)) return false;
  const root = target.getRootNode();
  return target.closest(takers) !== null || (root instanceof ShadowRoot && root.host.closest(takers) !== null);
}
