import { json } from "@codemirror/lang-json";
import { codeFolding, foldGutter, foldKeymap, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--info)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--fg-2)" },
]);

const look = EditorView.theme({
  "&": { maxHeight: "480px", font: "var(--t-mono)", color: "var(--fg)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { font: "var(--t-mono)", overflow: "auto", padding: "4px 0" },
  ".cm-content": { paddingRight: "40px" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--fg-2)", border: "0" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--bg-2)", color: "var(--fg)", border: "0", padding: "0 6px" },
  ".cm-panels": { backgroundColor: "var(--bg-2)", color: "var(--fg)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { backgroundColor: "var(--accent-bg)" },
});

/**
 * Shows JSON that cannot be changed in `host`. In a shadow root, where the editor adopts its style sheets: the policy of the pages
 * refuses the style element that it would make in the document.
 */
export function createJsonViewer(host: HTMLElement, text: string, label: string): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  return new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        json(),
        codeFolding(),
        foldGutter(),
        search({ top: true }),
        keymap.of([...foldKeymap, ...searchKeymap]),
        syntaxHighlighting(colours),
        look,
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", "aria-readonly": "true" }),
      ],
    }),
  });
}
