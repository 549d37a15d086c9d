import { HighlightStyle } from "@codemirror/language";
import { EditorView, highlightSpecialChars } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { characterName, deceiving } from "../../words/text.ts";

/** The colours in which JSON is shown, in viewers and editors. */
export const jsonColours: HighlightStyle = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--info)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--fg-2)" },
]);

/** The style of JSON in viewers and editors. */
export const jsonLook = EditorView.theme({
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
 * Extension of the JSON viewer and editor that shows an invisible character by its name, such as `⟨U+200B⟩`, so that it cannot deceive the
 * reader. Text that the user copies or sends still contains the character itself.
 */
export const jsonDeceiving = highlightSpecialChars({
  specialChars: deceiving,
  render: (code) => {
    const mark = document.createElement("span");
    mark.textContent = characterName(code);
    return mark;
  },
});
