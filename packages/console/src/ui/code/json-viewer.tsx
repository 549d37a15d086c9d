import { json } from "@codemirror/lang-json";
import { codeFolding, foldGutter, foldKeymap, syntaxHighlighting } from "@codemirror/language";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { useLayoutEffect, useRef } from "react";
import { jsonColours, jsonDeceiving, jsonLook } from "./json-colours.ts";

/**
 * Shows read-only JSON in `host`. It uses a shadow root, in which the editor adopts its style sheets: the pages' content security policy
 * refuses the style element that it would add to the document.
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

/** The viewer itself. Loaded as its own chunk when the first JSON is shown. */
export default function JsonViewer({ text, label }: { text: string; label: string }) {
  const host = useRef<HTMLDivElement>(null);
  // Runs before drawing: the placeholder goes in the same moment, and nothing below it moves.
  useLayoutEffect(() => {
    if (host.current === null) return undefined;
    const viewer = createJsonViewer(host.current, text, label);
    return () => viewer.destroy();
  }, [text, label]);
  return <div ref={host} />;
}
