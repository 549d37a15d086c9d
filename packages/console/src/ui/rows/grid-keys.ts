import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from "react";

/** The effect of a key in a focused list. */
type GridAct = { act: "move"; to: number } | { act: "open" } | { act: "panel" } | { act: "copy" } | { act: "close" };

/** Number of rows that Page Up and Page Down move. */
const pageRows = 10;

/**
 * Returns the effect of a key if the row at `at` of `count` has the focus; undefined if it has none. Letters work only if `letters` is on:
 * users can turn them off, because people who dictate to the page type letters by accident.
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
    default:
      return undefined;
  }
}

/**
 * Properties that keep the focus in a list: `row` is for its active row, the others are for the element around the list and its buttons.
 */
type KeptFocus = {
  row: RefObject<HTMLDivElement | null>;
  onFocus: (event: FocusEvent<HTMLElement>) => void;
  onBlur: () => void;
};

/**
 * Keeps the focus in a list whose rows come and go. While a row has the focus, it is the active row; if it is removed from the document,
 * the new active row gets the focus. This ends when the focus moves elsewhere. React does not report the loss of focus by a removed
 * element.
 */
export function useKeptFocus(): KeptFocus {
  const row = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLElement>(undefined);
  // After every render, and before any other event: a key pressed in between would go to the page.
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
    onBlur: () => {
      holder.current = undefined;
    },
  };
}
