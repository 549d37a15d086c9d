import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from "react";

/** What a list does about the focus: `row` is its active row, the others belong to the element around the list and its buttons. */
export type KeptFocus = {
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
