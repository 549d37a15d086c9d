import { useEffect, useRef } from "react";
import type { NavPage } from "./pages.ts";

/** The effect of a keyboard shortcut: it opens the page `to`, or does one of the named actions. */
export type Shortcut = { to: string } | "palette" | "filter" | "keys";

/** Time in milliseconds in which the letter must follow `g`. */
const chordMs = 1_500;

/**
 * Returns the shortcut of a pressed key; undefined if the key has none. `isTyping`: the user types in a field or chooses from a list.
 * `letters`: shortcuts with single keys are turned on. `afterG`: the key before was `g`. `pages`: the pages that letters after `g` open.
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

/** Calls `onShortcut` when the user presses a shortcut on the page. */
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

/**
 * CSS selector of elements in which a pressed letter has a meaning: text fields, lists of entries, and open dialogs. The console's
 * shortcuts ignore letters there.
 */
const takers =
  "input, textarea, select, [contenteditable]:not([contenteditable=false]), [role=textbox], [role=combobox], [role=listbox], [role=menu], [role=dialog]";

function takesLetters(target: EventTarget | undefined): boolean {
  if (!(target instanceof Element)) return false;
  const root = target.getRootNode();
  return target.closest(takers) !== null || (root instanceof ShadowRoot && root.host.closest(takers) !== null);
}
