import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import { jsonColours, jsonDeceiving, jsonLook } from "./json-colours.ts";
import styles from "./json-write.module.css";

/** An error at a position of the JSON text. `from`, `to`: offsets in the text. `text`: the message to show there. */
type Mark = { from: number; to: number; text: string };

/** Functions of a running JSON editor. */
type JsonWriter = {
  /** Shows these errors in the editor's text, in place of the errors shown before. */
  mark: (marks: readonly Mark[]) => void;
  /** Moves the cursor to an offset of the text, scrolls to it, and focuses the editor. */
  goTo: (offset: number) => void;
  destroy: () => void;
};

const look = EditorView.theme({
  "&": { maxHeight: "70vh", minHeight: "320px" },
  ".cm-tooltip": { backgroundColor: "var(--bg-2)", color: "var(--fg)", border: "1px solid var(--line)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-lint-marker-error": {
    content: "none",
    width: "8px",
    height: "8px",
    margin: "6px 2px",
    borderRadius: "4px",
    backgroundColor: "var(--bad)",
  },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-cursor": { borderLeftColor: "var(--fg)" },
});

/**
 * Creates an editor of JSON in `host`, and returns it. The editor is in a shadow root, because the page's content security policy refuses
 * the style element that it would otherwise add. The Tab key leaves the editor, so that keyboard users can continue on the page.
 * `onChange`: receives the text after each change.
 */
function createJsonWriter(
  host: HTMLElement,
  text: string,
  label: string,
  onChange: (text: string) => void,
): JsonWriter {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        json(),
        lineNumbers(),
        codeFolding(),
        foldGutter(),
        lintGutter(),
        history(),
        bracketMatching(),
        indentOnInput(),
        search({ top: true }),
        keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...searchKeymap]),
        syntaxHighlighting(jsonColours),
        jsonLook,
        jsonDeceiving,
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.domEventHandlers({ beforeinput: replaceSelection }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    mark: (marks) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(marks, view.state.doc.length))),
    goTo: (offset) => {
      const anchor = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

/**
 * Replaces the selected text with the typed text. Returns true if the text was replaced here, and false if the browser must handle the
 * input. The browser would copy the style of the replaced text into a style attribute, which the page's content security policy refuses.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { inputType, data } = event;
  if (inputType !== "insertText" || data === null || view.composing || view.state.selection.main.empty) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}

/**
 * Converts error marks (a range of the text with a message) into the diagnostics of the editor. If the text has become shorter than a mark,
 * the mark ends at the end of the text.
 */
function diagnosticsOf(marks: readonly Mark[], length: number): Diagnostic[] {
  return marks
    .map(({ from, to, text }) => ({
      from: Math.min(from, length),
      to: Math.min(to, length),
      severity: "error" as const,
      message: text,
    }))
    .sort((a, b) => a.from - b.from);
}

/** The functions of the JSON editor that other components may call: `goTo` moves the cursor. */
export type JsonWriteHandle = Pick<JsonWriter, "goTo">;

/**
 * An editor of JSON. The browser loads its code when it is first shown. `initial`: the first text; the editor then keeps its text itself.
 * `marks`: errors shown at their positions.
 */
export default function JsonWrite({
  initial,
  label,
  marks,
  onChange,
  handle,
}: {
  initial: string;
  label: string;
  marks: readonly Mark[];
  onChange: (text: string) => void;
  handle: Ref<JsonWriteHandle>;
}) {
  const host = useRef<HTMLDivElement>(null);
  const writer = useRef<JsonWriter>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;
  useEffect(() => {
    if (host.current === null) return undefined;
    const made = createJsonWriter(host.current, initial, label, (text) => changed.current(text));
    writer.current = made;
    return () => made.destroy();
  }, [initial, label]);
  useEffect(() => writer.current?.mark(marks), [marks]);
  useImperativeHandle(handle, () => ({ goTo: (offset) => writer.current?.goTo(offset) }), []);
  return <div ref={host} className={styles["host"]} />;
}
