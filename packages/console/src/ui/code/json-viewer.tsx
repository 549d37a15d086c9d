import { json } from "@codemirror/lang-json";
import { codeFolding, foldGutter, foldKeymap, syntaxHighlighting } from "@codemirror/language";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { useLayoutEffect, useRef } from "react";
import { jsonColours, jsonDeceiving, jsonLook } from "./json-colours.ts";

/**
 * Shows JSON that cannot be changed in `host`. In a shadow root, where the editor adopts its style sheets: the policy of the pages
 * refuses the style element that it would make in the document.
 */
function createJsonViewer(host: HTMLElement, text: string, label: string): EditorView {
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
        syntaxHighlighting(jsonColours),
        jsonLook,
        jsonDeceiving,
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", "aria-readonly": "true" }),
      ],
    }),
  });
}

/** The viewer itself, a chunk of its own: it is loaded when the first JSON is shown. */
export default function JsonViewer({ text, label }: { text: string; label: string }) {
  const host = useRef<HTMLDivElement>(null);
  // Before it is drawn: what stood in its place goes in the same moment, and nothing below it jumps.
  useLayoutEffect(() => {
    if (host.current === null) return undefined;
    const viewer = createJsonViewer(host.current, text, label);
    return () => viewer.destroy();
  }, [text, label]);
  return <div ref={host} />;
}
