import { useState } from "react";
import { setValue } from "../json/patch.ts";
import { type Json, readObject } from "../json/value.ts";

/** Number of changes that can be undone. */
const undoneMax = 200;

/**
 * A JSON document that a form and a text editor change. Its text is the only state: when the user changes a form field, only the characters
 * of this field's value are replaced.
 */
export type Document = {
  readonly text: string;
  /** The parsed text. Undefined while the text is not a JSON object, which only the text editor can cause. */
  readonly root: Json | undefined;
  /**
   * Changes the text. `of`: JSON Pointer of the changed value, or the name of an action such as `move`. Consecutive changes of one value,
   * such as the key presses in one field, are undone together. Each action is undone by itself.
   */
  readonly change: (of: string, patch: (text: string) => string) => void;
  /** Sets the value at a JSON Pointer. Undefined removes it. */
  readonly set: (pointer: string, value: unknown) => void;
  /** Undoes the last change. Undefined if there is none. */
  readonly undo: (() => void) | undefined;
};

type Past = { readonly of: string; readonly text: string };

/** Returns a document that starts with the text `initial`. Later values of `initial` have no effect. */
export function useDocument(initial: string): Document {
  const [{ text, past }, setState] = useState<{ text: string; past: readonly Past[] }>({ text: initial, past: [] });
  const change: Document["change"] = (of, patch) =>
    setState((old) => {
      const next = patch(old.text);
      if (next === old.text) return old;
      const isSame = of.startsWith("/") && old.past.at(-1)?.of === of;
      return { text: next, past: isSame ? old.past : [...old.past, { of, text: old.text }].slice(-undoneMax) };
    });
  return {
    ...{ text, root: readObject(text), change },
    set: (pointer, value) => change(pointer, (old) => setValue(old, pointer, value)),
    undo:
      past.length === 0
        ? undefined
        : () => setState((old) => ({ text: old.past.at(-1)?.text ?? old.text, past: old.past.slice(0, -1) })),
  };
}
