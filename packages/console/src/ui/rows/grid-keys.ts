import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from "react";

/** The effect of a pressed key in a list: for example, to move to another row or to open a row. */
export type GridAct =
  | { act: "move"; to: number }
  | { act: "open" }
  | { act: "panel" }
  | { act: "copy" }
  | { act: "select" }
  | { act: "close" };

/** Number of rows by which Page Up and Page Down move. */
const pageRows = 10;

/**
 * Returns the effect of a pressed key in a list; undefined if the key has no effect. `at`: index of the row with the focus. `count`: number
 * of rows. Letters work only if `letters` is true. Users can turn letters off, because speech recognition may type letters by accident.
 */
export function gridAct(key: string, at: number, count: number, letters: boolean): GridAct | undefined {
  const move = (to: number): GridAct => ({ act: "move", to: Math.min(count - 1, Math.max(0, to)) });
  switch (key) {
    case "ArrowDown":
      return move(at + 1);
    case "ArrowUp":
      return move(at - 1);
    case "PageDown":
      return move(at + pageRows);
    case "PageUp":
      return move(at - pageRows);
    case "Home":
      return move(0);
    case "End":
      return move(count - 1);
    case "Enter":
      return { act: "open" };
    case "Escape":
      return { act: "close" };
    case " ":
      return { act: "select" };
    default:
      return letters ? letterAct(key, at, move) : undefined;
  }
}

function letterAct(key: string, at: number, move: (to: number) => GridAct): GridAct | undefined {
  switch (key) {
    case "j":
      return move(at + 1);
    case "k":
      return move(at - 1);
    case "o":
      return { act: "panel" };
    case "c":
      return { act: "copy" };
    case "x":
      return { act: "select" };
    default:
      return undefined;
  }
}

/**
 * Properties that keep the focus inside a list. `row`: ref for the active row. `onFocus`, `onBlur`: handlers for the element around the
 * list and its buttons.
 */
type KeptFocus = {
  row: RefObject<HTMLDivElement | null>;
  onFocus: (event: FocusEvent<HTMLElement>) => void;
  onBlur: () => void;
};

/** Keeps the keyboard focus in a list whose rows appear and disappear. If the focused element is removed, the active row gets the focus. */
export function useKeptFocus(): KeptFocus {
  const row = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLElement>(undefined);
  // Gives the focus to the active row if the element with the focus was removed. It does so after every render, before the browser handles
  // the next event. Otherwise a key pressed at that moment would go to the page instead of the list.
  useLayoutEffect(() => {
    const held = holder.current;
    if (held === undefined || held === row.current) return;
    const isOfRow = held.isConnected && held.dataset["index"] === undefined;
    if (!isOfRow) row.current?.focus({ preventScroll: true });
  });
  return {
    row,
    onFocus: ({ target }) => {
      holder.current = target;
    },
    // React does not call this if the element with the focus is removed.
    onBlur: () => {
      holder.current = undefined;
    },
  };
}
