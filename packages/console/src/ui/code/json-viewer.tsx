import { json } from "@codemirror/lang-json";
import { codeFolding, foldGutter, foldKeymap, syntaxHighlighting } from "@codemirror/language";
import { search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { useLayoutEffect, useRef } from "react";
import { jsonColours, jsonDeceiving, jsonLook } from "./json-colours.ts";

/**
 * Creates a read-only viewer of JSON in `host`, and returns it. The viewer uses a shadow root and gives the root its style sheets. Without
 * a shadow root the editor would add a style element to the document, which the page's content security policy refuses.
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

/** The viewer of JSON. The browser loads its code when the first JSON is shown. */
export default function JsonViewer({ text, label }: { text: string; label: string }) {
  const host = useRef<HTMLDivElement>(null);
  // Runs before the browser draws, so that the viewer replaces the placeholder at once and nothing below it moves.
  useLayoutEffect(() => {
    if (host.current === null) return undefined;
    const viewer = createJsonViewer(host.current, text, label);
    return () => viewer.destroy();
  }, [text, label]);
  return <div ref={host} />;
}
