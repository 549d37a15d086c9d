import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from "react";

/** What a key does in a list that has the focus. */
type GridAct = { act: "move"; to: number } | { act: "open" } | { act: "panel" } | { act: "copy" } | { act: "close" };

/** Rows that Page Up and Page Down go. */
const pageRows = 10;

/**
 * What a key does where the row at `at` of `count` has the focus; undefined for none. Letters do something only where `letters` are
 * on: they can be turned off, since whoever speaks to the page types letters without meaning to.
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

/** What a list does about the focus: `row` is its active row, the others belong to the element around the list and its buttons. */
type KeptFocus = {
  row: RefObject<HTMLDivElement | null>;
  onFocus: (event: FocusEvent<HTMLElement>) => void;
  onBlur: () => void;
};

/**
 * Keeps the focus in a list whose rows come and go: while a row has it, the active row has it, and what is taken out of the document leaves it
 * to the active row. It is given up when it goes elsewhere: React tells nothing of what loses it because it is taken out.
 */
export function useKeptFocus(): KeptFocus {
  const row = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLElement>(undefined);
  // With every drawing, and before anything else is done: a key that comes between would go to the page.
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
